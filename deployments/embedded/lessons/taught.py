"""Questions together with what their answers mean, and the right answer for given facts. Draws them at random."""

from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from canvas import Choice, Option, Predicate, Question, Score
from deployments.embedded.lessons.checks import CHECKS, COMPARING, CONTAINS, LACKS, THINGS
from deployments.embedded.lessons.facts import WORDS, Facts

Kind = Literal["predicate", "negated", "score", "which", "whether", "intent", "about"]
NONE: Final = "none"
RULES: Final[dict[str, tuple[str, str]]] = {
    "rule:question": ("Does {it} contain a question mark?", "Is {it} without any question mark?"),
    "rule:digit": ("Does {it} contain a digit?", "Is {it} without digits?"),
    "rule:link": ("Does {it} contain a link?", "Is {it} without links?"),
    "rule:lines": ("Does {it} have more than one line?", "Is {it} a single line?"),
    "rule:long": ("Is {it} longer than sixty words?", "Does {it} have at most sixty words?"),
    "rule:short": ("Is {it} shorter than a dozen words?", "Does {it} have more than a dozen words?"),
    "rule:capitals": ("Is {it} written mostly in capitals?", "Is {it} written mostly in small letters?"),
}
LEVELS: Final[dict[int, tuple[float, ...]]] = {
    2: (0.05, 0.95), 3: (0.03, 0.12, 0.85), 4: (0.02, 0.05, 0.23, 0.7), 5: (0.01, 0.02, 0.07, 0.25, 0.65),
}  # fmt: skip
"""Target over the levels where the fact is true (reversed where it is false): labels are binary, so ends win."""


@dataclass(frozen=True, slots=True)
class Taught:
    """`about` names a fact per option (which, intent), or the one fact of the question."""

    question: Question
    kind: Kind
    about: tuple[str, ...]

    def answer(self, facts: Facts) -> tuple[float, ...] | None:
        """Probability of every option in the question's order, or None where the facts do not decide."""
        match self.kind:
            case "intent":
                if facts.intent in self.about:
                    return tuple(float(name == facts.intent) for name in self.about)
                return (
                    tuple(float(name == NONE) for name in self.about) if facts.intent and NONE in self.about else None
                )
            case "about":
                return None if not facts.intent else _pair(float(facts.intent == self.about[0]))
            case "which":
                return self._which(facts)
            case _:
                prob = facts.probs.get(self.about[0])
                return None if prob is None else self._one(prob)

    def _one(self, prob: float) -> tuple[float, ...]:
        if self.kind == "score":
            up = LEVELS[self.question.option_count]
            return tuple(prob * high + (1 - prob) * low for high, low in zip(up, reversed(up), strict=True))
        return _pair(1 - prob if self.kind == "negated" else prob)

    def _which(self, facts: Facts) -> tuple[float, ...] | None:
        if any(name != NONE and name not in facts.probs for name in self.about):
            return None
        probs = [facts.probs.get(name, 0.0) for name in self.about]
        top = max(probs)
        if sum(prob > 1 / 2 for prob in probs) > 1 or (top <= 1 / 2 and NONE not in self.about):
            return None
        weights = [1 - top if name == NONE else prob for name, prob in zip(self.about, probs, strict=True)]
        return tuple(weight / sum(weights) for weight in weights)


def _pair(prob: float) -> tuple[float, float]:
    return prob, 1 - prob


def predicate(random: Random, fact: str) -> Taught:
    """A yes/no question about a check, word or rule, in one of its phrasings."""
    deny = random.random() < 2 / 5
    kind: Kind = "negated" if deny else "predicate"
    it = random.choice(
        THINGS["reply" if fact in ("refusal", "harmful_compliance") else random.choice(("prompt", "reply"))]
    )
    yes = no = ""
    if fact.startswith("word:"):
        word = fact.removeprefix("word:")
        text = f'Is the word "{word}" absent from {{it}}?' if deny else f'Does {{it}} contain the word "{word}"?'
    elif fact in RULES:
        text = RULES[fact][deny]
    else:
        check = CHECKS[fact]
        own = check.deny if deny else check.ask
        shared = () if fact in COMPARING else LACKS if deny else CONTAINS
        text = random.choice(own if random.random() < 3 / 4 or not shared else shared).replace("{noun}", check.noun)
        if random.random() < 1 / 4:
            true, false = (
                f"{check.name}: {check.meaning}",
                random.choice(("otherwise", f"not {check.name}", "none of it")),
            )
            yes, no = (false, true) if deny else (true, false)
            if random.random() < 1 / 4:
                text = ""
    return Taught(Predicate("q", _sentence(text, it), yes, no), kind, (fact,))


def score(random: Random, check: str) -> Taught:
    """Levels from false to true."""
    it = random.choice(THINGS[random.choice(("prompt", "reply"))])
    levels = CHECKS[check].levels
    if random.random() < 1 / 2:
        count = random.choice((2, 3, 4, 5))
        ends = random.choice(
            (("not at all", "entirely"), ("none", "extreme"), (levels[0], levels[-1]), ("low", "high"))
        )
        middle = ("slightly", "clearly", "strongly") if count == max(LEVELS) else ("slightly", "clearly")
        levels = (ends[0], *middle[: count - 2], ends[1])
    return Taught(Score("q", _sentence(CHECKS[check].scale, it), levels), "score", (check,))


def which(random: Random, check: str) -> Taught:
    """One of several problems, or none."""
    others = [name for name in CHECKS if name not in (check, "override", *COMPARING)]
    names = [check, *random.sample(others, random.randrange(1, 5))]
    if random.random() < 4 / 5:
        names.append(NONE)
    random.shuffle(names)
    described = random.random() < 1 / 2
    empty = random.choice(("none", "none of these", "nothing", "harmless", "ordinary", "other"))
    options = tuple(
        Option(empty) if name == NONE else Option(CHECKS[name].name, CHECKS[name].meaning if described else "")
        for name in names
    )
    texts = ("What is wrong with {it}?", "Which of these is {it}?", "Which problem does {it} have?", "Classify {it}.",
             "What kind of text is {it}?")  # fmt: skip
    it = random.choice(THINGS["prompt"])
    return Taught(Choice("q", _sentence(random.choice(texts), it), options), "which", tuple(names))


def intent(random: Random, intents: tuple[str, ...], wanted: str) -> Taught:
    """What a customer wants, among other customers' wishes."""
    names = [wanted, *random.sample([name for name in intents if name != wanted], random.randrange(1, 8))]
    if random.random() < 1 / 4:
        names = [*names[random.random() < 1 / 3 :], NONE]
    random.shuffle(names)
    texts = ("What is the request about?", "What does the user want?", "Which topic fits {it}?", "Route {it}.",
             "What is the intent of {it}?")  # fmt: skip
    options = tuple(Option("something else" if name == NONE else name) for name in names)
    text = _sentence(random.choice(texts), random.choice(THINGS["prompt"]))
    return Taught(Choice("q", text, options), "intent", tuple(names))


def about(random: Random, name: str) -> Taught:
    """Whether a customer wants one thing."""
    texts = (f"Is {{it}} about {name}?", f"Does the user ask about {name}?", f"Is {name} the topic?")
    return Taught(Predicate("q", _sentence(random.choice(texts), random.choice(THINGS["prompt"]))), "about", (name,))


def distractor(random: Random) -> Taught:
    """A yes/no question that rules can answer for any text."""
    return predicate(random, random.choice((*RULES, *(f"word:{word}" for word in WORDS))))


def _sentence(text: str, it: str) -> str:
    filled = text.replace("{it}", it)
    return filled[:1].upper() + filled[1:]
