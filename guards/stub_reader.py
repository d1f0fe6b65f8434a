"""A reader that answers with what a test case says, and looks at nothing."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from canvas import Answer, Choice, Decision, Distribution, Predicate, Question, ReadOptions, Score, State, Usage
from guards.case_file import Case
from guards.policy import Policy
from guards.reader import ReadFailed

DEFAULT_PROBABILITY: Final = 0.0  # of what a check looks for, where a case says nothing of it


class StubReader:
    """Answers with a case's probabilities."""

    def __init__(self, policy: Policy, case: Case) -> None:
        self._policy = policy
        self._case = case

    async def read(
        self,
        state: State,  # noqa: ARG002 (the protocol's signature; a stub does not look)
        questions: Sequence[Question],
        options: ReadOptions,  # noqa: ARG002
        *,
        tenant: str = "",  # noqa: ARG002
        use_cache: bool = True,  # noqa: ARG002
        calibration: str = "",  # noqa: ARG002
    ) -> Decision:
        """As the case says. Raises ReadFailed when it says `unread`."""
        stubbed = self._case.probabilities
        if stubbed == "unread":
            raise ReadFailed("the case says that nothing could be read")
        given: Mapping[str, float | dict[str, float] | list[float]] = stubbed or {}
        answers = tuple(
            Answer(q, Distribution(_stub(self._policy, q, given.get(q.id)), label_mass=1.0)) for q in questions
        )
        return Decision(answers, Usage(0, 0), (len(answers),), "stub")


def _stub(
    policy: Policy, question: Question, given: float | dict[str, float] | list[float] | None
) -> tuple[float, ...]:
    """A distribution; where nothing is given, the one that is the furthest from acting."""
    match question:
        case Predicate():
            check = next(check for check in policy.checks if check.id == question.id)
            inverted = getattr(check, "invert", False)
            yes = cast("float", given) if given is not None else (1.0 if inverted else DEFAULT_PROBABILITY)
            return (yes, 1 - yes)
        case Choice(options=options):
            allowed = next(
                cast("tuple[str, ...]", getattr(c, "allow", ())) for c in policy.checks if c.id == question.id
            )
            by_name = cast("dict[str, float]", given) if given is not None else {allowed[0]: 1.0}
            return tuple(by_name.get(option.name, 0.0) for option in options)
        case Score(levels=levels):
            return tuple(cast("list[float]", given)) if given is not None else (1.0, *[0.0] * (len(levels) - 1))
