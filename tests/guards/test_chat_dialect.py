import json
from typing import Any

import pytest

from guards.checks import Stage
from guards.dialects.chat import answer_segments, failure_texts, parse_answer, parse_request
from guards.dialects.chat_stream import ChatAssembler
from guards.errors import InvalidAnswer, InvalidConversation
from guards.transcript import Segment


def _answer(message: dict[str, Any], **choice: Any) -> dict[str, str]:  # noqa: ANN401 (JSON)
    segments = answer_segments({"choices": [{"index": 0, "message": message, **choice}]})
    return {segment.where.removeprefix("choices[0]."): segment.text for segment in segments}


def _request(message: dict[str, Any], **fields: Any) -> tuple[Segment, ...]:  # noqa: ANN401 (JSON)
    body = {"model": "m", "messages": [{"role": "user", **message}], **fields}
    return parse_request(json.dumps(body).encode()).transcript.segments


def _tokens(*texts: str, **more: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (JSON)
    return [{"token": text, "logprob": -1.0, "bytes": list(text.encode()), **more} for text in texts]


def test_log_probabilities_are_read_where_they_say_other_words() -> None:
    tokens = _tokens("he", "llo", top_logprobs=[])
    assert "logprobs.content.token" not in _answer({"content": "hello"}, logprobs={"content": tokens})
    assert _answer({"content": "bye"}, logprobs={"content": tokens}) == {
        "message.content": "bye",
        "logprobs.content.token": "hello",
    }
    assert len(_answer({"content": "bye"}, logprobs={"content": None, "refusal": []})) == 1


def test_the_alternatives_of_the_same_rank_are_read_as_one_text() -> None:
    entries = [
        {**entry, "top_logprobs": _tokens(chosen, other)}
        for entry, chosen, other in zip(_tokens("f", "ine"), ("f", "ine"), ("FORB", "IDDEN"), strict=True)
    ]
    assert _answer({"content": "fine"}, logprobs={"content": entries}) == {
        "message.content": "fine",
        "logprobs.content.top_logprobs[1].token": "FORBIDDEN",
    }


def test_bytes_that_spell_other_words_than_their_tokens_are_read() -> None:
    entries = [{"token": "a", "bytes": list(b"\xc3")}, {"token": "b", "bytes": [*b"\xa9!", 256, -1, None, "x"]}]
    found = _answer({"content": "ab"}, logprobs={"content": entries})
    assert found["logprobs.content.bytes"] == "é!"


LOGPROBS: list[tuple[Any, str, str]] = [
    ("words", "logprobs", "words"),
    ({"content": "words"}, "logprobs.content", "words"),
    ({"content": {"token": "words"}}, "logprobs.content.token", "words"),
    ({"tokens": ["wor", "ds"], "token_logprobs": [-1, -2]}, "logprobs.tokens", "words"),
    ({"top_logprobs": [{"wor": -1.0}, {"ds": -1.0}]}, "logprobs.top_logprobs[0]", "words"),
    ({"content": [{"token": "bye", "note": "words"}]}, "logprobs.content.*", "note\nwords\n"),
    ({"content": [{"token": "bye", "top_logprobs": {"words": -1.0}}]}, "logprobs.content.top_logprobs[0]", "words"),
]


@pytest.mark.parametrize(("logprobs", "where", "text"), LOGPROBS)
def test_log_probabilities_of_any_shape_are_read(logprobs: Any, where: str, text: str) -> None:  # noqa: ANN401 (JSON)
    assert _answer({"content": "bye"}, logprobs=logprobs)[where] == text


def test_spoken_words_are_read_and_the_sound_is_said_to_be_unseen() -> None:
    (segment,) = answer_segments({"choices": [{"message": {"audio": {"data": "AAAA", "transcript": "hello"}}}]})
    assert segment.text == "transcript\nhello"
    assert segment.unseen == "audio"
    (sound,) = _request({"content": [{"type": "input_audio", "input_audio": {"data": "AAAA"}}]})
    assert sound.unseen == "input_audio"


def test_reasoning_in_parts_is_read() -> None:
    assert _answer({"reasoning": [{"text": "hm"}]})["message.reasoning"] == "text\nhm"


def test_numbers_and_settings_of_an_answer_are_no_text() -> None:
    answer = {"id": "1", "usage": {"a": 1}, "x_ms": 3.5, "x_none": None, "choices": [{"message": {"content": "a"}}]}
    assert [segment.text for segment in answer_segments(answer)] == ["a"]


def test_an_unknown_field_of_the_answer_itself_is_read() -> None:
    answer = {"citations": ["one"], "choices": [{"message": {"content": "a"}, "x_note": "two"}]}
    assert [segment.text for segment in answer_segments(answer)] == ["one", "a", "two"]


def test_a_tool_calls_words_behind_json_escapes_are_read() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"q": "\\u0041"}'}}
    segments = answer_segments({"choices": [{"message": {"tool_calls": [call]}}]})
    assert [segment.text for segment in segments] == [
        "function\nname\nf\narguments\n" + '{"q": "\\u0041"}',
        '{"q": "A"}',
    ]
    assert {segment.stage for segment in segments} == {Stage.TOOL_CALL}
    broken = {"function": {"name": "f", "arguments": "\\not json"}}
    assert len(answer_segments({"choices": [{"message": {"tool_calls": [broken]}}]})) == 1


OTHER_SHAPES: list[Any] = [
    None,
    [],
    {},
    {"choices": {}},
    {"choices": [3]},
    {"choices": [{"message": 3}]},
    {"choices": [{"message": {"content": 3}}]},
    {"choices": [{"message": {"tool_calls": {}}}]},
    {"choices": [{"message": {"reasoning": 3}}]},
]


@pytest.mark.parametrize("answer", OTHER_SHAPES)
def test_an_answer_of_another_shape_is_not_guessed_at(answer: Any) -> None:  # noqa: ANN401 (JSON of any shape)
    with pytest.raises(InvalidAnswer):
        answer_segments(answer)


def test_an_answer_that_is_an_error_has_no_text_to_judge() -> None:
    assert answer_segments({"error": {"message": "no"}}) == ()


def test_bytes_that_are_no_json_are_not_guessed_at() -> None:
    with pytest.raises(InvalidAnswer, match="not JSON"):
        parse_answer(b"<html>")


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ({"type": "image_url", "image_url": {"url": 3}}, "must be a text"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,%%"}}, "not base64"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,\u00e9"}}, "not base64"),
        ({}, r"content\[0\].type: must be a text"),
    ],
)
def test_a_broken_picture_is_an_error(part: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidConversation, match=reason):
        _request({"content": [part]})


LIMITS: list[Any] = [
    {"stream_options": 3},
    {"n": 129},
    {"n": True},
    {"messages": [{"role": "user", "content": "x"}] * 5000},
    {"x": json.loads("[" * 70 + "]" * 70)},
]


@pytest.mark.parametrize("fields", LIMITS)
def test_limits_are_named(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidConversation):
        _request({"content": "x"}, **fields)


def _stream(*chunks: dict[str, Any]) -> tuple[Segment, ...]:
    assembler = ChatAssembler()
    for one in chunks:
        assembler.feed(b"data: " + json.dumps(one).encode() + b"\n\n")
    assembler.close()
    return assembler.segments


def _delta(**delta: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    return {"id": "c", "choices": [{"index": 0, "delta": delta}]}


def test_deltas_of_a_field_are_joined_and_identifiers_are_kept_once() -> None:
    details = [_delta(reasoning_details=[{"index": 0, "type": "text", "text": text}]) for text in ("a", "b")]
    assert [segment.text for segment in _stream(*details)] == ["index\ntype\ntext\ntext\nab".removeprefix("index\n")]


def test_tool_arguments_are_joined_by_index() -> None:
    first = _delta(tool_calls=[{"index": 0, "id": "1", "function": {"name": "f", "arguments": "{"}}])
    second = _delta(tool_calls=[{"index": 0, "function": {"arguments": "}"}}, {"index": 1, "function": {"name": "g"}}])
    assert [segment.text for segment in _stream(first, second)] == [
        "function\nname\nf\narguments\n{}",
        "function\nname\ng",
    ]


def test_two_shapes_under_one_key_are_both_read() -> None:
    shapes = _stream(_delta(x="one"), _delta(x={"y": "two"}), _delta(x=3), _delta(x=4), _delta(content="c"))
    assert [segment.text for segment in shapes] == ["one\ny\ntwo", "c"]
    numbers = _stream(_delta(x=1), _delta(x=2), _delta(x=None), _delta(y={"a": 1}), _delta(y={"a": 2, "b": "text"}))
    assert [segment.text for segment in numbers] == ["b\ntext"]


def test_parts_that_a_stream_continues_are_one_part() -> None:
    thinking = [_delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": t}]}]) for t in ("a", "b")]
    said = _stream(*thinking, _delta(content="c"), _delta(content="d"))
    assert [segment.text for segment in said] == ["type\ntext\ntext\nab", "cd"]
    assert [segment.text for segment in _stream(_delta(content="c"), _delta(content=[{"type": "text", "text": "d"}]))]


def test_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    chunks = [_delta(tool_calls=[{"id": name, "function": {"name": name, "arguments": "{"}}]) for name in ("f", "g")]
    said = _stream(chunks[0], _delta(tool_calls=[{"function": {"arguments": "}"}}]), chunks[1])
    assert [segment.text for segment in said] == [
        "function\nname\nf\narguments\n{}",
        "function\nname\ng\narguments\n{",
    ]


def test_arguments_that_are_an_object_are_read_with_their_keys_and_numbers() -> None:
    call = {"function": {"name": "f", "arguments": {"delete_all": True, "n": 3}}}
    (segment,) = answer_segments({"choices": [{"message": {"tool_calls": [call]}}]})
    assert segment.text == 'function\nname\nf\narguments\n{"delete_all": true, "n": 3}'


def test_of_an_error_a_reader_is_shown_what_is_not_the_upstreams_own_words() -> None:
    error = {"message": "m", "type": "t", "code": "c", "param": "p", "failed_generation": "words"}
    assert [segment.text for segment in answer_segments({"error": error, "output": "more"})] == ["words", "more"]
    for body in (b'["words"]', b'{"choices": 3, "x": "words"}'):
        segments, details = failure_texts(body)
        assert "words" in segments[0].text
        assert "words" in [detail.text for detail in details]
    assert failure_texts(b"<html>")[1][0].text == "<html>"


def test_a_long_stream_is_put_together_in_linear_time() -> None:
    assembler = ChatAssembler()
    assembler.feed(b"data: " + json.dumps(_delta(content="abcd", x=["y"])).encode() + b"\n\n" + b": z\n\n" * 9)
    assembler.feed((b"data: " + json.dumps(_delta(content="abcd")).encode() + b"\n\n") * 50_000)
    assembler.close()
    assert max(len(segment.text) for segment in assembler.segments) == 4 * 50_001


def test_comments_of_an_upstream_are_read_once() -> None:
    assembler = ChatAssembler()
    assembler.feed(b': waiting\n\n: waiting\n\ndata: {"choices": []}\n\ndata: [DONE]\n\n')
    assembler.close()
    assert [segment.text for segment in assembler.segments] == ["waiting"]


def test_a_chunk_whose_choices_are_no_list_is_not_guessed_at() -> None:
    with pytest.raises(InvalidAnswer):
        _stream({"choices": {"index": 0}})


def test_a_stream_that_ends_inside_a_character_is_not_guessed_at() -> None:
    assembler = ChatAssembler()
    assembler.feed(b"data: \xc3")
    with pytest.raises(InvalidAnswer, match="UTF-8"):
        assembler.close()
