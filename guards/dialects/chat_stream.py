"""A streamed chat completion put together: the answer its chunks spell. Knows nothing of verdicts or of time."""

from typing import Any, cast

from canvas import JSON
from guards.checks import Stage
from guards.dialects.chat import answer_segments
from guards.dialects.json_texts import METADATA
from guards.errors import InvalidAnswer
from guards.sse import Event, SseParser
from guards.strict_json import InvalidJson, parse_keeping_all
from guards.transcript import Segment

DONE = "[DONE]"


class ChatAssembler:
    """Takes the upstream's bytes, however they are cut; says at the end what they spelled.

    Texts of equal fields are joined in order; a list's items are joined by their `index`, or else follow each other.
    """

    def __init__(self) -> None:
        self._parser = SseParser()
        self._answer: dict[str, Any] = {"choices": []}
        self._comments: dict[str, None] = {}

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
        return (*extra, *answer_segments(self._answer))

    def _take(self, event: Event) -> None:
        for comment in event.comments:
            self._comments.setdefault(comment)
        if not event.data or event.data == DONE:
            return
        try:
            chunk = parse_keeping_all(event.data)
        except InvalidJson as error:
            raise InvalidAnswer(f"a chunk of the upstream is not JSON: {error}") from error
        if not isinstance(chunk, dict):
            raise InvalidAnswer("a chunk of the upstream is not an object")
        fields = dict(cast("dict[str, Any]", chunk))
        if fields.get("error") is not None and not fields.get("choices"):
            return  # the upstream's own failure, passed on as itself: no model's text
        choices = fields.get("choices")
        if choices is not None and not isinstance(choices, list):
            raise InvalidAnswer("choices of a chunk is not a list")
        _merge_object(self._answer, {key: value for key, value in fields.items() if value is not None})


def _merge(old: Any, new: Any) -> Any:  # noqa: ANN401 (JSON of an unknown shape)
    if old is None or new is None:
        return old if new is None else new
    if isinstance(old, str) and isinstance(new, str):
        return old + new
    if isinstance(old, dict) and isinstance(new, dict):
        _merge_object(cast("dict[str, Any]", old), cast("dict[str, Any]", new))
        return cast("dict[str, Any]", old)
    if isinstance(old, list) and isinstance(new, list):
        _merge_list(cast("list[Any]", old), cast("list[Any]", new))
        return cast("list[Any]", old)
    numbers = (int, float)
    if isinstance(old, numbers) and isinstance(new, numbers):
        return new
    # Two shapes under one key: both are kept, so that both are judged.
    return [*cast("list[Any]", old if isinstance(old, list) else [old]), new]


def _merge_object(old: dict[str, Any], new: dict[str, Any]) -> None:
    for key, value in new.items():
        if value is None:
            continue
        # An identifier comes with every chunk; it is kept once, unless it changes.
        repeated = key in METADATA and (old.get(key) == value or not isinstance(value, str))
        old[key] = value if repeated else _merge(old.get(key), value)


def _merge_list(old: list[Any], new: list[Any]) -> None:
    for item in new:
        index = _index(item)
        same = next((one for one in old if index is not None and _index(one) == index), None)
        if same is None:
            old.append(item)
        else:
            _merge_object(same, item)


def _index(item: Any) -> object:  # noqa: ANN401 (JSON of an unknown shape)
    return cast("dict[str, Any]", item).get("index") if isinstance(item, dict) else None
