"""A rule check over the texts of a stage: as they are, as they look, and joined where a reader sees them joined."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from guards.checks import RegexCheck, RuleCheck, SecretsCheck
from guards.rules.normal import normalise
from guards.rules.regex_rule import Pattern, compile_pattern, matches
from guards.rules.secrets_rule import SecretScanner
from guards.rules.span import Span
from guards.transcript import Segment


class RuleScanner:
    """Compiles each pattern once; patterns come from loaded policies alone, so there are few."""

    def __init__(self, secrets: SecretScanner | None = None) -> None:
        self._secrets = secrets or SecretScanner()
        self._patterns: dict[str, Pattern] = {}

    def scan(self, check: RuleCheck, segments: Sequence[Segment]) -> tuple[Span, ...]:
        """Every place the rule finds, in the original's characters."""
        return tuple(sorted({span for where, text in _texts(segments) for span in self._spans(check, where, text)}))

    def _spans(self, check: RuleCheck, where: str, text: str) -> Iterator[Span]:
        for kind, start, end in self._find(check, text):
            yield Span(where, start, end, kind)
        normal = normalise(text)
        if normal is not None:
            for kind, start, end in self._find(check, normal.text):
                yield Span(where, *normal.span(start, end), kind)

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


def _texts(segments: Sequence[Segment]) -> Iterator[tuple[str, str]]:
    """Each text; and the parts of one message together, since a model reads them as one."""
    for (turn, role), group in groupby(segments, key=lambda segment: (segment.turn, segment.role)):
        parts = list(group)
        for part in parts:
            yield part.where, part.text
        if len(parts) > 1:
            yield f"{role} of message {turn}, joined", "".join(part.text for part in parts)
