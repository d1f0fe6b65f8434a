import pytest

from canvas import Answer, Choice, Distribution, Option, Predicate, Score, choice_confidence, score_confidence


@pytest.mark.parametrize(
    ("probs", "confidence"),
    [((0.88, 0.12, 0.0), 0.82), ((1.0,), 1.0), ((0.5, 0.5), 0.0), ((1.0, 0.0), 1.0)],
)
def test_choice_confidence_is_typesafes(probs: tuple[float, ...], confidence: float) -> None:
    assert choice_confidence(probs) == pytest.approx(confidence)


@pytest.mark.parametrize(
    ("probs", "confidence"),
    [((0.0, 0.95, 0.05), 0.925), ((0.1, 0.2, 0.7), 0.4), ((1.0,), 1.0), ((0.5, 0.0, 0.5), 0.0)],
)
def test_score_confidence_is_typesafes(probs: tuple[float, ...], confidence: float) -> None:
    assert score_confidence(probs) == pytest.approx(confidence)


def test_a_predicates_probability_and_confidence_are_those_of_yes() -> None:
    answer = Answer(Predicate("p", "Is it?"), Distribution((0.2, 0.8), 0.9))
    assert (answer.probability, answer.confidence, answer.top) == (0.2, 0.2, 1)


def test_a_choice_answers_with_its_most_probable_option_the_first_of_equals() -> None:
    answer = Answer(Choice("c", "Which?", (Option("a"), Option("b"))), Distribution((0.5, 0.5), 0.9))
    assert (answer.probability, answer.top, answer.confidence) == (0.5, 0, 0.0)


def test_a_score_is_its_expected_level() -> None:
    answer = Answer(Score("s", "How?", ("low", "mid", "high")), Distribution((0.1, 0.2, 0.7), 0.9))
    assert answer.score == pytest.approx(1.6)
    assert answer.confidence == pytest.approx(0.4)
