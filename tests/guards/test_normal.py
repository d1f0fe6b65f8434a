"""Normalising is linear, drops the marks that no letter takes up, and leads back to the original."""

from guards.rules.normal import MAX_MARKS, normalise


def test_a_character_under_more_marks_than_text_ever_has_is_normalised_in_parts() -> None:
    above, below = "\u0301", "\u0316"
    normal = normalise("e" + (above + below) * (2 * MAX_MARKS) + "x")
    assert normal is not None
    assert normal.text == "\u00e9x"
    assert normal.span(0, 1) == (0, MAX_MARKS + 1)  # the cluster that was composed; the rest stands for nothing
    assert normal.span(1, 2) == (4 * MAX_MARKS + 1, 4 * MAX_MARKS + 2)
