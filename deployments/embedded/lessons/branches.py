"""Questions set by the product's own planner, ready to follow any state: token ids, slots, and what is taught there."""

from collections.abc import Sequence
from dataclasses import dataclass

from canvas import CanvasPlan, Draws, Packing, Planner, Question, ReadOptions, State
from deployments.embedded.lessons.taught import Taught

MOST_DRAWS = 4  # option orders to choose from


@dataclass(frozen=True, slots=True)
class Branch:
    """What follows a state's prefix: the rest of the prompt, then a canvas whose slots wait for noise.

    `options[k]` are slot k's label ids as the slot writes them, by option; `taught[k]` is its question.
    """

    suffix: tuple[int, ...]
    canvas: tuple[int, ...]
    slots: tuple[int, ...]
    options: tuple[tuple[int, ...], ...]
    taught: tuple[Taught, ...]

    @property
    def tokens(self) -> int:
        return len(self.suffix) + len(self.canvas)


def first_plans(
    planner: Planner, text: str, questions: Sequence[Question], packing: Packing, draws: Draws = 1
) -> tuple[CanvasPlan, ...]:
    """The canvases that a read would begin with, draw after draw."""
    return next(planner.read(State((text,)), questions, ReadOptions(packing, "state_first", draws)))


def branches(planner: Planner, taught: Sequence[Taught], packing: Packing, draw: int) -> tuple[Branch, ...]:
    """The canvases that the planner lays out for these questions on one draw, state first."""
    plans = first_plans(planner, "any", [one.question for one in taught], packing, draw + 1)
    count = len(plans) // (draw + 1)
    made: list[Branch] = []
    done = 0
    for plan in plans[draw * count :]:
        members = tuple(taught[done : done + len(plan.slots)])
        done += len(members)
        made.append(
            Branch(
                suffix=plan.prompt_ids[plan.prefix_tokens :],
                canvas=plan.canvas_ids,
                slots=tuple(slot.position for slot in plan.slots),
                options=tuple(tuple(group[0] for group in slot.label_ids) for slot in plan.slots),
                taught=members,
            )
        )
    return tuple(made)


def prefix_of(planner: Planner, text: str, any_question: Question) -> tuple[int, ...]:
    """The prompt up to the questions. Raises canvas.InvalidState for a text that is too long."""
    (plan,) = first_plans(planner, text, [any_question], "isolated")
    return plan.prompt_ids[: plan.prefix_tokens]
