"""The fixed tokens of an answer text and the slots in it, found by differencing. Knows labels, not questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from canvas.labels import Alphabets
from canvas.plan import WIDTH_STEP_TOKENS, Slot
from canvas.prompt import ROW, Encode, Form, Specials


@dataclass(frozen=True, slots=True)
class Template:
    """A canvas before its noise: pads stand at the slots."""

    canvas_ids: tuple[int, ...]
    slots: tuple[Slot, ...]


class Unwritable(Exception):
    """This tokenizer cannot write the answer text so that each label is one token; `index` is the label's question."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(reason)
        self.index = index


def lead(form: Form, index: int) -> str:
    """What stands before the label of the question at `index`, from the end of the label before it."""
    match form:
        case "single":
            return ""
        case "numbered":
            return f"{index + 1} " if index == 0 else f"\n{index + 1} "
        case "compact":
            row, place = divmod(index, ROW)
            return " " if place else lead("numbered", row)
        case _:
            assert_never(form)


def widths_tokens(labels: Sequence[Sequence[str]], form: Form, encode: Encode) -> list[int]:
    """The canvas width that the first 1, 2, 3... questions need: text, end of turn, at least one pad."""
    widths: list[int] = []
    text_tokens = 0
    for index, options in enumerate(labels):
        text_tokens += len(encode(lead(form, index) + options[0]))
        widths.append(-(-(text_tokens + 2) // WIDTH_STEP_TOKENS) * WIDTH_STEP_TOKENS)
    return widths


def lay_out(
    labels: Sequence[Sequence[str]], form: Form, alphabets: Alphabets, special: Specials, encode: Encode
) -> Template:
    """The template whose slot k takes `labels[k]`, by option.

    Changing one label changes exactly one token at one place of its own piece, and the pieces' ids, concatenated,
    are the encoding of the whole text, for every label. So whole encodings differ at the slots alone, and the work
    grows with the text, not with its square. Raises Unwritable where a tokenizer breaks either.
    """
    pieces: list[list[tuple[int, ...]]] = []
    slots: list[Slot] = []
    start = 0
    for index, options in enumerate(labels):
        variants = [encode(lead(form, index) + label) for label in options]
        position = _only_difference(variants)
        slot_ids = tuple(alphabets.forms[label][0] for label in options)
        if position is None or tuple(variant[position] for variant in variants) != slot_ids:
            raise Unwritable(index, f"the labels {options[0]} to {options[-1]} are not one token each in the answer")
        slots.append(Slot(start + position, alphabets.groups(options)))
        pieces.append(variants)
        start += len(variants[0])
    for turn in range(max(map(len, labels))):
        text = "".join(lead(form, index) + options[turn % len(options)] for index, options in enumerate(labels))
        parts = tuple(token for variants in pieces for token in variants[turn % len(variants)])
        if encode(text) != parts:
            raise Unwritable(0, "the tokenizer joins the answer's lines: their tokens are not the whole text's")
    body = [token for variants in pieces for token in variants[0]]
    for slot in slots:
        body[slot.position] = special.pad
    width = widths_tokens(labels, form, encode)[-1]
    pads = (special.pad,) * (width - len(body) - 1)
    return Template((*body, special.end_turn, *pads), tuple(slots))


def _only_difference(variants: Sequence[tuple[int, ...]]) -> int | None:
    """The one place where equally long encodings differ, and there each from each; None where there is no such."""
    if len({len(variant) for variant in variants}) > 1:
        return None
    varied = [place for place, tokens in enumerate(zip(*variants, strict=True)) if len(set(tokens)) > 1]
    if len(varied) != 1 or len({variant[varied[0]] for variant in variants}) < len(variants):
        return None
    return varied[0]
