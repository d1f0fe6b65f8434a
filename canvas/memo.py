"""The question sets read lately, set once. Holds at most so many; knows nothing of states."""

from collections import OrderedDict
from collections.abc import Sequence

from canvas.draft import Draft
from canvas.options import Layout, Packing
from canvas.press import Press
from canvas.questions import Question

_Key = tuple[Packing, Layout, int, tuple[tuple[str, ...], ...]]


class DraftMemo:
    """The drafts of the `entries` question sets last used, so that a known set costs no tokenising."""

    def __init__(self, press: Press, entries: int) -> None:
        self._press = press
        self._entries = entries
        self._drafts: OrderedDict[_Key, tuple[Draft, ...]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._drafts)

    def drafts(self, questions: Sequence[Question], packing: Packing, layout: Layout, draw: int) -> tuple[Draft, ...]:
        """What Press.drafts returns, kept by the questions' content: their ids are not part of the key."""
        key = (packing, layout, draw, tuple([question.content for question in questions]))
        found = self._drafts.get(key)
        if found is None:
            found = self._drafts[key] = self._press.drafts(questions, packing, layout, draw)
            if len(self._drafts) > self._entries:
                self._drafts.popitem(last=False)
        else:
            self._drafts.move_to_end(key)
        return found
