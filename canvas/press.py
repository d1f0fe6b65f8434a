"""Sets question sets into drafts: groups, labels, template, words. Knows no state."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self, TypeGuard, assert_never

from canvas.card import ModelCard
from canvas.draft import Draft
from canvas.draws import order
from canvas.errors import CanvasOverflow, InvalidQuestion
from canvas.fingerprint import digest, pack_ids
from canvas.labels import Alphabets, assign, survey
from canvas.options import Layout, Packing
from canvas.packing import pack
from canvas.plan import WIDTH_STEP_TOKENS, pack_slots
from canvas.prompt import Encode, Form, Specials, encode_state, frame, question_text, questions_text, specials
from canvas.questions import Choice, Predicate, Question, Score
from canvas.state import State
from canvas.template import Unwritable, lay_out, widths_tokens
from canvas.tokens import Tokenizer


@dataclass(frozen=True, slots=True)
class Press:
    """What a tokenizer and a model allow, found once: sets questions into drafts."""

    tokenizer: Tokenizer
    card: ModelCard
    special: Specials
    alone: Alphabets
    packed: Alphabets

    @classmethod
    def of(cls, tokenizer: Tokenizer, card: ModelCard) -> Self:
        """Raises KeyError when the tokenizer lacks a special token of the chat template."""
        special = specials(tokenizer)
        alone = survey(tokenizer, spaced=False, max_ids=card.max_label_ids)
        return cls(tokenizer, card, special, alone, survey(tokenizer, spaced=True, max_ids=card.max_label_ids))

    def needs_brackets(self, question: Question) -> TypeGuard[Choice]:
        """Whether it has more options than one slot can tell apart."""
        return isinstance(question, Choice) and question.option_count > self.alone.most

    def fill(self, questions: Sequence[Question]) -> int:
        """How many leading questions one canvas holds together: by alphabets, label ids and width."""
        labels = assign(questions[: self.card.canvas_tokens], self.packed)
        encode = cache(self.tokenizer.encode)
        forms: tuple[Form, ...] = ("numbered", "compact")
        return max(
            sum(width <= self.card.canvas_tokens for width in widths_tokens(labels, form, encode)) for form in forms
        )

    def drafts(self, questions: Sequence[Question], packing: Packing, layout: Layout, draw: int) -> tuple[Draft, ...]:
        """Every question on exactly one canvas. Raises CanvasOverflow or InvalidQuestion, naming the question."""
        for question in questions:
            _check_text(question)
        alone = tuple((index,) for index in range(len(questions)))
        groups = alone if packing == "isolated" else pack(questions, self.fill)
        encode = cache(self.tokenizer.encode)  # the preamble and the lines' leads recur
        return tuple(self._draft(questions, members, layout, draw, encode) for members in groups)

    def _draft(
        self, questions: Sequence[Question], members: tuple[int, ...], layout: Layout, draw: int, encode: Encode
    ) -> Draft:
        group = [questions[index] for index in members]
        alphabets = self.alone if len(group) == 1 else self.packed
        assigned = assign(group, alphabets)
        if not assigned:
            raise CanvasOverflow(
                group[0].id,
                f"needs {group[0].option_count} labels of one token each; this tokenizer has {len(alphabets.yes_no)}"
                f" for yes/no, {len(alphabets.digits)} digits, {len(alphabets.letters)} letters and"
                f" {len(alphabets.codes)} codes, and a canvas takes {alphabets.max_ids} label ids",
            )
        orders = [order(question, draw) for question in group]
        labels = [_by_option(*pair) for pair in zip(group, assigned, orders, strict=True)]
        form: Form = "single"
        if len(group) > 1:
            numbered = widths_tokens(labels, "numbered", encode)[-1] <= self.card.canvas_tokens
            form = "numbered" if numbered else "compact"
        try:
            template = lay_out(labels, form, alphabets, self.special, encode)
        except Unwritable as fault:
            raise CanvasOverflow(group[fault.index].id, str(fault)) from fault
        if len(template.canvas_ids) > self.card.canvas_tokens:
            raise CanvasOverflow(group[0].id, f"needs a canvas of {WIDTH_STEP_TOKENS}, got {self.card.canvas_tokens}")
        texts = [question_text(*triple) for triple in zip(group, labels, orders, strict=True)]
        around = frame(questions_text(texts, form, layout), layout, encode, self.special)
        empty_tokens = len(encode_state(State(("",)), self.tokenizer))
        fixed_tokens = len(around.before) + empty_tokens + len(around.after) + len(template.canvas_ids)
        if fixed_tokens > self.card.context_tokens:
            longest = max(zip(texts, group, strict=True), key=lambda pair: len(pair[0]))[1]
            raise CanvasOverflow(
                longest.id,
                f"its canvas of {len(group)} questions takes {fixed_tokens} tokens with an empty state;"
                f" the model takes {self.card.context_tokens}",
            )
        before, after = pack_ids(around.before), pack_ids(around.after)
        slots = pack_slots(template.slots)
        return Draft(
            members=members,
            before=around.before,
            after=around.after,
            shared_after=around.shared_after,
            canvas_ids=template.canvas_ids,
            slots=template.slots,
            packed_before=before,
            packed_after=after,
            packed_slots=slots,
            digest=digest((pack_ids(template.canvas_ids), slots)),
        )


def _by_option(question: Question, labels: Sequence[str], shown: Sequence[int]) -> tuple[str, ...]:
    """Labels by option: a choice's first shown option is always A; a level's or an answer's label is its meaning."""
    match question:
        case Choice():
            return tuple(label for _, label in sorted(zip(shown, labels, strict=True)))
        case Predicate() | Score():
            return tuple(labels)
        case _:
            assert_never(question)


def _check_text(question: Question) -> None:
    try:
        "\n".join(question.content).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidQuestion(question.id, "its text has half of a surrogate pair") from error
