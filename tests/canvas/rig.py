"""What the tests of canvas/ share: a toy model, a scripted engine, a driver, and strategies for questions."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from math import log

from hypothesis import strategies as st

from canvas import (
    CanvasPlan,
    CanvasRead,
    Choice,
    Decision,
    ModelCard,
    Option,
    Planner,
    Predicate,
    Question,
    ReadOptions,
    Rounds,
    Score,
    State,
)
from canvas.noise import words
from tests.toy_tokenizer import ToyTokenizer, make

Answer = Callable[[CanvasPlan], CanvasRead]
STATE = State(("The user is angry.",))
PACKED = ReadOptions(packing="packed")


@cache
def toy(*, split_digits: bool = True) -> ToyTokenizer:
    return make(split_digits=split_digits)


def card(
    *,
    canvas_tokens: int = 256,
    context_tokens: int = 8192,
    max_label_ids: int = 128,
    takes_images: bool = False,
    tokenizer: ToyTokenizer | None = None,
) -> ModelCard:
    vocab_size = (tokenizer or toy()).vocab_size
    return ModelCard("toy", "r1", vocab_size, canvas_tokens, context_tokens, max_label_ids, takes_images)


@cache
def planner() -> Planner:
    return Planner(toy(), card())


def hashed(plan: CanvasPlan) -> CanvasRead:
    """Log-probabilities from the plan's digest alone: equal plans give equal reads, as an engine must."""
    reads: list[tuple[float, ...]] = []
    for index, slot in enumerate(plan.slots):
        weights = [1 + word for word in words(plan.digest + bytes([index]), len(slot.token_ids) + 1)]
        reads.append(tuple(log(weight / sum(weights)) for weight in weights[:-1]))
    return tuple(reads)


def favouring(option: int, plan: CanvasPlan) -> CanvasRead:
    """One option is nearly sure in every slot, whichever order it is shown in."""
    return tuple(
        tuple(
            log(0.9 / len(group)) if index == option else -9.0
            for index, group in enumerate(slot.label_ids)
            for _ in group
        )
        for slot in plan.slots
    )


def drive(rounds: Rounds[Decision], answer: Answer = hashed) -> tuple[Decision, list[tuple[CanvasPlan, ...]]]:
    """The decision, and every batch that was run for it."""
    batches: list[tuple[CanvasPlan, ...]] = []
    try:
        batches.append(next(rounds))
        while True:
            batches.append(rounds.send(tuple(answer(plan) for plan in batches[-1])))
    except StopIteration as stop:
        return stop.value, batches


def first_batch(
    questions: Sequence[Question],
    options: ReadOptions | None = None,
    state: str = "The user is angry.",
    by: Planner | None = None,
) -> tuple[CanvasPlan, ...]:
    return next((by or planner()).read(State((state,)), questions, options or ReadOptions()))


def predicates(number: int) -> tuple[Predicate, ...]:
    return tuple(Predicate(f"q{index}", f"Is it urgent number {index}?") for index in range(number))


def choice(options: int, name: str = "c") -> Choice:
    return Choice(name, "Which?", tuple(Option(f"{name} {index}") for index in range(options)))


def renamed(asked: Sequence[Question]) -> tuple[Question, ...]:
    return tuple(replace(question, id=f"renamed {index}") for index, question in enumerate(asked))


def _named(questions: list[Question]) -> tuple[Question, ...]:
    return tuple(replace(question, id=f"id {index}") for index, question in enumerate(questions))


_texts = st.text(max_size=30)
_options = st.lists(st.builds(Option, _texts, _texts), min_size=2, max_size=12, unique_by=lambda option: option.name)
_levels = st.lists(_texts, min_size=2, max_size=10)
_questions: st.SearchStrategy[Question] = st.one_of(
    st.builds(Predicate, st.just(""), st.text(min_size=1, max_size=30), _texts, _texts),
    st.builds(Choice, st.just(""), _texts, _options.map(tuple)),
    st.builds(Score, st.just(""), _texts, _levels.map(tuple)),
)
question_sets: st.SearchStrategy[tuple[Question, ...]] = st.lists(_questions, min_size=1, max_size=12).map(_named)
