"""What is known to be true of a row: its labels, a linear model's guesses, and what plain rules can see."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from deployments.embedded.lessons.rows import Row

LONG_WORDS: Final = 60
SHORT_WORDS: Final = 12
SURE: Final = 0.05  # a guess within this of 0 or 1 teaches; the rest is left unknown
WORDS: Final = (
    "account", "address", "answer", "because", "book", "business", "card", "child", "code", "company", "computer",
    "country", "data", "day", "dog", "email", "family", "food", "game", "girl", "government", "help", "history", "home",
    "house", "information", "language", "law", "life", "man", "market", "money", "movie", "music", "name", "number",
    "order", "password", "people", "person", "phone", "police", "problem", "product", "question", "research", "role",
    "school", "service", "song", "story", "street", "system", "team", "time", "travel", "water", "weather", "website",
    "woman", "word", "work", "world", "write", "year",
)  # fmt: skip
_INTENT: Final = re.compile(r"^(?:banking77|clinc)/(?:plain|topic)-(.+)-[0-9a-f]{12}$")


@dataclass(frozen=True, slots=True)
class Facts:
    """`probs` by fact: a check's name, `word:` and a word, or a rule's name. `intent` is empty where there is none."""

    probs: Mapping[str, float]
    intent: str = ""


def intent_of(row: Row) -> str:
    """The intent that banking and assistant rows carry in their id, in words."""
    found = _INTENT.match(row.id)
    return found[1].replace("_", " ").strip("? ").lower() if found else ""


def facts_of(row: Row, judged: str, guesses: Mapping[str, float]) -> Facts:
    """`judged` is the row's judged text; labels win over guesses."""
    probs = {check: round(guess) * 0.96 + 0.02 for check, guess in guesses.items() if min(guess, 1 - guess) <= SURE}
    lower = set(re.findall(r"[a-z]+", judged.lower()))
    probs |= {f"word:{word}": float(word in lower) for word in WORDS}
    probs |= {
        "rule:question": float("?" in judged),
        "rule:digit": float(any(sign.isdigit() for sign in judged)),
        "rule:link": float("http" in judged or "www." in judged),
        "rule:lines": float(judged.strip().count("\n") > 0),
        "rule:long": float(len(judged.split()) > LONG_WORDS),
        "rule:short": float(len(judged.split()) <= SHORT_WORDS),
        "rule:capitals": float(sum(map(str.isupper, judged)) > 0.3 * max(1, sum(map(str.isalpha, judged)))),
    }
    probs |= {check: float(label) for check, label in row.labels}
    probs |= _override(probs)
    return Facts(probs, intent_of(row))


def _override(probs: Mapping[str, float]) -> dict[str, float]:
    """Either attack makes it true; both must be known to be absent for it to be false."""
    attacks = [probs[check] for check in ("jailbreak", "injection") if check in probs]
    if attacks and (max(attacks) > 1 / 2 or len(attacks) > 1):
        return {"override": max(attacks)}
    return {}
