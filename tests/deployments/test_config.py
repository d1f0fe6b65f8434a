"""A config file's faults are found with their line, at every level, before anything starts."""

import warnings
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from deployments.config import ConfigError, load_config
from deployments.serve_keys import FREE, SERVE, Keys


@pytest.fixture(scope="module")
def serve_schema() -> type[BaseModel]:
    """Ray Serve's own model of the file; importing it warns of pydantic's past."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ray.serve.schema import ServeDeploySchema  # noqa: PLC0415 - inside the filter
    return ServeDeploySchema


CONFIGS = Path(__file__).parents[2] / "configs"
LAPTOP = (CONFIGS / "serve.dev.yaml").read_text()


@pytest.mark.parametrize("name", ["serve.dev.yaml", "serve.yaml"])
def test_a_shipped_config_is_right_and_serve_takes_it(name: str, serve_schema: type[BaseModel]) -> None:
    config = load_config(CONFIGS / name)
    assert serve_schema.model_validate(config.serve).model_fields_set == set(config.serve)


FAULTS = [
    ("memory_mib", "memory_mb", "unknown key 'memory_mb' in applications.0.args.cache; did you mean 'memory_mib'?"),
    ("{num_cpus: 0}", "{num_cpu: 0}", "did you mean 'num_cpus'?"),
    ("proxy_location", "proxy_locaton", "did you mean 'proxy_location'?"),
    ("{kind: memory", "{kind: redis", "kind redis is not built in this version"),
    ("name: Front", "name: Frnt", "there is no deployment 'Frnt'; did you mean 'Front'?"),
    ("127.0.0.1", "0.0.0.0", "no keys are set"),  # noqa: S104 - what is refused
    ("port: 8000", "port: 0", "needs a port number, got 0"),
    ("deployments.app:build", "my.app:build", "needs deployments.app:build"),
    ("running: 4", "running: many", "admission.running: Input should be a valid integer"),
    ("{kind: embedded}", "{kind: vllm, checkpoint: x, max_num_batched_tokens: 64}", "vLLM cuts canvases"),
    ("{kind: embedded}", "{kind: vllm, checkpoint: x, max_num_seqs: 128}", "max_num_seqs"),
    ("{kind: embedded}", "{kind: vlm}", "does not match any of the expected tags"),
    ("default: default}", "fallback: default}", "unknown key 'fallback'"),
    ("      policies: {directory: policies, default: default}\n", "", "policies is missing"),
    ("{litellm: openai/demo,", "{litellm: openai/demo, upstream: 'http://x',", "exactly one of upstream and litellm"),
    ("cache: {kind: memory, memory_mib: 64}", "keys: {acme: {key: {value: sk-1}}}", "unknown key 'value'"),
    ("cache: {kind: memory, memory_mib: 64}", "keys: {acme: {key: {env: A, file: b}}}", "exactly one of env and file"),
    ("applications:", "applications: 5\nother:", "needs a mapping"),
    ("engine: {kind: embedded}", "engine: embedded", "needs a mapping"),
]


@pytest.mark.parametrize(("right", "wrong", "reason"), FAULTS, ids=[wrong[:40] for _, wrong, _ in FAULTS])
def test_a_fault_is_named_with_its_line(right: str, wrong: str, reason: str, tmp_path: Path) -> None:
    assert right in LAPTOP
    path = tmp_path / "serve.yaml"
    path.write_text(LAPTOP.replace(right, wrong, 1))
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert reason in str(caught.value)
    assert str(caught.value).startswith(f"{path}:{caught.value.line}: ")
    assert caught.value.line >= 1


def test_a_misspelt_key_is_reported_at_its_own_line(tmp_path: Path) -> None:
    path = tmp_path / "serve.yaml"
    path.write_text(LAPTOP.replace("memory_mib", "memory_mb"))
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert "memory_mb" in path.read_text().splitlines()[caught.value.line - 1]


def test_relative_paths_are_the_files_own() -> None:
    policies = load_config(CONFIGS / "serve.dev.yaml").settings.policies
    assert policies is not None
    assert Path(policies.directory) == CONFIGS / "policies"


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "none.yaml")


def keys_of(model: type[BaseModel]) -> dict[str, Any]:
    """Ray's own table, from its models."""
    return {name: keys_below(field.annotation) for name, field in model.model_fields.items()}


def keys_below(annotation: Any) -> dict[str, Any]:  # noqa: ANN401 - a type expression
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return keys_of(annotation)
    for argument in get_args(annotation):
        if below := keys_below(argument):
            return below
    return {}


def plain(keys: Keys) -> dict[str, Any]:
    return {key: {} if below is FREE else plain(below) for key, below in keys.items()}


def test_the_table_of_keys_is_that_of_the_installed_ray_serve(serve_schema: type[BaseModel]) -> None:
    assert plain(SERVE) == keys_of(serve_schema)
