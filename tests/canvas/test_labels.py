from collections.abc import Sequence

from hypothesis import given

from canvas import Choice, Option, Predicate, Question, Score
from canvas.labels import Alphabets, assign, survey
from tests.canvas.rig import choice, predicates, question_sets, toy
from tests.toy_tokenizer import make


def packed(max_ids: int = 128) -> Alphabets:
    return survey(toy(), spaced=True, max_ids=max_ids)


def labels(questions: Sequence[Question], alphabets: Alphabets | None = None) -> list[str]:
    return ["".join(found) for found in assign(questions, alphabets or packed())]


def score(*levels: str) -> Score:
    return Score("s", "How?", levels)


def test_both_forms_of_a_label_count_the_slots_own_first() -> None:
    (spaced,), (bare,) = toy().encode(" yes"), toy().encode("yes")
    assert packed().forms["yes"] == (spaced, bare)
    assert survey(toy(), spaced=False, max_ids=128).forms["yes"] == (bare, spaced)


def test_digits_that_are_split_from_their_space_have_one_form() -> None:
    assert packed().forms["1"] == toy().encode("1")
    together = survey(toy(split_digits=False), spaced=True, max_ids=128)
    assert together.forms["1"] == (*toy(split_digits=False).encode(" 1"), *toy(split_digits=False).encode("1"))


def test_codes_have_one_form_and_none_of_them_reads_as_no() -> None:
    codes = packed().codes
    assert len(codes) == 128
    assert all(len(packed().forms[code]) == 1 for code in codes)
    every = survey(toy(), spaced=False, max_ids=2000).codes
    assert "AA" in every
    assert not {"no", "NO"} & set(every)


def test_a_tokenizer_without_a_label_lacks_its_family_and_no_other() -> None:
    found = survey(make(codes=False, without=frozenset({"yes", "▁yes", "▁Q"})), spaced=True, max_ids=128)
    assert found.yes_no == ()
    assert len(found.digits) == 10
    assert "Q" not in found.letters
    assert len(found.letters) == 25
    assert found.most == max(25, len(found.codes))


def test_labels_that_share_an_unknown_tokens_id_are_no_labels() -> None:
    class Unknowing:
        vocab_size = 1
        digest = b""

        def encode(self, text: str) -> tuple[int, ...]:
            return (3,) if text else ()

        def special(self, token: str) -> int:
            raise KeyError(token)

    found = survey(Unknowing(), spaced=False, max_ids=128)
    assert (found.yes_no, found.digits, found.letters, found.codes) == ((), (), (), ())


def test_a_label_split_from_its_space_counts_only_where_the_space_stays_itself() -> None:
    odd = make(without=frozenset("▁" + letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), first_merges=())
    found = survey(odd, spaced=True, max_ids=128)
    assert found.forms["A"] == odd.encode("A")


def test_choices_take_consecutive_letters_the_first_score_digits_and_further_scores_letters() -> None:
    asked = [choice(3, "a"), score("x", "y"), choice(2, "b"), score("u", "v", "w"), *predicates(2)]
    assert labels(asked) == ["ABC", "01", "DE", "FGH", "yesno", "yesno"]


def test_the_same_options_or_levels_share_an_alphabet() -> None:
    asked = [choice(3, "a"), choice(2, "b"), choice(3, "a"), score("x", "y"), score("p", "q"), score("x", "y")]
    assert labels(asked) == ["ABC", "DE", "ABC", "01", "FG", "01"]


def test_a_choice_and_a_score_of_the_same_texts_share_nothing() -> None:
    assert labels([Choice("c", "", (Option("x"), Option("y"))), score("x", "y")]) == ["AB", "01"]


def test_a_canvas_ends_where_an_alphabet_runs_out() -> None:
    assert labels([choice(20, "a"), choice(7, "b"), *predicates(1)]) == ["ABCDEFGHIJKLMNOPQRST"]


def test_more_than_26_options_take_codes() -> None:
    (found,) = assign([choice(27)], packed())
    assert found == packed().codes[:27]
    assert len(assign([choice(100, "a"), choice(28, "b")], packed())) == 2
    assert len(assign([choice(100, "a"), choice(29, "b")], packed())) == 1


def test_a_canvas_ends_where_its_label_ids_would_exceed_the_limit() -> None:
    asked = [choice(4, "a"), choice(4, "b"), choice(4, "c")]
    assert len(assign(asked, packed(max_ids=24))) == 3
    assert len(assign(asked, packed(max_ids=23))) == 2


def test_one_question_keeps_only_the_slots_form_where_both_would_exceed_the_limit() -> None:
    few = packed(max_ids=20)
    assert [len(group) for group in few.groups(few.letters[:10])] == [2] * 10
    assert [len(group) for group in few.groups(few.letters[:11])] == [1] * 11


def test_without_a_family_nothing_is_assigned() -> None:
    poor = survey(make(codes=False, without=frozenset({"yes"})), spaced=False, max_ids=128)
    assert assign([Predicate("p", "?")], poor) == ()
    assert assign([choice(len(poor.codes) + 27)], poor) == ()


@given(question_sets)
def test_one_letter_never_means_two_things_on_a_canvas(asked: tuple[Question, ...]) -> None:
    meanings: dict[str, str] = {}
    for question, found in zip(asked, assign(asked, packed()), strict=False):
        assert len(set(found)) == len(found) == question.option_count
        texts = question.content[2:] if not isinstance(question, Predicate) else ("yes", "no")
        names = texts[::2] if isinstance(question, Choice) else texts
        for place, (label, name) in enumerate(zip(found, names, strict=True)):
            assert meanings.setdefault(label, f"{place} {name}") == f"{place} {name}"
