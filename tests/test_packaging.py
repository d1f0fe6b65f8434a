"""The import names are plain words (docs/adr/0001): nobody else's code may own them, and the wheel holds only them."""

import tomllib
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ["canvas", "guards", "deployments"]


@pytest.mark.parametrize("name", PACKAGES)
def test_the_import_name_is_ours(name: str) -> None:
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin == str(ROOT / name / "__init__.py")
    assert set(packages_distributions().get(name, ["readgate"])) == {"readgate"}


def test_the_wheel_holds_the_three_packages_and_is_kept_off_indexes() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert config["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == PACKAGES
    assert "Private :: Do Not Upload" in config["project"]["classifiers"]


@pytest.mark.parametrize("lock", ["serve.txt", "dev.txt"])
def test_every_locked_package_has_a_hash_and_no_lock_names_an_index(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    pins = [line for line in lines if "==" in line and not line.startswith(" ")]
    hashes = [line for line in lines if "--hash=sha256:" in line]
    assert pins
    assert len(hashes) >= len(pins)
    assert all(line.rstrip().endswith("\\") for line in pins)
    assert "://" not in text
    assert "--index" not in text
