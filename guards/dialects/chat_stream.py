"""A streamed chat completion put together: the answer its chunks spell. Knows nothing of verdicts or of time."""

from typing import Any, Final, cast

from canvas import JSON
from guards.checks import Stage
from guards.dialects.chat import answer_segments
from guards.dialects.chat_details import ChatDetails
from guards.dialects.json_texts import METADATA
from guards.errors import InvalidAnswer
from guards.sse import Event, SseParser
from guards.strict_json import InvalidJson, parse_keeping_all
from guards.transcript import Detail, Segment

DONE: Final = "[DONE]"
_IDENTITY: Final = ("id", "type")


class ChatAssembler:
    """Takes the upstream's bytes, however they are cut; says at the end what they spelled, in linear time.

    Texts of equal fields are joined in order. A list's items are joined by their `index`; one without continues the
    item in its place, unless its id or type is another's. What that guesses wrong is found by `details`, which join
    whatever stands at the same place.
    """

    def __init__(self, *, choices: int = 1) -> None:
        self._parser = SseParser()
        self._answer: dict[str, Any] = {"choices": _List()}
        self._comments: dict[str, None] = {}
        self._details = ChatDetails(Stage.RESPONSE, streamed=True, choices=choices)

    def feed(self, chunk: bytes) -> None:
        """Raises InvalidAnswer for what is no event stream of JSON chunks."""
        try:
            for event in self._parser.feed(chunk):
                self._take(event)
        except UnicodeDecodeError as error:
            raise InvalidAnswer(f"the upstream's stream is not UTF-8: {error.reason}") from error

    def close(self) -> None:
        """The upstream has ended. Raises InvalidAnswer."""
        try:
            for event in self._parser.close():
                self._take(event)
        except UnicodeDecodeError as error:
            raise InvalidAnswer(f"the upstream's stream is not UTF-8: {error.reason}") from error

    @property
    def usage(self) -> JSON:
        """As the upstream sent it, or None."""
        return self._answer.get("usage")

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Every text so far. Raises InvalidAnswer."""
        comments = "\n".join(self._comments)
        extra = (Segment("other", "comments", comments, Stage.RESPONSE, 0),) if comments else ()
        return (*extra, *answer_segments(_built(self._answer)))

    @property
    def details(self) -> tuple[Detail, ...]:
        """Every string and key so far."""
        return self._details.details()

    def _take(self, event: Event) -> None:
        for comment in event.comments:
            self._comments.setdefault(comment)
        self._details.take(event.comments, "comments")
        self._details.take({"id": event.settings}, "event")
        if not event.data or event.data == DONE:
            return
        try:
            chunk = parse_keeping_all(event.data)
        except InvalidJson as error:
            raise InvalidAnswer(f"a chunk of the upstream is not JSON: {error}") from error
        if not isinstance(chunk, dict):
            raise InvalidAnswer("a chunk of the upstream is not an object")
        choices = chunk.get("choices")
        if choices is not None and not isinstance(choices, list):
            raise InvalidAnswer("choices of a chunk is not a list")
        self._details.take(chunk, "")
        _grow_object(self._answer, cast("dict[str, Any]", chunk))


class _Text:
    """A text that grows by pieces."""

    def __init__(self, piece: str) -> None:
        self.pieces = [piece]


class _List:
    """A list that grows by items; those with an `index` are found by it."""

    def __init__(self, *items: Any) -> None:  # noqa: ANN401 (nodes of an unknown shape)
        self.items: list[Any] = list(items)
        self._by_index: dict[int | str, dict[str, Any]] = {}

    def grow(self, new: list[Any]) -> None:
        for position, item in enumerate(new):
            same = None
            if isinstance(item, dict):
                same = self._same(cast("dict[str, Any]", item), position, len(new))
            if same is not None:
                _grow_object(same, cast("dict[str, Any]", item))
                continue
            node = _node(item)
            self.items.append(node)
            if isinstance(item, dict) and isinstance(index := cast("dict[str, Any]", item).get("index"), int | str):
                self._by_index[index] = node

    def _same(self, item: dict[str, Any], position: int, count: int) -> dict[str, Any] | None:
        index = item.get("index")
        if isinstance(index, int | str):
            return self._by_index.get(index)
        place = len(self.items) - 1 if count == 1 else position
        candidate = self.items[place] if 0 <= place < len(self.items) else None
        if not isinstance(candidate, dict):
            return None
        old = cast("dict[str, Any]", candidate)
        if any(item.get(key) not in (None, old.get(key)) for key in _IDENTITY) or "token" in item:
            return None  # another item; a token of log-probabilities is always another
        continued = any(isinstance(item[key], str | list | dict) and key in old for key in item.keys() - METADATA)
        return old if continued else None


def _node(value: Any) -> Any:  # noqa: ANN401 (JSON of an unknown shape)
    if isinstance(value, str):
        return _Text(value)
    if isinstance(value, dict):
        node: dict[str, Any] = {}
        _grow_object(node, cast("dict[str, Any]", value))
        return node
    if isinstance(value, list):
        items = _List()
        items.grow(cast("list[Any]", value))
        return items
    return value


def _grow_object(old: dict[str, Any], new: dict[str, Any]) -> None:
    for key, value in new.items():
        if value is None:
            continue
        if key in METADATA:  # an identifier comes with every chunk
            old[key] = value
        elif old.get(key) is None:
            old[key] = _node(value)
        else:
            old[key] = _grown(old[key], value, part=key == "content")


def _grown(old: Any, new: Any, *, part: bool) -> Any:  # noqa: ANN401 (JSON of an unknown shape)
    if isinstance(old, _Text) and isinstance(new, str):
        old.pieces.append(new)
        return old
    if isinstance(old, dict) and isinstance(new, dict):
        _grow_object(cast("dict[str, Any]", old), cast("dict[str, Any]", new))
        return cast("dict[str, Any]", old)
    if part and isinstance(old, _Text) and isinstance(new, list):  # a text, then parts: the text is a part too
        old = _List({"type": "text", "text": old})
    if part and isinstance(old, _List) and isinstance(new, str):
        new = [{"type": "text", "text": new}]
    if isinstance(old, _List) and isinstance(new, list):
        old.grow(cast("list[Any]", new))
        return old
    if isinstance(old, int | float) and isinstance(new, int | float):
        return new
    # Two shapes under one key: both are kept, so that both are judged.
    kept = old if isinstance(old, _List) else _List(old)
    kept.items.append(_node(new))
    return kept


def _built(node: Any) -> Any:  # noqa: ANN401 (JSON of an unknown shape)
    if isinstance(node, _Text):
        return "".join(node.pieces)
    if isinstance(node, _List):
        return [_built(item) for item in node.items]
    if isinstance(node, dict):
        fields = cast("dict[str, Any]", node)
        return {key: value if key in METADATA else _built(value) for key, value in fields.items()}
    return node
