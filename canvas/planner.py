"""Questions about a state to canvases, and reads of them to answers. Holds the memo of question sets; never waits."""

from collections.abc import Sequence

from canvas.answers import Answer, Decision, Usage
from canvas.calibration import NO_CALIBRATION, Calibration, calibrate
from canvas.card import ModelCard
from canvas.draft import judge
from canvas.errors import InvalidQuestion
from canvas.fingerprint import fingerprint
from canvas.memo import DraftMemo
from canvas.options import ReadOptions
from canvas.press import Press
from canvas.questions import Question
from canvas.rounds import Rounds
from canvas.sitting import Sitting
from canvas.state import State
from canvas.tokens import Tokenizer


class Planner:
    """Plans reads for one tokenizer and one model. Not for threads: its memo has no lock."""

    def __init__(self, tokenizer: Tokenizer, card: ModelCard, *, memo_entries: int = 256) -> None:
        self._tokenizer = tokenizer
        self._card = card
        self._press = Press.of(tokenizer, card)
        self._memo = DraftMemo(self._press, memo_entries)

    def read(
        self,
        state: State,
        questions: Sequence[Question],
        options: ReadOptions,
        calibration: Calibration = NO_CALIBRATION,
    ) -> Rounds[Decision]:
        """Yields batches of plans, is sent their reads in order, returns the decision; `next` first, then `send`.

        Raises InvalidQuestion (CanvasOverflow), InvalidState (StateTooLong) for what cannot be read, mostly before
        the first batch; InvalidRead for a read that does not fit its plan; InvalidCalibration for a misplaced map.
        """
        if not questions:
            raise InvalidQuestion("", "a read needs at least one question")
        judged = judge(state, self._tokenizer, self._card)
        sitting = Sitting(self._press, self._memo, judged, tuple(questions), options)
        distributions = yield from sitting.read()
        answers: list[Answer] = []
        for question, distribution in zip(questions, distributions, strict=True):
            mapped, version = calibrate(question, distribution, calibration)
            answers.append(Answer(question, mapped, self._press.needs_brackets(question), version))
        return Decision(
            answers=tuple(answers),
            usage=Usage(sitting.input_tokens, sitting.output_tokens, canvases=sitting.canvases),
            questions_per_canvas=sitting.questions_per_canvas,
            fingerprint=self.fingerprint(calibration),
        )

    def fingerprint(self, calibration: Calibration = NO_CALIBRATION) -> str:
        """What every decision of this planner carries: it changes with whatever moves probabilities (law 8)."""
        return fingerprint(self._card, self._tokenizer.digest, calibration_version=calibration.version)

    def capacity(self, question: Question) -> int:
        """How many questions like this one, with the same options, one canvas of this model holds when packed."""
        return self._press.fill((question,) * self._card.canvas_tokens)
