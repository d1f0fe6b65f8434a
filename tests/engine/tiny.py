"""The tiny checkpoint that `make engine` writes, and how this suite serves it. Imports no vLLM."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from deployments.config import load_config
from deployments.engines.vllm_settings import VllmSettings
from deployments.settings import Settings, VllmEngineSettings

TINY: Final = Path(__file__).parents[2] / ".engine" / "tiny"
CONFIG: Final = Path(__file__).with_name("serve.yaml")


def _vllm_settings(settings: Settings) -> VllmSettings:
    assert isinstance(settings.engine, VllmEngineSettings)
    return settings.engine.built()


TINY_CONFIG: Final = load_config(CONFIG).settings
TINY_SETTINGS: Final = replace(_vllm_settings(TINY_CONFIG), checkpoint=TINY)
SINGLE_SETTINGS: Final = replace(TINY_SETTINGS, max_num_seqs=1)
