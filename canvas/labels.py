"""Which single tokens may stand for options, by tokenizer, and who gets which on one canvas. Knows no prompt."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final, assert_never

from canvas.questions import Choice, Predicate, Question, Score
from canvas.tokens import Tokenizer

YES_NO: Final = ("yes", "no")


@dataclass(frozen=True, slots=True)
class Alphabets:
    """The labels that are one token in a slot, by family; `forms` has each label's ids, the slot's own id first.

    A family is empty where the tokenizer lacks it. Letters and codes are as many as it has.
    """

    yes_no: tuple[str, ...]
    digits: tuple[str, ...]
    letters: tuple[str, ...]
    codes: tuple[str, ...]
    forms: Mapping[str, tuple[int, ...]]
    max_ids: int

    @property
    def most(self) -> int:
        """How many options one slot can tell apart."""
        return min(self.max_ids, max(len(self.letters), len(self.codes)))

    def groups(self, labels: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        """Every label's ids; the slot's form alone where both forms would exceed the ids of a canvas."""
        groups = tuple(self.forms[label] for label in labels)
        return groups if sum(map(len, groups)) <= self.max_ids else tuple(group[:1] for group in groups)


def survey(tokenizer: Tokenizer, *, spaced: bool, max_ids: int) -> Alphabets:
    """What this tokenizer writes as one token, after a space (packed) or on its own (a single question).

    Gemma writes " A" as one token and " 1" as two, of which the second is the label: both are slots, but one
    family is all of one kind, since a slot's neighbours must not depend on its label.
    """
    space = tokenizer.encode(" ")
    forms: dict[str, tuple[int, ...]] = {}
    taken: set[int] = set()

    def family(candidates: Iterable[str], *, limit: int, both_forms: bool = True) -> tuple[str, ...]:
        joined: dict[str, tuple[int, ...]] = {}
        apart: dict[str, tuple[int, ...]] = {}
        for label in candidates:
            bare, after_space = tokenizer.encode(label), tokenizer.encode(f" {label}")
            one, other = (after_space, bare) if spaced else (bare, after_space)
            if len(one) == 1:
                joined[label] = one + (other if both_forms and len(other) == 1 else ())
            elif spaced and len(bare) == 1 and after_space == space + bare:
                apart[label] = bare
            if len(joined) == limit:
                break
        kept: list[str] = []
        for label, ids in (joined if len(joined) >= len(apart) else apart).items():
            # A tokenizer without byte fallback has one id for all it does not know: no two labels may share an id.
            if taken.isdisjoint(ids) and len(kept) < limit:
                kept.append(label)
                taken.update(ids)
                forms[label] = ids
        return tuple(kept)

    yes_no = family(YES_NO, limit=2)
    numerals = family(digits, limit=10)
    letters = family(ascii_uppercase, limit=26)
    codes = family(_codes(), limit=max_ids, both_forms=False)
    return Alphabets(
        yes_no=yes_no if len(yes_no) == len(YES_NO) else (),
        digits=numerals if len(numerals) == len(digits) else (),
        letters=letters,
        codes=codes,
        forms=forms,
        max_ids=max_ids,
    )


def assign(questions: Sequence[Question], alphabets: Alphabets) -> tuple[tuple[str, ...], ...]:
    """Labels for as many leading questions as one canvas can hold: fewer than given where an alphabet runs out.

    No letter has two meanings on a canvas (READING: that moved 67 % of mirrored answers): alphabets are distinct,
    and shared only by questions whose options or levels are the same texts.
    """
    assigned: list[tuple[str, ...]] = []
    shared: dict[tuple[str, ...], tuple[str, ...]] = {}
    letters, codes, numerals = alphabets.letters, alphabets.codes, alphabets.digits
    ids_used = 0
    for question in questions:
        count = question.option_count
        meaning = _meaning(question)
        labels = shared.get(meaning)
        if labels is None:
            if isinstance(question, Predicate):
                labels = alphabets.yes_no
            elif isinstance(question, Score) and count <= len(numerals):
                labels, numerals = numerals[:count], ()
            elif count <= len(alphabets.letters):
                labels, letters = letters[:count], letters[count:]
            else:
                labels, codes = codes[:count], codes[count:]
            ids_used += sum(map(len, alphabets.groups(labels)))
        if len(labels) < count or ids_used > alphabets.max_ids:
            break
        shared[meaning] = labels
        assigned.append(labels)
    return tuple(assigned)


def _meaning(question: Question) -> tuple[str, ...]:
    """What the labels of a question mean: equal for questions that may share an alphabet."""
    match question:
        case Predicate():
            return ("predicate",)
        case Choice():
            return ("choice", *(text for option in question.options for text in (option.name, option.description)))
        case Score():
            return ("score", *question.levels)
        case _:
            assert_never(question)


def _codes() -> Iterable[str]:
    """Two-letter codes, capitals first; never one that reads as "no"."""
    for letters in (ascii_uppercase, ascii_lowercase):
        for first, second in product(letters, repeat=2):
            if (first + second).lower() != "no":
                yield first + second
