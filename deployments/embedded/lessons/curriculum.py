"""What the model is taught next: documents drawn at random, for ever. Equal seeds give equal lessons."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from canvas import InvalidState, Planner, Predicate
from deployments.embedded.lessons import taught as ask
from deployments.embedded.lessons.branches import MOST_DRAWS, Branch, branches, prefix_of
from deployments.embedded.lessons.checks import CHECKS
from deployments.embedded.lessons.facts import Facts, facts_of, intent_of
from deployments.embedded.lessons.pages import Document, Sheet, Target
from deployments.embedded.lessons.rows import Row
from deployments.embedded.lessons.taught import Taught
from deployments.embedded.lessons.views import judged_of, view

WEIGHTS: Final = {
    "toxicity": 1.5, "hate": 1.0, "harassment": 0.3, "sexual": 0.5, "self_harm": 0.5, "violence": 0.5, "jailbreak": 1.5,
    "injection": 1.8, "harmful_compliance": 1.8, "refusal": 1.2, "pii": 1.2, "secret": 1.2, "off_topic": 1.0,
    "unsupported_claim": 0.8,
}  # fmt: skip
"""How often a document is chosen for a check; those with a handful of positives would be learnt by heart."""
POSITIVE_SHARE: Final = 0.4  # in use far fewer texts are at fault; in the data's dev split 3 in 10 are
NOISY_SHARE: Final = 0.5  # of the documents, in which up to MOST_NOISE of the state's tokens are replaced
MOST_NOISE: Final = 0.06
TAIL_TOKENS: Final = 10  # the closing tag and the start of the next turn: not the state's, kept as they are
GUESS_WEIGHT: Final = 0.3  # of a target that a linear model guessed
CANVAS_WIDTHS: Final = (16, 32, 48, 64)


@dataclass(frozen=True, slots=True)
class Pool:
    """Branches set once, by what they are about. A packed one is listed under every check on it."""

    alone: Mapping[str, Sequence[Branch]]
    packed: Mapping[str, Sequence[Branch]]
    intents: Mapping[str, Sequence[Branch]]
    distractors: Sequence[Branch]


def make_pool(planner: Planner, random: Random, intents: tuple[str, ...], variants: int) -> Pool:
    """`variants` scales it: about 60 * variants questions a check."""
    alone: dict[str, list[Branch]] = defaultdict(list)
    packed: dict[str, list[Branch]] = defaultdict(list)
    by_intent: dict[str, list[Branch]] = defaultdict(list)
    distractors: list[Branch] = []

    def set_alone(one: Taught) -> Branch:
        (branch,) = branches(planner, [one], "isolated", random.randrange(MOST_DRAWS) if random.random() < 1 / 2 else 0)
        return branch

    for check in CHECKS:
        alone[check] += (set_alone(ask.predicate(random, check)) for _ in range(40 * variants))
        alone[check] += (set_alone(ask.score(random, check)) for _ in range(6 * variants))
        if check not in ("off_topic", "unsupported_claim", "override"):
            alone[check] += (set_alone(ask.which(random, check)) for _ in range(14 * variants))
    for name in intents:
        by_intent[name] += (set_alone(ask.intent(random, intents, name)) for _ in range(3 * variants))
        by_intent[name] += (set_alone(ask.about(random, name)) for _ in range(2))
    distractors += (set_alone(ask.distractor(random)) for _ in range(150 * variants))
    for _ in range(250 * variants):
        group = [_any(random) for _ in range(random.randrange(4, 13))]
        for branch in branches(
            planner, group, "packed", random.randrange(MOST_DRAWS) if random.random() < 1 / 2 else 0
        ):
            for check in {name for one in branch.taught for name in one.about if name in CHECKS}:
                packed[check].append(branch)
    return Pool(alone, packed, by_intent, distractors)


def _any(random: Random) -> Taught:
    pick = random.random()
    check = random.choice(list(CHECKS))
    if pick < 3 / 4:
        return ask.predicate(random, check)
    if pick < 17 / 20:
        return ask.distractor(random)
    if pick < 19 / 20 or check in ("off_topic", "unsupported_claim", "override"):
        return ask.score(random, check)
    return ask.which(random, check)


@dataclass(slots=True)
class Curriculum:
    """Rows and branches to draw from. `guesses` are soft labels by check and row id."""

    planner: Planner
    vocab_size: int
    page_tokens: int
    rows: Sequence[Row]
    guesses: Mapping[str, Mapping[str, float]]
    pool: Pool
    random: Random
    by_label: dict[tuple[str, bool], dict[str, list[Row]]] = field(init=False)

    def __post_init__(self) -> None:
        self.by_label = defaultdict(lambda: defaultdict(list))
        for row in self.rows:
            for check, label in row.labels:
                self.by_label[check, label][row.source].append(row)

    def documents(self, denoise_share: float) -> Iterator[Document]:
        """Without end. `denoise_share` of them only restore a text."""
        probe = Predicate("q", "Probe")
        bare = len(prefix_of(self.planner, "", probe))
        while True:
            row, check = self._row()
            others: tuple[Row, ...] = ()
            if self.random.random() < 1 / 5:
                others = tuple(self.random.choices(self.rows, k=self.random.choice((1, 1, 2))))
            try:
                prefix = prefix_of(self.planner, view(row, self.random, others), probe)
            except InvalidState:  # too long for the model, as it is for a reader
                continue
            if self.random.random() < NOISY_SHARE:
                prefix = self._noisy(prefix, bare)
            room = self.page_tokens - len(prefix)
            if self.random.random() < denoise_share:
                document = self._restore(prefix, bare)
            else:
                document = Document(prefix, _fitting(self._sheets(row, check), room))
            if document.sheets:
                yield document

    def _noisy(self, prefix: tuple[int, ...], bare: int) -> tuple[int, ...]:
        """Words are missing and misspelt in life too, and a net that may not lean on one word learns several."""
        rate = self.random.uniform(0, MOST_NOISE)
        first, last = bare - TAIL_TOKENS, len(prefix) - TAIL_TOKENS
        vocabulary = self.vocab_size
        return tuple(
            self.random.randrange(vocabulary) if first <= place < last and self.random.random() < rate else token
            for place, token in enumerate(prefix)
        )

    def _row(self) -> tuple[Row, str]:
        """A check by weight, its label by a biased coin, its source by the root of its size."""
        random = self.random
        check = random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        sources = self.by_label[check, random.random() < POSITIVE_SHARE]
        weights = [len(rows) ** 0.5 for rows in sources.values()]
        return random.choice(sources[random.choices(list(sources), weights)[0]]), check

    def _sheets(self, row: Row, check: str) -> tuple[Sheet, ...]:
        random, pool = self.random, self.pool
        guesses = {name: found[row.id] for name, found in self.guesses.items() if row.id in found}
        facts = facts_of(row, judged_of(row), guesses)
        labelled = {name for name, _ in row.labels}
        chosen = [random.choice(pool.alone[check]) for _ in range(random.choice((1, 2, 2)))]
        known = [name for name in facts.probs if name in CHECKS and name != check]
        if check in ("jailbreak", "injection") and "override" in facts.probs:
            chosen.append(random.choice(pool.alone["override"]))
        chosen += (random.choice(pool.alone[name]) for name in random.sample(known, min(len(known), 2)))
        if random.random() < 1 / 3:
            chosen.append(random.choice(pool.distractors))
        if random.random() < 1 / 2:
            chosen.append(random.choice(pool.packed[check]))
        if (name := intent_of(row)) and name in pool.intents:
            chosen.append(random.choice(pool.intents[name]))
        sheets = (self._sheet(branch, facts, labelled) for branch in chosen)
        return tuple(sheet for sheet in sheets if sheet.targets)

    def _sheet(self, branch: Branch, facts: Facts, labelled: set[str]) -> Sheet:
        canvas = list(branch.canvas)
        targets: list[Target] = []
        for offset, options, one in zip(branch.slots, branch.options, branch.taught, strict=True):
            canvas[offset] = self.random.randrange(self.vocab_size)
            probs = one.answer(facts)
            if probs is not None:
                guessed = any(name in CHECKS and name not in labelled | {"override"} for name in one.about)
                targets.append(Target(offset, options, probs, GUESS_WEIGHT if guessed else 1.0))
        return Sheet(branch.suffix, canvas, tuple(targets))

    def _restore(self, prefix: Sequence[int], first: int) -> Document:
        """A text cut in two: its second part, with noise in some places, is a canvas behind the first."""
        random = self.random
        width = random.choice(CANVAS_WIDTHS)
        cut = random.randrange(first + 8, max(first + 9, len(prefix) - 16))
        clean = list(prefix[cut : cut + width])
        rate = random.uniform(0.1, 1.0)
        targets: list[Target] = []
        for offset, token in enumerate(tuple(clean)):
            if random.random() < rate:
                clean[offset] = random.randrange(self.vocab_size)
                targets.append(Target(offset, (token,), (1.0,), 0.1))
        return Document(prefix[:cut], (Sheet((), clean, tuple(targets)),) if targets else ())


def _fitting(sheets: Sequence[Sheet], room_tokens: int) -> tuple[Sheet, ...]:
    """As many leading sheets as fit."""
    kept: list[Sheet] = []
    for sheet in sheets:
        room_tokens -= len(sheet.suffix) + len(sheet.canvas)
        if room_tokens < 0:
            break
        kept.append(sheet)
    return tuple(kept)
