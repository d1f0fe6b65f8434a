from canvas import (
    Planner,
)
from canvas.memo import DraftMemo
from canvas.press import Press
from tests.canvas.rig import PACKED, card, choice, first_batch, predicates, renamed, toy


def test_the_memo_is_bounded_keeps_what_was_used_last_and_tokenises_a_known_set_no_more() -> None:
    press = Press.of(toy(), card())
    memo = DraftMemo(press, 2)
    kept = memo.drafts(predicates(1), "isolated", "state_first", 0)
    memo.drafts(predicates(2), "isolated", "state_first", 0)
    assert memo.drafts(renamed(predicates(1)), "isolated", "state_first", 0) is kept
    memo.drafts(predicates(1), "isolated", "state_first", 1)
    assert len(memo) == 2
    assert memo.drafts(predicates(1), "isolated", "state_first", 0) is kept


def test_a_known_question_set_costs_the_tokenizer_the_state_alone() -> None:
    class Counting:
        def __init__(self) -> None:
            self.texts: list[str] = []

        vocab_size = toy().vocab_size
        digest = toy().digest

        def encode(self, text: str) -> tuple[int, ...]:
            self.texts.append(text)
            return toy().encode(text)

        def special(self, token: str) -> int:
            return toy().special(token)

    counting = Counting()
    by = Planner(counting, card())
    first_batch(predicates(85), PACKED, by=by)
    counting.texts.clear()
    first_batch(renamed(predicates(85)), PACKED, "another state", by=by)
    assert counting.texts == ["user\n<state>\nanother state\n</state>"]


def test_packing_layout_draw_and_content_each_have_drafts_of_their_own() -> None:
    press = Press.of(toy(), card())
    memo = DraftMemo(press, 9)
    asked = (choice(4), *predicates(3))
    others = (
        memo.drafts(asked, "isolated", "state_first", 0),
        memo.drafts(asked, "packed", "questions_first", 0),
        memo.drafts(asked, "packed", "state_first", 1),
        memo.drafts(asked[::-1], "packed", "state_first", 0),
    )
    kept = memo.drafts(asked, "packed", "state_first", 0)
    assert kept == press.drafts(asked, "packed", "state_first", 0)
    assert len({kept, *others}) == len(memo) == 5
