r"""A policy author's pattern over texts. Knows nothing of policies.

RE2, because its time is linear in the text: a backtracking engine can be driven by the very text under judgement into
a timeout, which fails closed at best. The price: no look-around and no back-references (said at load), and \d \w \b
are ASCII, which the normalised copy makes up for.
"""

from collections.abc import Iterator
from typing import Final, Protocol, cast

import re2  # pyright: ignore[reportMissingTypeStubs] (a binary module without types; _Module says what is used)

MAX_MEMORY_BYTES: Final = 8 << 20  # RE2's own default for a compiled pattern
_SURROGATES: Final = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")  # JSON may hold halves of a pair; UTF-8 may not


class Match(Protocol):
    """The part of a match object that rules use."""

    def span(self, group: int = 0) -> tuple[int, int]: ...
    def group(self, group: int = 0) -> str: ...


class Pattern(Protocol):
    """The part of a compiled pattern that rules use."""

    def finditer(self, text: str) -> Iterator[Match]: ...


class _Options(Protocol):
    log_errors: bool
    max_mem: int


class _Module(Protocol):
    """RE2's Python module, as far as it is used here."""

    error: type[Exception]

    def Options(self) -> _Options: ...  # noqa: N802 (its name there)
    def compile(self, pattern: str, options: _Options) -> Pattern: ...


def compile_pattern(pattern: str) -> Pattern:
    """A pattern ready to run. Raises ValueError with RE2's reason, also when it would match the empty text."""
    module = cast("_Module", re2)
    options = module.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY_BYTES
    try:
        compiled = module.compile(pattern, options)
    except module.error as error:
        reason: object = error.args[0]
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(f"not a pattern of RE2: {text}") from error
    if any(True for _ in compiled.finditer("")):
        raise ValueError("matches the empty text, so it would act on every text")
    return compiled


def matches(pattern: Pattern, text: str) -> Iterator[Match]:
    """Every non-overlapping match that is not empty."""
    for match in pattern.finditer(text if text.isascii() else text.translate(_SURROGATES)):
        start, end = match.span()
        if end > start:
            yield match
