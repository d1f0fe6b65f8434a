"""Law 5 for exact rules: no string and no key of a body leaves unread, wherever it stands and however it is cut."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.guards.fakes import DONE, chunk, completion
from tests.guards.policies import policy, rule_only
from tests.guards.rig import CHAT, Rig, rig

WORD = "FORBIDDEN"


def _message(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    answer = completion("x")
    answer["choices"][0]["message"].update(fields)
    return answer


def _choice(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    answer = completion("x")
    answer["choices"][0].update(fields)
    return answer


def _call(**function: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    return _message(tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", **function}}])


ANSWERS: list[dict[str, Any]] = [
    {**completion("x"), "id": WORD},
    {**completion("x"), "model": WORD},
    {**completion("x"), "usage": {"prompt_tokens": 1, "note": WORD}},
    {**completion("x"), "error": {"message": WORD}},
    {**completion("x"), WORD: 1},
    {**completion("x"), WORD: "hello"},
    _choice(finish_reason=WORD),
    _choice(native_finish_reason=WORD),
    {**completion("x"), WORD: {"x": WORD}},
    _choice(logprobs={"content": [{"token": "x", "logprob": -1, WORD: 1}]}),
    _message(role=WORD),
    _message(type=WORD),
    _message(provider=WORD),
    _message(content=None, type=WORD),
    _message(zzz={WORD: 1}),
    _message(content=[{"type": "text", "text": "hi", "id": WORD}]),
    _message(content=[{"type": "text", "text": "hi", "cache_control": {"x": WORD}}]),
    _message(tool_calls=[{"id": WORD, "type": "function", "function": {"name": "f", "arguments": "{}"}}]),
    _call(arguments={WORD: 1}),
    _call(arguments='{"\\u0046ORBIDDEN": 1}'),
    _call(arguments='{"q": "\\u0046ORBIDDEN", "z'),
    _call(arguments=json.dumps({"body": '{"q": "\\u0046ORBIDDEN"}'})),
    {"error": {"message": "x"}, "output": f"the model said {WORD}"},
    {"error": {"message": "x", "failed_generation": WORD}},
    {"error": WORD},
]


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("status", [200, 400, 500])
async def test_no_string_and_no_key_of_an_answer_is_left_unscanned(answer: Mapping[str, Any], status: int) -> None:
    async with rig(rule_only()) as one:
        one.upstream.status = status
        one.upstream.pieces = [json.dumps(answer).encode()]
        reply = await one.chat()
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, "content_policy")
        assert WORD not in reply.text


async def test_a_repeated_key_beside_an_error_is_read_too() -> None:
    async with rig(rule_only()) as one:
        choices = b'"choices":[{"index":0,"message":{"content":"FORBIDDEN"},"delta":{"content":"FORBIDDEN"}}]'
        body = b'{"error":{"m":1},"error":null,"choices":null,' + choices + b"}"
        one.upstream.pieces = [body]
        assert (await one.chat()).status_code == 400
        one.upstream.streams([b"data: " + body + b"\n\n", DONE])
        assert (await one.chat(stream=True)).status_code == 400


@pytest.mark.parametrize(
    "body", [b"<html>FORBIDDEN</html>", b'["FORBIDDEN"]', b'"FORBIDDEN"', b'{"choices":"FORBIDDEN"}']
)
async def test_an_error_of_any_form_is_scanned(body: bytes) -> None:
    async with rig(rule_only()) as one:
        one.upstream.status, one.upstream.pieces = 500, [body]
        assert (await one.chat()).status_code == 400
        one.upstream.headers["content-type"] = "text/event-stream"
        assert (await one.chat(stream=True)).status_code == 400
        one.upstream.pieces = [body.replace(b"FORBIDDEN", b"gone")]
        reply = await one.chat()
        assert (reply.status_code, reply.content) == (500, one.upstream.pieces[0])


async def test_an_errors_other_texts_are_shown_to_the_reader_and_its_own_words_are_not() -> None:
    async with rig(policy()) as one:
        one.upstream.status = 400
        one.upstream.pieces = [b'{"error": {"message": "own words", "failed_generation": "model words"}}']
        assert (await one.chat()).status_code == 400
        assert "model words" in one.reader.states[-1]
        assert "own words" not in "".join(one.reader.states)


def _delta(index: int | None = 0, **delta: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    choice = {"delta": delta} if index is None else {"index": index, "delta": delta}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}


def _calls(**call: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    return _delta(tool_calls=[{"function": call}])


SPLIT: dict[str, list[dict[str, Any]]] = {
    "choices without an index": [_delta(None, content=text, reasoning_content="hm") for text in ("FORB", "IDDEN")],
    "choices that change their index": [_delta(0, content="FO"), _delta(1, content="RB"), _delta(0, content="IDDEN")],
    "parts": [_delta(content=[{"type": "text", "text": text}]) for text in ("FORB", "IDDEN")],
    "thinking in parts": [
        _delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": text}]}])
        for text in ("FORB", "IDDEN")
    ],
    "thinking blocks": [
        _delta(content="", thinking_blocks=[{"type": "thinking", "thinking": text}]) for text in ("FORB", "IDDEN")
    ],
    "reasoning details": [
        _delta(reasoning_details=[{"type": "reasoning.text", "text": text}]) for text in ("FORB", "IDDEN")
    ],
    "tool calls without an index": [_calls(name="f", arguments='{"q":"FORB'), _calls(arguments='IDDEN"}')],
    "a field and another": [_delta(content="FORB"), {"choices": [{"index": 0, "delta": {}, "text": "IDDEN"}]}],
    "an unknown list": [{**_delta(content=""), "foo": [text]} for text in ("FORB", "IDDEN")],
    "items of an unknown list": [{**_delta(content=""), "foo": [{"a": text}]} for text in ("xFORB", "IDDEN")],
    "an identifier": [{**_delta(content=""), "id": text} for text in ("FORB", "IDDEN")],
    "an error": [_delta(content="x"), {"error": {"message": WORD}}],
    "beside an error": [{"error": {"m": 1}, "choices": [], "text": WORD}],
}


@pytest.mark.parametrize("name", SPLIT)
async def test_no_text_of_a_stream_is_left_unread_for_how_it_is_cut(name: str) -> None:
    async with rig(rule_only()) as one:
        one.upstream.streams([b"data: " + json.dumps(piece).encode() + b"\n\n" for piece in SPLIT[name]] + [DONE])
        assert (await one.chat(stream=True)).status_code == 400


async def test_a_text_of_its_own_is_not_hidden_by_the_one_before_it() -> None:
    words = policy(
        "version: 1\nname: w\nchecks: [{id: w, stage: [response], rule: regex, pattern: '\\bFORBIDDEN', block: {}}]\n"
    )
    async with rig(words) as one:
        one.upstream.streams([chunk({"annotations": [{"title": text}]}) for text in ("x", "FORBIDDEN")])
        assert (await one.chat(stream=True)).status_code == 400
        one.upstream.streams([chunk({"content": text}) for text in ("un", "FORBIDDEN")])  # one word: unFORBIDDEN
        assert (await one.chat(stream=True)).status_code == 200


@pytest.mark.parametrize(
    "lines", ["event: FORBIDDEN\n", "id: FORBIDDEN\n", "retry: FORBIDDEN\n\n", ": FORB\n\n: IDDEN\n\n", "FORBIDDEN\n\n"]
)
async def test_no_line_of_an_event_stream_is_left_unread(lines: str) -> None:
    async with rig(rule_only()) as one:
        one.upstream.streams([lines.encode(), chunk({"content": "x"}), DONE])
        assert (await one.chat(stream=True)).status_code == 400


async def test_with_several_choices_asked_for_their_texts_are_not_mixed() -> None:
    async with rig(rule_only()) as one:
        pieces = [chunk({"content": "FORB"}), chunk({"content": "IDDEN"}, index=1), chunk({"content": "!"}), DONE]
        one.upstream.streams(pieces)
        assert (await one.chat(stream=True, n=2)).status_code == 200
        assert (await one.chat(stream=True)).status_code == 400


async def test_only_headers_that_clients_act_on_are_passed_back_and_they_are_scanned() -> None:
    async with rig(rule_only()) as one:
        one.upstream.headers.update({"x-note": WORD, "x-ratelimit-remaining-tokens": "7", "openai-version": "1"})
        reply = await one.chat()
        assert reply.status_code == 200
        assert "x-note" not in reply.headers
        assert (reply.headers["x-ratelimit-remaining-tokens"], reply.headers["openai-version"]) == ("7", "1")
        one.upstream.headers["openai-organization"] = WORD
        assert (await one.chat()).status_code == 400


async def test_the_apis_own_words_are_accused_by_no_pattern() -> None:
    words = policy(
        "version: 1\nname: w\nchecks:\n  - {id: w, stage: [request, response, tool_call], rule: regex,"
        " pattern: 'tool|assistant|stop|token|completion\\.chunk|content|message', block: {}}\n"
    )
    async with rig(words) as one:
        assert (await one.chat()).status_code == 200
        one.upstream.streams([chunk({"role": "assistant", "content": "x"}), chunk({}, finish="stop"), DONE])
        assert (await one.chat(stream=True)).status_code == 200


def _body(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    return {"model": "gpt", "messages": [{"role": "user", "content": "hi"}], **fields}


def _said(**message: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    return {"model": "gpt", "messages": [{"role": "user", "content": "hi", **message}]}


REQUESTS: list[dict[str, Any]] = [
    _body(user=WORD),
    _body(metadata={"a": WORD}),
    _body(metadata={WORD: "a"}),
    _body(stop=["x", WORD]),
    _body(tool_choice={"type": "function", "function": {"name": WORD}}),
    _body(audio={"voice": WORD}),
    _body(id=WORD),
    _body(usage={"a": WORD}),
    _body(logit_bias={WORD: 1}),
    _body(seed=WORD),
    _body(zzz={WORD: 1}),
    _body(**{WORD: 1}),
    _said(id=WORD),
    _said(type=WORD),
    _said(**{WORD: 1}),
    _said(content=[{"type": "text", "text": "a", "id": WORD}]),
    _said(content=[{"type": "image_url", "image_url": {"url": f"https://x.test/?k={WORD}"}}]),
    _said(content=[{"type": "image_url", "image_url": {"url": f"data:text/plain,{WORD}"}}]),
    _said(content=[{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": WORD}}]),
    _said(content=[{"type": "file", "file": {"filename": WORD, "file_data": "AAAA"}}]),
    _said(content=[{"type": "input_audio", "input_audio": {"data": WORD, "format": "wav"}}]),
    _said(role="tool", tool_call_id=WORD),
]


@pytest.mark.parametrize("body", REQUESTS)
async def test_no_string_and_no_key_of_a_request_is_left_unscanned(body: Mapping[str, Any]) -> None:
    async with rig(rule_only()) as one:
        assert await _status(one, body) == 400
        assert one.upstream.bodies == []


async def _status(one: Rig, body: Mapping[str, Any]) -> int:
    return (await one.client.post(CHAT, json=body)).status_code


async def test_the_applications_own_part_of_a_request_is_not_accused() -> None:
    async with rig(rule_only()) as one:
        form = {"type": "json_schema", "json_schema": {"name": "x", "description": WORD}}
        functions = [{"name": "f", "description": WORD}]
        assert await _status(one, _body(response_format=form, functions=functions)) == 200


async def test_a_word_over_two_messages_is_two_messages() -> None:
    async with rig(rule_only()) as one:
        messages = [{"role": "user", "content": "FORB"}, {"role": "user", "content": "IDDEN"}]
        assert await _status(one, _body(messages=messages)) == 200
