"""A conversation as texts in order, each with the stage that judges it. Knows no API's wire form.

The state shown to a reader is rendered here: every message under a line with its role and whether it is judged, every
line of its text behind a bar, so that no text can pose as another message. Judged parts come last: what follows the
last of them is left out.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from canvas import Image, State
from guards.checks import Stage
from guards.policy import Context

_SURROGATES: Final = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")  # half a pair is no character: engines refuse it


@dataclass(frozen=True, slots=True)
class Segment:
    """One text of a conversation. `role` comes from our own short list, never from the caller.

    `stage` judges it; None makes it context. `turn` numbers the message it belongs to. `replayed` marks the
    assistant's earlier words as the caller sends them: exact rules of the request stage look at them too, because
    the caller may have written them. `unseen` says what of the message no text stands for (audio, a remote picture).
    """

    role: str
    where: str
    text: str
    stage: Stage | None
    turn: int
    replayed: bool = False
    system: bool = False
    images: tuple[Image, ...] = ()
    unseen: str = ""


@dataclass(frozen=True, slots=True)
class Detail:
    """A string of a body that no reader is shown: an identifier, a setting, a key. Exact rules alone look at it."""

    where: str
    text: str
    stage: Stage


@dataclass(frozen=True, slots=True)
class Window:
    """Characters of the judged text, all its segments joined; `context_chars` bounds the context shown beside it."""

    start: int
    end: int
    context_chars: int | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A state, and how many characters of context did not fit beside the window."""

    state: State
    context_left_out_chars: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation so far."""

    segments: tuple[Segment, ...]
    details: tuple[Detail, ...] = ()

    def followed_by(self, segments: tuple[Segment, ...], details: tuple[Detail, ...] = ()) -> "Transcript":
        """With the answer to it; the answer's segments form the next turn."""
        turn = 1 + max((segment.turn for segment in self.segments), default=-1)
        answer = (replace(segment, turn=turn + segment.turn) for segment in segments)
        return Transcript((*self.segments, *answer), (*self.details, *details))

    def judged(self, stage: Stage) -> tuple[Segment, ...]:
        return tuple(segment for segment in self.segments if segment.stage is stage)

    def scanned(self, stage: Stage) -> tuple[Segment, ...]:
        """What exact rules look at: the judged segments, in a request also the assistant's replayed words."""
        replayed = stage is Stage.REQUEST
        return tuple(s for s in self.segments if s.stage is stage or (replayed and s.replayed))

    def details_of(self, stage: Stage) -> tuple[Detail, ...]:
        """What exact rules look at besides."""
        return tuple(detail for detail in self.details if detail.stage is stage)

    def unseen(self, stage: Stage) -> str:
        """What of the judged part no reader can see; empty when there is nothing."""
        return ", ".join(f"{segment.unseen} in {segment.where}" for segment in self.judged(stage) if segment.unseen)

    def untold(self, stage: Stage) -> str:
        """What of the judged part holds no text for exact rules; empty when there is nothing."""
        kinds = ((s.unseen or ("an image" if s.images else ""), s.where) for s in self.scanned(stage))
        return ", ".join(f"{kind} in {where}" for kind, where in kinds if kind)

    def speaks(self, stage: Stage) -> bool:
        """Whether there is more to judge than details."""
        return any(segment.text.strip() or segment.images or segment.unseen for segment in self.scanned(stage))

    def stages(self, among: tuple[Stage, ...]) -> tuple[Stage, ...]:
        """Those that have anything to judge."""
        return tuple(stage for stage in among if self.speaks(stage) or self.details_of(stage))

    def length(self, stage: Stage) -> int:
        """Characters to be judged."""
        return sum(len(segment.text) for segment in self.judged(stage))

    def digest(self, stage: Stage) -> str:
        """16 hex digits over what rules and reads of the stage look at."""
        digest = hashlib.sha256()
        for segment in self.scanned(stage):
            for part in (segment.role.encode(), segment.text.encode("utf-8", "surrogatepass")):
                digest.update(len(part).to_bytes(8, "big") + part)
            for image in segment.images:
                digest.update(hashlib.sha256(image.data).digest())
        return digest.hexdigest()[:16]

    def show(self, stage: Stage, context: Context, window: Window) -> Shown:
        """The state of one window: context in its place, the judged part's last line last."""
        last = max(i for i, segment in enumerate(self.segments) if segment.stage is stage)
        kept, left_out = self._context(stage, context, last, window.context_chars)
        parts: list[str | Image] = []
        offset = 0
        for index, segment in enumerate(self.segments[: last + 1]):
            if segment.stage is not stage:
                if index in kept:
                    parts.append(_message(segment.role, "context", kept[index]))
                continue
            start, end = max(window.start - offset, 0), min(window.end - offset, len(segment.text))
            offset += len(segment.text)
            if start < end:
                mark = "judged" if end - start == len(segment.text) else "judged, a part"
                parts.append(_message(segment.role, mark, segment.text[start:end]))
            if window.start == 0:  # pictures are shown once
                parts.extend(segment.images)
        return Shown(State(tuple(parts)), left_out)

    def _context(self, stage: Stage, context: Context, last: int, budget: int | None) -> tuple[dict[int, str], int]:
        """Context segments by index, the newest first to be kept; of one that does not fit, its end."""
        turns = sorted({s.turn for s in self.segments[: last + 1] if s.stage is not stage and not s.system})
        first = turns[-context.turns] if 0 < context.turns <= len(turns) else (0 if context.turns else last + 1)
        kept: dict[int, str] = {}
        left_out = 0
        for index in range(last, -1, -1):
            segment = self.segments[index]
            wanted = context.system if segment.system else bool(context.turns) and segment.turn >= first
            if segment.stage is stage or not wanted or not segment.text:
                continue
            fits = segment.text if budget is None else segment.text[max(len(segment.text) - budget, 0) :]
            left_out += len(segment.text) - len(fits)
            if fits:
                kept[index] = fits
            if budget is not None:
                budget -= len(fits)
        return kept, left_out


def windows(length: int, size: int, overlap: int, context_chars: int | None) -> Iterator[Window]:
    """Windows of at most `size` characters that cover all; every span of `overlap` or fewer lies whole in one.

    `overlap` must be below `size`.
    """
    start = 0
    while True:
        end = min(start + size, length)
        yield Window(start, end, context_chars)
        if end == length:
            return
        start = end - overlap


def _message(role: str, mark: str, text: str) -> str:
    lines = text.translate(_SURROGATES).splitlines(keepends=True)
    if lines and lines[-1].splitlines()[0] == lines[-1]:
        lines[-1] += "\n"
    return f"[{role}, {mark}]\n" + "".join(f"| {line}" for line in lines)
