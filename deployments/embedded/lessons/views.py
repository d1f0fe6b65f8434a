"""A row as the texts that a reader would be shown: bare, as the guard's transcript, as JSON. Knows no question."""

from random import Random
from typing import Final

from canvas import render
from deployments.embedded.lessons.rows import Row

MAX_CHARS: Final = 4000


def judged_of(row: Row) -> str:
    """The text that is judged; the rest of a row is context."""
    if row.stage != "prompt":
        return row.reply
    return row.context if _is_document(row) else row.prompt or row.context


def view(row: Row, random: Random, others: tuple[Row, ...] = ()) -> str:
    """One rendering, at random. `others` may appear as earlier turns, marked as context."""
    comparing = row.stage == "context_reply" or any(check == "off_topic" for check, _ in row.labels)
    pick = random.random()
    if pick < 3 / 10 and not comparing and row.stage != "pair":
        return judged_of(row)
    turns = _turns(row)
    if pick < 4 / 10:
        return render({_FIELDS.get(role, role): text for role, text, _ in turns})
    if pick < 5 / 10:
        return "\n".join(f"{_FIELDS.get(role, role).capitalize()}: {text}" for role, text, _ in turns)
    earlier = [(random.choice(("user", "assistant", "tool")), judged_of(other), False) for other in others]
    return "".join(message(role, "judged" if judged else "context", text) for role, text, judged in (*earlier, *turns))


def transcript(row: Row) -> str:
    """As the guard shows it, without earlier turns."""
    return "".join(message(role, "judged" if judged else "context", text) for role, text, judged in _turns(row))


def message(role: str, mark: str, text: str) -> str:
    """One message as guards.transcript shows it; a test holds the two equal."""
    lines = text.splitlines(keepends=True)
    if lines and lines[-1].splitlines()[0] == lines[-1]:
        lines[-1] += "\n"
    return f"[{role}, {mark}]\n" + "".join(f"| {line}" for line in lines)


_FIELDS: Final = {"tool": "document", "system": "context"}


def _is_document(row: Row) -> bool:
    return bool(row.context) and any(check == "injection" for check, _ in row.labels)


def _turns(row: Row) -> list[tuple[str, str, bool]]:
    """Role, text, and whether it is judged, in the order of a conversation."""
    if row.stage != "prompt":
        turns = [("system", row.context, False), ("user", row.prompt, False), ("assistant", row.reply, True)]
    elif _is_document(row):
        turns = [("user", row.prompt, False), ("tool", row.context, True)]
    else:
        turns = [("system", row.context, False), ("user", row.prompt, True)]
    return [(role, text[:MAX_CHARS], judged) for role, text, judged in turns if text]
