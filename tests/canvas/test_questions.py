import pytest

from canvas import Choice, InvalidQuestion, Option, Predicate, Question, Score
from canvas.state import Image, State, render


def test_a_predicate_that_asks_nothing_is_refused_by_name() -> None:
    with pytest.raises(InvalidQuestion, match="question 'p': needs instructions"):
        Predicate("p", "")


@pytest.mark.parametrize("number", [0, 1, 256])
def test_a_choice_has_2_to_255_options(number: int) -> None:
    with pytest.raises(InvalidQuestion, match=f"question 'c': needs 2 to 255 options, got {number}"):
        Choice("c", "", tuple(Option(str(index)) for index in range(number)))


def test_an_option_named_twice_is_refused_by_name() -> None:
    with pytest.raises(InvalidQuestion, match="option 'a' is named twice"):
        Choice("c", "", (Option("a"), Option("a")))


@pytest.mark.parametrize("number", [1, 11])
def test_a_score_has_2_to_10_levels(number: int) -> None:
    with pytest.raises(InvalidQuestion, match=f"needs 2 to 10 levels, got {number}"):
        Score("s", "", ("level",) * number)


@pytest.mark.parametrize(
    ("question", "options"),
    [
        (Predicate("x", "a"), 2),
        (Choice("x", "a", (Option("b"), Option("c", "d"), Option("e"))), 3),
        (Score("x", "a", ("b", "c", "d")), 3),
    ],
)
def test_questions_count_their_options(question: Question, options: int) -> None:
    assert question.option_count == options


def test_content_leaves_the_id_out_and_tells_kinds_apart() -> None:
    assert Predicate("x", "a").content == Predicate("y", "a").content
    assert len({Score("x", "a", ("b", "c")).content, Choice("x", "a", (Option("b"), Option("c"))).content}) == 2
    assert (
        Choice("x", "a", (Option("b", "c"), Option("d"))).content
        != Choice("x", "a", (Option("b"), Option("c"))).content
    )


def test_a_state_gives_its_texts_and_images_in_order() -> None:
    picture = Image("image/png", b"x")
    state = State(("a", picture, "b"))
    assert (state.text, state.images) == ("ab", (picture,))


def test_objects_are_rendered_as_json_that_keeps_every_script() -> None:
    assert render("as it is") == "as it is"
    assert render({"größe": ["大", None]}) == '{"größe": ["大", null]}'
