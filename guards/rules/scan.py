"""A rule check over the texts of a stage: as they are, as they look, escapes read, and joined where they are seen so.

Spans always lead back to the text as it is.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby

from guards.checks import RegexCheck, RuleCheck, SecretsCheck
from guards.rules.copy import Copy
from guards.rules.escapes import unescaped
from guards.rules.normal import erase, normalise
from guards.rules.regex_rule import Pattern, compile_pattern, matches
from guards.rules.secrets_rule import SecretScanner
from guards.rules.span import Span
from guards.transcript import Detail, Segment


class RuleScanner:
    """Compiles each pattern once; patterns come from loaded policies alone, so there are few."""

    def __init__(self, secrets: SecretScanner | None = None) -> None:
        self._secrets = secrets or SecretScanner()
        self._patterns: dict[str, Pattern] = {}

    def scan(self, check: RuleCheck, segments: Sequence[Segment], details: Sequence[Detail] = ()) -> tuple[Span, ...]:
        """Every place the rule finds, in the original's characters."""
        texts = list(_texts(segments))
        spans = {span for where, text in texts for span in self._spans(check, where, text)}
        known = {text for _, text in texts}
        spans.update(self._in_details(check, [detail for detail in details if detail.text not in known]))
        return tuple(sorted(spans))

    def _in_details(self, check: RuleCheck, details: Sequence[Detail]) -> Iterator[Span]:
        """As lines of one text: a hostile body may hold a million of them, and each pattern has its fixed cost."""
        starts = list(accumulate((len(detail.text) + 1 for detail in details), initial=0))
        for span in self._spans(check, "", "\n".join(detail.text for detail in details)):
            index = bisect_right(starts, span.start) - 1
            detail, start = details[index], starts[index]
            yield Span(detail.where, span.start - start, min(span.end - start, len(detail.text)), span.kind)

    def _spans(self, check: RuleCheck, where: str, text: str) -> Iterator[Span]:
        for read, copies in _readings(text):
            for kind, start, end in self._find(check, read):
                for copy in reversed(copies):
                    start, end = copy.span(start, end)  # noqa: PLW2901 (one step back to the original)
                yield Span(where, start, end, kind)

    def _find(self, check: RuleCheck, text: str) -> Iterator[tuple[str, int, int]]:
        match check:
            case SecretsCheck():
                yield from self._secrets.find(text)
            case RegexCheck():
                pattern = self._patterns.get(check.pattern)
                if pattern is None:
                    pattern = self._patterns[check.pattern] = compile_pattern(check.pattern)
                for match in matches(pattern, text):
                    yield (check.id, *match.span())


def _readings(text: str) -> Iterator[tuple[str, tuple[Copy, ...]]]:
    """The text and each other way to read it, with the copies that lead to that from the original."""
    yield from _looks(text, ())
    copies: tuple[Copy, ...] = ()
    for copy in unescaped(text):
        copies = (*copies, copy)
        yield from _looks(copy.text, copies)


def _looks(text: str, copies: tuple[Copy, ...]) -> Iterator[tuple[str, tuple[Copy, ...]]]:
    yield text, copies
    visible = normalise(text)
    if visible is not None:
        yield visible.text, (*copies, visible)
    erased = erase(text)
    if erased is not None:
        yield erased.text, (*copies, erased)


def _texts(segments: Sequence[Segment]) -> Iterator[tuple[str, str]]:
    """Each text; and the parts of one message together, since a model reads them as one."""
    for (turn, role), group in groupby(segments, key=lambda segment: (segment.turn, segment.role)):
        parts = list(group)
        for part in parts:
            yield part.where, part.text
        if len(parts) > 1:
            yield f"{role} of message {turn}, joined", "".join(part.text for part in parts)
