from collections.abc import Sequence
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canvas import Question
from canvas.labels import assign, survey
from canvas.prompt import Form, specials
from canvas.template import Template, Unwritable, lay_out, lead, widths_tokens
from tests.canvas.rig import choice, predicates, question_sets, toy
from tests.toy_tokenizer import ToyTokenizer, make


def text_of(labels: Sequence[str], form: Form) -> str:
    return "".join(lead(form, index) + label for index, label in enumerate(labels))


def build(labels: Sequence[Sequence[str]], form: Form, tokenizer: ToyTokenizer | None = None) -> Template:
    tokenizer = tokenizer or toy()
    alphabets = survey(tokenizer, spaced=form != "single", max_ids=128)
    return lay_out(labels, form, alphabets, specials(tokenizer), tokenizer.encode)


YES_NO = ("yes", "no")


def test_a_single_question_is_noise_end_of_turn_and_pads() -> None:
    assert build([YES_NO], "single").canvas_ids == (0, 106, *(0,) * 14)


def test_numbered_answers_stand_on_lines_and_compact_ones_in_rows_of_ten() -> None:
    assert text_of(["yes", "A"], "numbered") == "1 yes\n2 A"
    assert text_of(["yes"] * 12, "compact") == "1" + " yes" * 10 + "\n2 yes yes"


@pytest.mark.parametrize("tokenizer", [toy(), toy(split_digits=False)], ids=["split digits", "joined digits"])
@pytest.mark.parametrize("form", ["numbered", "compact"])
@given(asked=question_sets)
def test_the_whole_encoding_differs_from_the_template_at_the_slots_alone(
    form: Form, tokenizer: ToyTokenizer, asked: tuple[Question, ...]
) -> None:
    labels = assign(asked, survey(tokenizer, spaced=True, max_ids=128))
    template = build(labels, form, tokenizer)
    for pick in range(max(map(len, labels))):
        whole = tokenizer.encode(text_of([options[pick % len(options)] for options in labels], form))
        filled = list(template.canvas_ids)
        for slot, options in zip(template.slots, labels, strict=True):
            filled[slot.position] = slot.label_ids[pick % len(options)][0]
        width = len(template.canvas_ids)
        assert tuple(filled) == (*whole, 106, *(0,) * (width - len(whole) - 1))
        assert width % 16 == 0
        assert width - len(whole) >= 2


def test_slots_are_found_where_the_label_is_even_when_its_space_stands_apart() -> None:
    template = build([("0", "1", "2")] * 2, "numbered")
    assert [slot.position for slot in template.slots] == [2, 6]  # "1", "▁", label, "\n", "2", "▁", label


@given(st.integers(1, 260))
def test_widths_are_the_least_multiples_of_16_and_rise(number: int) -> None:
    for form in ("numbered", "compact"):
        widths = widths_tokens([YES_NO] * number, form, toy().encode)
        assert len(widths) == number
        assert all(one <= other for one, other in pairwise(widths))
        needed = len(toy().encode(text_of(["yes"] * number, form))) + 2
        assert widths[-1] - 16 < needed <= widths[-1]


def test_a_tokenizer_whose_line_break_joins_a_number_still_has_its_slots_found() -> None:
    odd = make(first_merges=(("\n", "2"),))
    template = build([YES_NO, YES_NO, ("A", "B")], "numbered", odd)
    fixed = [slot.position for slot in template.slots]
    for picks in product(YES_NO, YES_NO, "AB"):
        whole = odd.encode(text_of(picks, "numbered"))
        kept = [token for place, token in enumerate(whole) if place not in fixed]
        assert kept == [token for place, token in enumerate(template.canvas_ids[: len(whole)]) if place not in fixed]


def test_lines_that_are_joined_are_unwritable() -> None:
    with pytest.raises(Unwritable, match="joins the answer's lines"):
        build([YES_NO, YES_NO], "numbered", make(first_merges=(("A", "\n"), ("o", "\n"))))


def test_a_label_that_is_two_tokens_after_its_number_is_unwritable_and_its_question_told() -> None:
    odd = make(first_merges=(("2", "▁"),))
    with pytest.raises(Unwritable, match="labels A to C are not one token each") as caught:
        build([YES_NO, ("A", "B", "C")], "numbered", odd)
    assert caught.value.index == 1


def test_labels_of_different_lengths_are_unwritable() -> None:
    odd = make(without=frozenset({"▁no"}))
    alphabets = survey(toy(), spaced=True, max_ids=128)
    with pytest.raises(Unwritable):
        lay_out([YES_NO], "numbered", alphabets, specials(odd), odd.encode)


def test_two_labels_with_one_id_are_unwritable() -> None:
    class Blind:
        def __call__(self, text: str) -> tuple[int, ...]:
            return tuple(min(ord(character), ord("A")) for character in text)

    alphabets = survey(toy(), spaced=True, max_ids=128)
    with pytest.raises(Unwritable):
        lay_out([("A", "B")], "numbered", alphabets, specials(toy()), Blind())


def test_work_grows_with_the_questions_not_with_their_square() -> None:
    encoded: list[int] = []

    def counting(text: str) -> tuple[int, ...]:
        encoded.append(len(text))
        return toy().encode(text)

    def work(number: int) -> int:
        encoded.clear()
        labels = assign(predicates(number), survey(toy(), spaced=True, max_ids=128))
        lay_out(labels, "compact", survey(toy(), spaced=True, max_ids=128), specials(toy()), counting)
        return sum(encoded)

    assert work(200) <= 2.1 * work(100)


def test_wide_choices_have_one_slot_of_codes() -> None:
    labels = assign([choice(100)], survey(toy(), spaced=False, max_ids=128))
    (slot,) = build(labels, "single").slots
    assert len(slot.token_ids) == 100
