"""Policy files in, policies out, every fault at its file and line. Knows nothing of reads."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from pydantic import BaseModel, ValidationError

from canvas import InvalidQuestion
from guards import policy as language
from guards.checks import KINDS, Block, Flag, RegexCheck, RuleCheck, kind_of
from guards.errors import PolicyError, nearest
from guards.policy import UNSUPPORTED, Policy
from guards.rules.regex_rule import compile_pattern
from guards.strict_yaml import Document, Plain, parse

SUFFIXES: Final = frozenset({".yaml", ".yml"})
TEST_ENDING: Final = "_test"
_SECTIONS: Final[Mapping[str, type[BaseModel]]] = {
    "read": language.ReadSection,
    "context": language.Context,
    "stream": language.Stream,
    "blocked": language.Blocked,
}
_ACTIONS: Final[Mapping[str, type[BaseModel]]] = {"block": Block, "flag": Flag}


def load_policy(path: Path) -> Policy:
    """The policy of one file. Raises PolicyError."""
    return parse_policy(read_text(path), str(path))


def load_directory(directory: Path) -> Mapping[str, Policy]:
    """Every policy of a directory by name; `*_test.yaml` are tests. One broken file fails the whole."""
    if not directory.is_dir():
        raise PolicyError(str(directory), 1, "is not a directory")
    policies: dict[str, Policy] = {}
    origin: dict[str, Path] = {}
    for path in policy_files(directory):
        policy = load_policy(path)
        if policy.name in policies:
            raise PolicyError(str(path), 1, f"the name {policy.name!r} is also in {origin[policy.name].name}")
        policies[policy.name] = policy
        origin[policy.name] = path
    if not policies:
        raise PolicyError(str(directory), 1, "holds no policy (*.yaml)")
    return policies


def policy_files(directory: Path) -> Sequence[Path]:
    """Its policy files by name, tests left out."""
    return [
        path
        for path in sorted(directory.iterdir())
        if path.suffix in SUFFIXES and not path.stem.endswith(TEST_ENDING) and path.is_file()
    ]


def read_text(path: Path) -> str:
    """A file's text. Raises PolicyError when it is missing or is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise PolicyError(str(path), 1, f"not UTF-8: {error.reason} at byte {error.start}") from error
    except OSError as error:
        raise PolicyError(str(path), 1, f"cannot be read: {error.strerror}") from error


def parse_policy(text: str, file: str) -> Policy:
    """The policy of a text. Raises PolicyError with the line of the first fault."""
    document = parse(text, file)
    _known_keys(document)
    try:
        policy = Policy.model_validate(document.value)
    except ValidationError as error:
        raise validation_error(document, error) from error
    _checks_can_run(document, policy)
    return policy


def validation_error(document: Document, error: ValidationError) -> PolicyError:
    """The first fault pydantic found, at its line, in our words. Also for the policy tests' files."""
    first = error.errors(include_url=False, include_context=False)[0]
    place = tuple(part for part in first["loc"] if part not in KINDS)
    if first["type"] != "missing":  # pydantic also names the branch of a union, which is no place in the file
        while place and place not in document.lines:
            place = place[:-1]
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
    reason = first["msg"].removeprefix("Value error, ")
    if first["type"] == "literal_error" and isinstance(first["input"], str):
        reason = f"{first['input']!r} is not known; {reason[0].lower()}{reason[1:]}"
    return PolicyError(document.file, document.line(place), f"{path}: {reason}" if path else reason)


def known_keys(document: Document, value: Plain, path: tuple[str | int, ...], known: Sequence[str]) -> None:
    """Raises PolicyError for the first key of a mapping that is not known, with the nearest that is."""
    if not isinstance(value, dict):
        return  # pydantic says what it should have been
    where = f" in {path[-1]}" if path and isinstance(path[-1], str) else ""
    for key in value:
        if key in known:
            continue
        line = document.line((*path, key))
        if key in UNSUPPORTED:
            raise PolicyError(document.file, line, f"{key!r} is not supported in this version")
        raise PolicyError(document.file, line, f"unknown key {key!r}{where}; {nearest(key, known)}")


def _keys(model: type[BaseModel]) -> Sequence[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _known_keys(document: Document) -> None:
    value = document.value
    if not isinstance(value, dict):
        raise PolicyError(document.file, 1, "a policy is a mapping: version, name, checks")
    known_keys(document, value, (), _keys(Policy))
    for name, model in _SECTIONS.items():
        known_keys(document, value.get(name), (name,), _keys(model))
    stream = value.get("stream")
    if isinstance(stream, dict) and stream.get("release") == "window":
        raise PolicyError(
            document.file,
            document.line(("stream", "release")),
            "release: window is not supported in this version; use hold",
        )
    checks = value.get("checks")
    ids: dict[str, int] = {}
    for index, check in enumerate(checks if isinstance(checks, list) else ()):
        _check_keys(document, index, check)
        if isinstance(check, dict) and isinstance(identity := check.get("id"), str):
            line = document.line(("checks", index, "id"))
            if identity in ids:
                raise PolicyError(document.file, line, f"the id {identity!r} is also on line {ids[identity]}")
            ids[identity] = line


def _check_keys(document: Document, index: int, check: Plain) -> None:
    line = document.line(("checks", index))
    if not isinstance(check, dict):
        raise PolicyError(document.file, line, "a check is a mapping: id, stage, a question or a rule, an action")
    rules = sorted(kind.removeprefix("rule: ") for kind in KINDS if kind.startswith("rule: "))
    rule = check.get("rule")
    if "rule" in check and rule not in rules:
        line = document.line(("checks", index, "rule"))
        if rule in UNSUPPORTED:
            raise PolicyError(document.file, line, f"rule: {rule} is not supported in this version")
        raise PolicyError(document.file, line, f"unknown rule {rule!r}; {nearest(str(rule), rules)}")
    kind = kind_of(check)
    if kind is None:
        every = sorted({key for model in KINDS.values() for key in _keys(model)})
        known_keys(document, check, ("checks", index), every)
        raise PolicyError(document.file, line, "needs exactly one of predicate, choice, score, rule")
    known_keys(document, check, ("checks", index), _keys(KINDS[kind]))
    for name, model in _ACTIONS.items():
        known_keys(document, check.get(name), ("checks", index, name), _keys(model))
    _names(document, index, check)


def _names(document: Document, index: int, check: Mapping[str, Plain]) -> None:
    """Stages and allowed options must exist; the nearest that does is named."""
    stages = check.get("stage")
    for place, stage in enumerate(stages if isinstance(stages, list) else ()):
        if stage not in set(language.Stage):
            known = nearest(str(stage), language.Stage)
            line = document.line(("checks", index, "stage", place))
            raise PolicyError(document.file, line, f"unknown stage {stage!r}; {known}")
    options, allow = check.get("options"), check.get("allow")
    names = [str(option) for option in cast("Any", options)] if isinstance(options, (dict, list)) else []
    for place, allowed in enumerate(allow if isinstance(allow, list) else ()):
        if allowed not in names:
            line = document.line(("checks", index, "allow", place))
            raise PolicyError(document.file, line, f"unknown option {allowed!r}; {nearest(str(allowed), names)}")


def _checks_can_run(document: Document, policy: Policy) -> None:
    for index, check in enumerate(policy.checks):
        try:
            if isinstance(check, RegexCheck):
                compile_pattern(check.pattern)
            elif not isinstance(check, RuleCheck):
                _ = check.question
        except InvalidQuestion as error:
            raise PolicyError(document.file, document.line(("checks", index)), str(error)) from error
        except ValueError as error:
            raise PolicyError(document.file, document.line(("checks", index, "pattern")), str(error)) from error


def policies_at(path: Path) -> Sequence[Path]:
    """The policy files that a path names, itself or as a directory. Raises PolicyError when there are none."""
    if path.is_dir():
        files = policy_files(path)
        if not files:
            raise PolicyError(str(path), 1, "holds no policy (*.yaml)")
        return files
    if path.stem.endswith(TEST_ENDING):
        raise PolicyError(str(path), 1, "is a test file; name the policy beside it")
    return [path]
