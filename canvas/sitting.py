"""One read in progress: which canvases each round needs, and one distribution a question. Never waits."""

from collections.abc import Sequence
from dataclasses import dataclass

from canvas.brackets import brackets, combine, final
from canvas.decode import Distribution, average, decode
from canvas.draft import Draft, Judged, finish
from canvas.draws import is_settled, is_uncertain
from canvas.memo import DraftMemo
from canvas.options import ReadOptions
from canvas.press import Press
from canvas.questions import Choice, Question
from canvas.rounds import Rounds, gather

_ByIndex = dict[int, Distribution]


@dataclass(slots=True)
class Sitting:
    """The questions of one read about one encoded state; counts what it has asked of the engine."""

    press: Press
    memo: DraftMemo
    judged: Judged
    questions: tuple[Question, ...]
    options: ReadOptions
    questions_per_canvas: tuple[int, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    canvases: int = 0

    def read(self) -> Rounds[tuple[Distribution, ...]]:
        """Every question in order, averaged over its draws."""
        if self.options.draws == "auto":
            (once,) = yield from gather([self._pass(0)])
            settling = [self._settle(index, first) for index, first in enumerate(once)]
            return (yield from gather(settling))
        passes = yield from gather([self._pass(draw) for draw in range(self.options.draws)])
        return tuple([average(draws) for draws in zip(*passes, strict=True)])

    def _pass(self, draw: int) -> Rounds[tuple[Distribution, ...]]:
        """Every question once, with this draw's noise and orders."""
        members: list[Rounds[_ByIndex]] = []
        plain: list[int] = []
        for index, question in enumerate(self.questions):
            if self.press.needs_brackets(question):
                members.append(self._tournament(index, question, draw))
            else:
                plain.append(index)
        if plain:
            members.append(self._together(plain, draw))
        found: _ByIndex = {}
        for part in (yield from gather(members)):
            found |= part
        return tuple([found[index] for index in range(len(self.questions))])

    def _settle(self, index: int, first: Distribution) -> Rounds[Distribution]:
        """Re-reads the question alone, each time with fresh noise and another order, while that may still help."""
        draws = [first]
        if is_uncertain(first):
            for draw in range(1, self.options.max_draws):
                found = yield from self._alone(index, draw)
                draws.append(found[index])
                if is_settled(average(draws)):
                    break
        return average(draws)

    def _alone(self, index: int, draw: int) -> Rounds[_ByIndex]:
        question = self.questions[index]
        if self.press.needs_brackets(question):
            return self._tournament(index, question, draw)
        return self._together([index], draw)

    def _together(self, indices: Sequence[int], draw: int) -> Rounds[_ByIndex]:
        """Questions of one slot each, packed as the options say."""
        questions = tuple([self.questions[index] for index in indices])
        drafts = self.memo.drafts(questions, self.options.packing, self.options.layout, draw)
        reads = yield from self._run(drafts, draw, first_round=True)
        return {
            indices[member]: distribution
            for draft, read in zip(drafts, reads, strict=True)
            for member, distribution in zip(draft.members, read, strict=True)
        }

    def _tournament(self, index: int, question: Choice, draw: int) -> Rounds[_ByIndex]:
        """A wide choice: all brackets at once, then the final among their winners."""
        parts = brackets(question, self.press.alone.most)
        drafts = self.memo.drafts(parts, "isolated", self.options.layout, draw)
        reads = [read for (read,) in (yield from self._run(drafts, draw, first_round=True))]
        # Its options follow from the state: to keep it would push question sets out of the memo.
        last = self.press.drafts((final(question, parts, reads),), "isolated", self.options.layout, draw)
        ((decided,),) = yield from self._run(last, draw)
        return {index: combine(reads, decided)}

    def _run(
        self, drafts: Sequence[Draft], draw: int, *, first_round: bool = False
    ) -> Rounds[tuple[tuple[Distribution, ...], ...]]:
        """One batch; one distribution a slot of each draft. Draw 0's first round is what packing is reported by."""
        plans = tuple([finish(draft, self.judged, draw, self.press.card) for draft in drafts])
        self.canvases += len(plans)
        self.input_tokens += sum([len(plan.prompt_ids) for plan in plans])
        self.output_tokens += sum([len(plan.slots) for plan in plans])
        if first_round and draw == 0:
            self.questions_per_canvas += tuple([len(draft.members) for draft in drafts])
        reads = yield plans
        return tuple([decode(plan, read) for plan, read in zip(plans, reads, strict=True)])
