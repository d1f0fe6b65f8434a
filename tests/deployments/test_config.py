"""A config file's faults are found with their line, at every level, before anything starts."""

import warnings
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from deployments.config import ConfigError, load_config
from deployments.serve_keys import FREE, SERVE, Keys
from deployments.serve_values import LISTS, OPTIONAL, VALUES


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
    ("applications:", "applications: 5\nother:", "applications needs a list"),
    ("http_options: {host: 127.0.0.1, port: 8000}", "http_options: [{port: 1}]", "http_options needs a mapping"),
    ("http_options: {host: 127.0.0.1, port: 8000}", "http_options:", "http_options needs a mapping"),
    ("host: 127.0.0.1", "host: ~", "http_options.host needs a text, got None"),
    ("host: 127.0.0.1", "host: 5", "http_options.host needs a text, got 5"),
    ("port: 8000", "port: true", "http_options.port needs a port number, got True"),
    ("HeadOnly", "HeadOnyl", "proxy_location needs one of Disabled, HeadOnly, EveryNode, got 'HeadOnyl'"),
    ("log_level: WARNING", "log_level: WARN ING", "logging_config.log_level needs one of"),
    ("route_prefix: /", "route_prefix: x", "route_prefix needs a path that begins with /"),
    ("num_replicas: 1", "num_replicas: many", "num_replicas needs a whole number of at least 1, or auto, got 'many'"),
    ("num_replicas: 1", "num_replicas: 0", "num_replicas needs a whole number of at least 1, or auto, got 0"),
    ("num_replicas: 1", "num_replicas: -1", "num_replicas needs a whole number"),
    ("num_cpus: 0", "num_cpus: x", "num_cpus needs a number of at least 0, or null, got 'x'"),
    ("num_cpus: 0", "num_cpus: -1", "num_cpus needs a number of at least 0, or null, got -1"),
    ("loop_s: 0.1", "loop_s: x", "graceful_shutdown_wait_loop_s needs a number of at least 0, got 'x'"),
    ("name: Engine", "name: Front", "the deployment 'Front' is there twice"),
    ("    deployments:", "    deployments: {name: Front}\n    other:", "deployments needs a list"),
    ("    args:", "    args: [{engine: {kind: embedded}}]\n    other:", "unknown key 'other'"),
    ("{litellm: openai/demo, mock", "{upstream: 'http://x', mock", "mock_response is litellm's"),
    ("{litellm: openai/demo,", "{litellm: openai/demo, upstream_model: x,", "upstream_model is an upstream's"),
    ("cache: {", "limits: {depth: 100000}\n      cache: {", "limits.depth: Input should be less than or equal to 200"),
    ("cache: {", "read: {draws: 8, max_draws: 2}\n      cache: {", "draws: 8 is above max_draws: 2"),
    ("cache: {", "audit: {stdout: true, file: a}\n      cache: {", "one of stdout and file, not both"),
    (
        "cache: {",
        "keys: {a: {key: {env: K}}, b: {key: {env: K}}}\n      cache: {",
        "keys 'a' and 'b' are the same secret",
    ),
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


@pytest.mark.parametrize("args", ["x", "[1]", "[{engine: {kind: embedded}}]", "~"])
def test_args_that_are_no_mapping_are_named_with_their_line(args: str, tmp_path: Path) -> None:
    path = tmp_path / "serve.yaml"
    path.write_text(f"applications:\n  - import_path: deployments.app:build\n    args: {args}\n")
    with pytest.raises(ConfigError, match=":3: args needs a mapping"):
        load_config(path)


URLS = [
    ("http://[::1/v1", "is no address"),
    ("http://", "names no host"),
    ("http://x:99999/v1", "port 99999 is not 1 to 65535"),
    ("x:80", "needs http:// or https://"),
    ("http://user:pw@x/v1", "holds a user or a password"),
    ("http://x/v1?a=b", "takes no ?"),
]


@pytest.mark.parametrize(("url", "reason"), URLS)
def test_an_upstream_that_is_no_address_is_named_with_its_line(url: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "serve.yaml"
    path.write_text(LAPTOP.replace("models:", f"models:\n        gpt: {{upstream: '{url}'}}"))
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert reason in caught.value.reason
    assert url in path.read_text().splitlines()[caught.value.line - 1]


def test_every_value_that_is_judged_belongs_to_a_key_of_serve() -> None:
    def names(keys: Keys) -> set[str]:
        below = [name for section in keys.values() if section is not FREE for name in names(section)]
        return {*keys, *below}

    assert set(VALUES) <= names(SERVE)
    assert names(SERVE) >= LISTS | OPTIONAL


@given(
    st.sampled_from(sorted(VALUES)),
    st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists),
)
def test_any_value_is_judged_without_a_fault_of_ours(key: str, value: object) -> None:
    assert VALUES[key].fits(value) in {True, False}


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
