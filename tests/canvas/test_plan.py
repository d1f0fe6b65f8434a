from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from canvas import CanvasPlan, Image, Question, ReadOptions, Slot
from canvas.plan import pack_slots
from tests.canvas.rig import first_batch, question_sets

PLAN = CanvasPlan((2, 5), (9, 8, 106, 0), (Slot(0, ((10, 11), (12,))), Slot(1, ((12,), (10,)))), b"s")


def test_a_plan_knows_its_width_rows_and_distinct_label_ids() -> None:
    assert (PLAN.width_tokens, PLAN.rows, PLAN.token_ids) == (4, 2, (10, 11, 12))
    assert PLAN.slots[0].token_ids == (10, 11, 12)


def test_all_that_an_engine_is_given_is_in_the_digest_and_nothing_else() -> None:
    changed = [
        PLAN,
        replace(PLAN, prompt_ids=(2,), digest=b""),
        replace(PLAN, canvas_ids=(9, 7, 106, 0), digest=b""),
        replace(PLAN, slots=PLAN.slots[:1], digest=b""),
        replace(PLAN, images=(Image("image/png", b"x"),), digest=b""),
        replace(PLAN, images=(Image("image/jpeg", b"x"),), digest=b""),
    ]
    assert len({plan.digest for plan in changed}) == len(changed)
    assert replace(PLAN, prefix_tokens=1, state_digest=b"other", digest=b"").digest == PLAN.digest


@given(question_sets, st.sampled_from(("isolated", "packed")), st.text(max_size=30))
def test_the_planners_digest_is_the_one_that_any_plan_computes(
    asked: tuple[Question, ...], packing: str, text: str
) -> None:
    options = ReadOptions(packing="isolated" if packing == "isolated" else "packed", draws=2)
    for plan in first_batch(asked, options, text):
        assert replace(plan, digest=b"").digest == plan.digest
        assert len(plan.digest) == len(plan.state_digest) == 16


@given(
    st.lists(st.tuples(st.integers(0, 9), st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=3)), max_size=3)
)
def test_different_slots_have_different_bytes(shape: list[tuple[int, list[list[int]]]]) -> None:
    slots = tuple(Slot(position, tuple(map(tuple, groups))) for position, groups in shape)
    unpacked = [int.from_bytes(pack_slots(slots)[at : at + 4], "little") for at in range(0, len(pack_slots(slots)), 4)]

    def take() -> int:
        return unpacked.pop(0)

    read = tuple(
        Slot(take(), tuple(tuple(take() for _ in range(take())) for _ in range(take()))) for _ in range(take())
    )
    assert read == slots
