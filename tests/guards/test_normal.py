"""Normalising is linear, keeps every mark, and leads back to the original."""

from guards.rules.normal import MAX_MARKS, normalise


def test_a_character_under_more_marks_than_text_ever_has_is_normalised_in_parts() -> None:
    above, below = "\u0301", "\u0316"
    marks = (above + below) * (2 * MAX_MARKS)
    normal = normalise("e" + marks)
    assert normal is not None
    assert normal.text.startswith("\u00e9")
    # Sorting stays within a part: an unbroken cluster would have moved every mark below to the front.
    assert normal.text[1:].lstrip(below).lstrip(above).startswith(below)
    assert normal.text.count(below) == 2 * MAX_MARKS
    assert normal.text.count(above) == 2 * MAX_MARKS - 1
    assert normal.span(0, len(normal.text)) == (0, 1 + len(marks))
