"""YAML text in, plain values and the line of each out. Knows nothing of policies.

Safer and stricter than a safe load: bounded in size, depth and nodes (aliases included), duplicate keys refused, and
scalars read as YAML 1.2 does: `no`, `on` and `12:30` are texts here, not booleans and base-60 numbers.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import yaml

from guards.errors import PolicyError

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]
Path = tuple[str | int, ...]

MAX_BYTES: Final = 256 * 1024  # 100 times the longest example of the contract
MAX_NODES: Final = 20_000  # counted after aliases are followed, so that a few lines cannot stand for millions
MAX_DEPTH: Final = 24
_INT: Final = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_CONSTANTS: Final[Mapping[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


@dataclass(frozen=True, slots=True)
class Document:
    """The values of a file; `lines` has the first line, from 1, of every key (of a mapping) and item (of a list)."""

    file: str
    value: Plain
    lines: Mapping[Path, int]

    def line(self, path: Path) -> int:
        """Of the longest part of the path that is in the file."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines[path]


def parse(text: str, file: str) -> Document:
    """One document. Raises PolicyError with the line of the first fault."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise PolicyError(file, 1, f"larger than {MAX_BYTES} bytes")
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise PolicyError(file, mark.line + 1 if mark else 1, f"not YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise PolicyError(file, 1, f"not YAML: {error}") from error
    except RecursionError as error:
        raise PolicyError(file, 1, f"nested deeper than {MAX_DEPTH}") from error
    if node is None:
        raise PolicyError(file, 1, "the file is empty")
    walk = _Walk(file)
    return Document(file, walk.value(node, ()), walk.lines)


class _Walk:
    """Turns nodes into values, counting them and noting lines."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._nodes = 0
        self.lines: dict[Path, int] = {}

    def value(self, node: yaml.Node, path: Path) -> Plain:
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise PolicyError(self._file, line, f"more than {MAX_NODES} values, aliases followed")
        if len(path) > MAX_DEPTH:
            raise PolicyError(self._file, line, f"nested deeper than {MAX_DEPTH}")
        match node:
            case yaml.ScalarNode():
                return self._scalar(node, line)
            case yaml.SequenceNode(tag="tag:yaml.org,2002:seq"):
                return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
            case yaml.MappingNode(tag="tag:yaml.org,2002:map"):
                return self._mapping(node, path)
            case _:
                raise PolicyError(self._file, line, f"the tag {node.tag!r} is not supported")

    def _mapping(self, node: yaml.MappingNode, path: Path) -> Plain:
        mapping: dict[str, Plain] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise PolicyError(self._file, line, "a key must be a text")
            key = key_node.value
            if key == "<<" and key_node.style is None:
                raise PolicyError(self._file, line, "merge keys (<<) are not supported")
            if key in mapping:
                raise PolicyError(self._file, line, f"the key {key!r} is there twice")
            self.lines.setdefault((*path, key), line)
            mapping[key] = self.value(value_node, (*path, key))
        return mapping

    def _scalar(self, node: yaml.ScalarNode, line: int) -> Plain:
        text = node.value
        if node.style is not None:  # quoted or block: a text, whatever it looks like
            return text
        known = ("str", "int", "float", "bool", "null", "timestamp", "value", "merge")
        if node.tag not in {f"tag:yaml.org,2002:{name}" for name in known}:
            raise PolicyError(self._file, line, f"the tag {node.tag!r} is not supported")
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if _INT.fullmatch(text):
            return int(text) if len(text) < 20 else float(text)  # noqa: PLR2004 (19 digits hold any sane limit)
        if _FLOAT.fullmatch(text):
            return float(text)
        return text
