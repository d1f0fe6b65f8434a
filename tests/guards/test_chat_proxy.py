import asyncio
import json
from typing import Any

import httpx
import pytest

from canvas import InvalidQuestion, InvalidRead, InvalidState
from guards.reader import ReadFailed
from tests.guards.fakes import DONE, USAGE_CHUNK, chunk, completion, stream_of
from tests.guards.policies import FULL, policy, rule_only
from tests.guards.rig import CHAT, rig

TOOL_CALL = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": '{"q":"FORBIDDEN"}'}}


def _user(content: object) -> dict[str, Any]:
    return {"role": "user", "content": content}


async def test_a_clean_answer_is_the_upstreams_byte_for_byte() -> None:
    async with rig(policy()) as one:
        one.upstream.pieces = [b' {"x_unknown": 1.50,\n "choices":[{"message":{"content":"Caf\\u00e9"}}] }\n']
        reply = await one.chat(unknown_field={"a": 1})
        assert reply.status_code == 200
        assert reply.content == one.upstream.pieces[0]
        assert reply.headers["x-readgate-policy"] == "full"
        assert reply.headers["x-readgate-verdict"] == "pass"
        assert (
            reply.headers["x-readgate-checks"]
            == "injection=0.000, topic=0.000, codename=0, harm=0.000, codename=0, secrets=0"
        )
        assert float(reply.headers["x-readgate-ms"]) >= 0


async def test_the_request_reaches_the_upstream_byte_for_byte_with_the_upstreams_own_key() -> None:
    async with rig(policy()) as one:
        body = b'{ "model":"gpt", "top_k": 3, "messages":[{"role":"user","content":"h\\u00e9"}] }'
        await one.client.post(CHAT, content=body, headers={"authorization": "Bearer ours", "traceparent": "00-1"})
        assert one.upstream.bodies == [body]
        assert one.upstream.request_headers[0]["authorization"] == "Bearer upstream-key"
        assert one.upstream.request_headers[0]["traceparent"] == "00-1"


async def test_only_the_models_name_is_changed_where_the_upstreams_differs() -> None:
    async with rig(policy(), model="big-model") as one:
        await one.chat(extra=[1, "é"])
        sent = json.loads(one.upstream.bodies[0])
        assert sent == {"model": "big-model", "messages": [{"role": "user", "content": "Hello"}], "extra": [1, "é"]}


async def test_a_stream_passes_byte_for_byte_with_its_usage_chunk() -> None:
    async with rig(policy()) as one:
        sent = stream_of("Hel", "lo").replace(DONE, USAGE_CHUNK + DONE)
        one.upstream.streams([sent[:7], sent[7:60], sent[60:]])
        reply = await one.chat(stream=True, stream_options={"include_usage": True})
        assert reply.content == sent
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert reply.headers["x-readgate-verdict"] == "pass"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_blocked_request_is_an_http_error_and_never_reaches_the_upstream(*, stream: bool) -> None:
    async with rig(policy()) as one:
        one.reader.probs["injection"] = (0.9, 0.1)
        reply = await one.chat(stream=stream)
        assert reply.status_code == 400
        assert reply.headers["content-type"] == "application/json"
        assert reply.headers["x-readgate-verdict"] == "block"
        error = reply.json()["error"]
        assert (error["type"], error["code"], error["param"]) == ("invalid_request_error", "content_policy", None)
        assert error["readgate"] == {
            "policy": "full",
            "stage": "request",
            "checks": [{"id": "injection", "probability": 0.9, "action": "block", "threshold": 0.85}],
        }
        assert one.upstream.bodies == []


@pytest.mark.parametrize("stream", [False, True])
async def test_a_blocked_answer_is_an_http_error_without_any_of_its_text(*, stream: bool) -> None:
    async with rig(policy()) as one:
        if stream:
            one.upstream.streams([stream_of("It is PROJ", "ECT-AURA7 indeed")])
        else:
            one.upstream.says("It is PROJECT-AURA7 indeed")
        reply = await one.chat(stream=stream)
        assert reply.status_code == 400
        assert b"AURA" not in reply.content
        assert reply.json()["error"]["readgate"]["stage"] == "response"
        assert reply.json()["error"]["readgate"]["checks"][0]["spans"][0]["kind"] == "codename"


async def test_a_flag_passes_the_answer_and_says_so() -> None:
    async with rig(policy()) as one:
        one.reader.probs["injection"] = (0.6, 0.4)
        reply = await one.chat()
        assert reply.status_code == 200
        assert reply.headers["x-readgate-verdict"] == "flag"


async def test_a_refusal_of_a_request_is_a_normal_answer_with_the_usage_of_no_generation() -> None:
    async with rig(rule_only(blocked="{as: refusal, message: No.}")) as one:
        reply = (await one.chat("FORBIDDEN", n=2)).json()
        assert [choice["message"]["content"] for choice in reply["choices"]] == ["No.", "No."]
        assert {choice["finish_reason"] for choice in reply["choices"]} == {"content_filter"}
        assert reply["usage"]["total_tokens"] == 0


async def test_a_refusal_of_an_answer_has_the_upstreams_usage_and_none_of_its_text() -> None:
    async with rig(rule_only(blocked="{as: refusal, message: No.}")) as one:
        one.upstream.says("FORBIDDEN word")
        reply = await one.chat()
        assert reply.json()["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
        assert b"word" not in reply.content


async def test_a_streamed_refusal_ends_by_content_filter_usage_and_done() -> None:
    async with rig(rule_only(blocked="{as: refusal, message: No.}")) as one:
        one.upstream.streams([stream_of("FORBIDDEN").replace(DONE, USAGE_CHUNK + DONE)])
        reply = await one.chat(stream=True, stream_options={"include_usage": True})
        events = reply.text.strip().split("\n\n")
        assert events[-1] == "data: [DONE]"
        chunks = [json.loads(event.removeprefix("data: ")) for event in events[:-1]]
        assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": "No."}
        assert chunks[1]["choices"][0]["finish_reason"] == "content_filter"
        assert chunks[2]["usage"]["completion_tokens"] == 4
        without = await one.chat(stream=True)
        assert "usage" not in without.text


async def test_every_choice_of_n_is_read() -> None:
    async with rig(rule_only()) as one:
        one.upstream.says("fine", "fine", "FORBIDDEN")
        assert (await one.chat(n=3)).status_code == 400
        one.upstream.streams(
            [chunk({"content": "ok"}), chunk({"content": "FORB"}, index=1), chunk({"content": "IDDEN"}, index=1), DONE]
        )
        assert (await one.chat(n=2, stream=True)).status_code == 400


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "tool_calls": [TOOL_CALL]},
        {"content": None, "tool_calls": [{"id": "1", "type": "custom", "custom": {"name": "x", "input": "FORBIDDEN"}}]},
        {"content": None, "tool_calls": [{"type": "builtin_search", "query": "FORBIDDEN"}]},
        {"content": None, "function_call": {"name": "FORBIDDEN", "arguments": "{}"}},
        {"content": None, "tool_calls": [{"function": {"name": "f", "arguments": '{"q": "\\u0046ORBIDDEN"}'}}]},
        {"content": "x", "reasoning_content": "FORBIDDEN"},
        {"content": "x", "reasoning": "FORBIDDEN"},
        {"content": None, "refusal": "FORBIDDEN"},
        {"content": "x", "annotations": [{"type": "url", "title": "FORBIDDEN"}]},
        {"content": "x", "x_new_field": {"deep": ["FORBIDDEN"]}},
        {"content": [{"type": "text", "text": "FORBIDDEN"}]},
        {"content": [{"type": "text", "text": "FORB"}, {"type": "text", "text": "IDDEN"}]},
        {"content": "FORB\u200bIDDEN"},
        {"content": "ＦＯＲＢＩＤＤＥＮ"},  # noqa: RUF001
        {"content": "FОRВIDDЕN"},  # noqa: RUF001 (three letters of it are Cyrillic)
        {"content": "\u202eFORBIDDEN"},
        {"content": "x" * 30_000 + "FORBIDDEN" + "y" * 30_000},
    ],
)
async def test_no_text_of_an_answer_is_left_unread(message: dict[str, Any]) -> None:
    async with rig(rule_only()) as one:
        answer = completion("x")
        answer["choices"][0]["message"] = {"role": "assistant", **message}
        one.upstream.pieces = [json.dumps(answer).encode()]
        assert (await one.chat()).status_code == 400
        delta = {"role": "assistant", **message}
        one.upstream.streams([chunk(delta), chunk({}, finish="stop"), DONE])
        assert (await one.chat(stream=True)).status_code == 400


async def test_a_second_value_of_a_key_is_read_too() -> None:
    async with rig(rule_only()) as one:
        one.upstream.pieces = [b'{"choices":[{"message":{"content":"FORBIDDEN","content":"fine"}}]}']
        assert (await one.chat()).status_code == 400


@pytest.mark.parametrize(
    "messages",
    [
        [_user([{"type": "text", "text": "FORBIDDEN"}])],
        [{"role": "user", "content": "hi", "name": "FORBIDDEN"}],
        [_user("hi"), {"role": "tool", "tool_call_id": "1", "content": "FORBIDDEN"}],
        [_user("hi"), {"role": "function", "name": "f", "content": "FORBIDDEN"}],
        [_user("FORBIDDEN"), {"role": "assistant", "content": "no"}, _user("hi")],
        [_user("hi"), {"role": "assistant", "content": "FORBIDDEN"}, _user("go")],
        [_user("hi"), {"role": "assistant", "content": "FORBIDDEN"}],
        [_user("hi"), {"role": "assistant", "content": None, "tool_calls": [TOOL_CALL]}, _user("go")],
        [{"role": "system", "content": "FORBIDDEN"}],
        [_user([{"type": "new_part", "payload": "FORBIDDEN"}])],
        [{"role": "user", "content": "hi", "new_field": ["FORBIDDEN"]}],
    ],
)
async def test_no_text_of_a_request_is_left_unread(messages: list[dict[str, Any]]) -> None:
    async with rig(rule_only()) as one:
        reply = await one.client.post(CHAT, json={"model": "gpt", "messages": messages})
        assert reply.status_code == 400
        assert one.upstream.bodies == []


async def test_an_unknown_field_of_a_request_with_text_is_judged() -> None:
    async with rig(rule_only()) as one:
        assert (await one.chat(documents=[{"text": "FORBIDDEN"}])).status_code == 400
        assert (await one.chat(prediction={"type": "content", "content": "FORBIDDEN"})).status_code == 400


async def test_system_text_and_tool_definitions_are_context_and_not_accused() -> None:
    async with rig(rule_only()) as one:
        messages = [{"role": "system", "content": "Never say FORBIDDEN"}, {"role": "user", "content": "hi"}]
        tools = [{"type": "function", "function": {"name": "f", "description": "FORBIDDEN"}}]
        reply = await one.client.post(CHAT, json={"model": "gpt", "messages": messages, "tools": tools})
        assert reply.status_code == 200


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"", None),
        (b"[]", None),
        (b"{", None),
        (b'{"model":"gpt"}', "messages"),
        (b'{"model":"gpt","messages":[]}', "messages"),
        (b'{"model":"gpt","messages":{"role":"user"}}', "messages"),
        (b'{"model":"gpt","messages":["hi"]}', "messages[0]"),
        (b'{"model":"gpt","messages":[{"content":"x"}]}', "messages[0].role"),
        (b'{"model":"gpt","messages":[{"role":"User","content":"x"}]}', "messages[0].role"),
        (b'{"model":"gpt","messages":[{"role":"user","content":3}]}', "messages[0]"),
        (b'{"model":"gpt","messages":[{"role":"user","content":["x"]}]}', "messages[0]"),
        (b'{"model":"gpt","messages":[{"role":"user","content":[{}]}]}', "messages[0]"),
        (b'{"model":"gpt","messages":[{"role":"user","content":[{"type":3}]}]}', "messages[0]"),
        (
            b'{"model":"gpt","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,\xc3\xa9"}}]}]}',
            "messages[0]",
        ),
        (b'{"model":"gpt","messages":[{"role":"assistant","tool_calls":"x"}]}', "messages[0]"),
        (b'{"model":"gpt","messages":[{"role":"user","content":"a","content":"b"}]}', None),
        (b'{"model":"gpt","messages":[{"role":"user","content":"a"}],"stream":"yes"}', "stream"),
        (b'{"model":"gpt","messages":[{"role":"user","content":"a"}],"n":0}', "n"),
        (b'{"model":3,"messages":[{"role":"user","content":"a"}]}', "model"),
        (b'{"model":"gpt","temperature":NaN,"messages":[{"role":"user","content":"a"}]}', None),
        (b'{"model":"gpt","messages":' + b"[" * 5000, None),
        (b'{"model":"gpt","messages":[{"role":"user","content":"\xff"}]}', None),
    ],
)
async def test_a_body_in_which_text_could_hide_is_a_400_that_names_the_field(body: bytes, param: str | None) -> None:
    async with rig(policy()) as one:
        reply = await one.client.post(CHAT, content=body)
        assert reply.status_code == 400
        assert reply.json()["error"]["param"] == param
        assert reply.json()["error"]["message"]
        assert one.upstream.bodies == []


@pytest.mark.parametrize("content", [None, "", "   ", []])
async def test_empty_content_passes_without_a_claim_that_a_read_ran(content: object) -> None:
    async with rig(policy()) as one:
        one.upstream.says("")
        reply = await one.chat(content)
        assert reply.status_code == 200
        assert "x-readgate-checks" not in reply.headers
        assert reply.headers["x-readgate-verdict"] == "none"
        assert one.reader.states == []


@pytest.mark.parametrize(
    "error",
    [
        ReadFailed("gone"),
        InvalidRead("bad rows"),
        InvalidQuestion("q", "no"),
        RuntimeError("bug"),
        OSError("x"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_request_that_could_not_be_read_is_a_503_that_clients_do_not_retry(
    error: Exception, *, stream: bool
) -> None:
    async with rig(policy()) as one:
        one.reader.error = error
        reply = await one.chat(stream=stream)
        assert reply.status_code == 503
        assert reply.headers["x-should-retry"] == "false"
        assert reply.headers["x-readgate-verdict"] == "block"
        assert reply.headers.get("x-readgate-checks") == "codename=0"
        assert reply.json()["error"]["code"] == "guard_unavailable"
        assert one.upstream.bodies == []


async def test_a_slow_read_is_not_waited_for_beyond_the_policys_timeout() -> None:
    async with rig(policy(FULL, timeout_s="0.02")) as one:
        one.reader.delay_s = 30
        reply = await one.chat()
        assert reply.status_code == 503
        assert "not read within 0.02 s" in reply.text
        assert one.reader.cancelled == 1


async def test_on_error_allow_passes_and_says_that_it_was_not_read() -> None:
    async with rig(policy(FULL, on_error="allow")) as one:
        one.reader.error = ReadFailed("gone")
        reply = await one.chat()
        assert reply.status_code == 200
        assert reply.headers["x-readgate-verdict"] == "unread"
        assert "injection" not in reply.headers["x-readgate-checks"]


@pytest.mark.parametrize("stream", [False, True])
async def test_an_upstreams_error_passes_as_itself(*, stream: bool) -> None:
    async with rig(policy()) as one:
        one.upstream.status = 429
        one.upstream.headers = {"content-type": "application/json", "retry-after": "7", "x-request-id": "up-1"}
        one.upstream.pieces = [b'{"error": {"message": "slow down", "type": "rate_limit"}}']
        reply = await one.chat(stream=stream)
        assert reply.status_code == 429
        assert reply.content == one.upstream.pieces[0]
        assert reply.headers["retry-after"] == "7"
        assert reply.headers["x-upstream-request-id"] == "up-1"


async def test_an_error_event_of_the_upstream_passes_and_is_not_read_as_a_models_text() -> None:
    async with rig(policy()) as one:
        sent = chunk({"content": "a"}) + b'data: {"error": {"message": "overloaded"}}\n\n'
        one.upstream.streams([sent])
        reply = await one.chat(stream=True)
        assert reply.content == sent
        assert "overloaded" not in "".join(one.reader.states)


@pytest.mark.parametrize("pieces", [[b"data: {not json}\n\n"], [b"data: 3\n\n"], [b"data: \xff\xfe\n\n"]])
async def test_a_stream_that_cannot_be_taken_apart_is_not_let_through(pieces: list[bytes]) -> None:
    async with rig(policy()) as one:
        one.upstream.streams(pieces)
        reply = await one.chat(stream=True)
        assert reply.status_code == 503
        assert reply.headers["x-should-retry"] == "false"


async def test_an_answer_that_cannot_be_taken_apart_is_allowed_only_by_on_error_and_said_to_be_unread() -> None:
    async with rig(policy(FULL, on_error="allow")) as one:
        one.upstream.pieces = [b"not json"]
        reply = await one.chat()
        assert reply.content == b"not json"
        assert reply.headers["x-readgate-verdict"] == "unread"


async def test_a_response_is_judged_with_its_prompt_before_it() -> None:
    async with rig(policy()) as one:
        await one.chat("What is two plus two?")
        assert one.reader.states[1] == "[user, context]\n| What is two plus two?\n[assistant, judged]\n| Hello there.\n"


async def test_a_policy_is_chosen_by_header_and_an_unknown_or_forbidden_one_is_an_error() -> None:
    async with rig(policy(), rule_only(), allowed=frozenset({"words"})) as one:
        assert (await one.chat()).headers["x-readgate-policy"] == "full"
        assert (await one.chat(headers={"x-readgate-policy": "words"})).headers["x-readgate-policy"] == "words"
        for name in ("full", "wordz"):
            reply = await one.chat(headers={"x-readgate-policy": name})
            assert reply.status_code == 400
            assert reply.json()["error"]["code"] == "unknown_policy"


async def test_an_unknown_model_is_a_404_that_names_the_known_ones() -> None:
    async with rig(policy()) as one:
        reply = await one.chat(model="gtp")
        assert reply.status_code == 404
        assert reply.json()["error"] == {
            "message": "no upstream serves the model 'gtp'; known: gpt",
            "type": "invalid_request_error",
            "param": "model",
            "code": "model_not_found",
        }


async def test_a_stream_whose_answer_no_check_judges_is_passed_on_while_it_is_spoken() -> None:
    async with rig(rule_only("request")) as one:
        piece = chunk({"content": "FORBIDDEN"})
        one.upstream.streams([piece] * 500)
        one.upstream.wait_s = 0.05
        body = {"model": "gpt", "messages": [{"role": "user", "content": "x"}], "stream": True}
        async with one.client.stream("POST", CHAT, json=body) as reply:
            assert reply.headers["x-readgate-verdict"] == "pass"
            assert await anext(reply.aiter_raw()) == piece
            assert not one.upstream.left.is_set()
        await asyncio.wait_for(one.upstream.left.wait(), 10)


async def test_a_relayed_stream_that_breaks_off_ends_with_an_error_event() -> None:
    async with rig(rule_only("request"), keep_alive_s=0.02) as one:
        one.upstream.streams([chunk({"content": "a"}), b'data: {"cho'])
        one.upstream.headers["content-length"] = "900"
        one.upstream.wait_s = 0.05
        reply = await one.chat(stream=True)
        assert reply.content.startswith(chunk({"content": "a"}) + b'data: {"cho\n\ndata: {"error":')
        assert reply.content.endswith(b"\n\ndata: [DONE]\n\n")


async def test_an_error_for_a_stream_that_no_check_judges_keeps_its_status() -> None:
    async with rig(rule_only("request")) as one:
        one.upstream.streams([b'data: {"error": {"message": "slow down"}}\n\n'])
        one.upstream.status = 429
        assert (await one.chat(stream=True)).status_code == 429


async def test_an_upstreams_own_verdict_does_not_pass_for_ours() -> None:
    async with rig(rule_only("request")) as one:
        one.upstream.headers = {"content-type": "application/json", "X-Readgate-Checks": "everything=0.000"}
        reply = await one.chat("")
        assert "x-readgate-checks" not in reply.headers


async def test_while_a_stream_is_held_comments_keep_it_alive_and_a_late_block_is_an_error_event() -> None:
    async with rig(rule_only(), keep_alive_s=0.02) as one:
        one.upstream.streams([chunk({"content": "FORB"}), chunk({"content": "IDDEN"}), DONE])
        one.upstream.wait_s = 0.05
        reply = await one.chat(stream=True)
        assert reply.status_code == 200
        assert reply.text.startswith(": keep-alive\n\n")
        assert reply.text.endswith("data: [DONE]\n\n")
        assert '"code":"content_policy"' in reply.text
        assert "FORB" not in reply.text.replace("FORBIDDEN", "") or "IDDEN" not in reply.text


async def test_while_a_stream_is_held_a_late_pass_is_the_upstreams_bytes() -> None:
    async with rig(policy(), keep_alive_s=0.02) as one:
        sent = stream_of("Hello")
        one.upstream.streams([sent[:50], sent[50:]])
        one.upstream.wait_s = 0.05
        reply = await one.chat(stream=True)
        assert reply.content.replace(b": keep-alive\n\n", b"") == sent


@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_leaves_cancels_the_upstream(*, stream: bool) -> None:
    async with rig(policy()) as one:
        one.upstream.streams([chunk({"content": "a"})] * 500)
        one.upstream.wait_s = 0.05
        with pytest.raises(httpx.ReadTimeout):
            await one.client.post(
                CHAT,
                json={"model": "gpt", "messages": [{"role": "user", "content": "x"}], "stream": stream},
                timeout=0.3,
            )
        await asyncio.wait_for(one.upstream.left.wait(), 10)


async def test_a_client_that_leaves_cancels_the_read() -> None:
    async with rig(policy(FULL, timeout_s="60")) as one:
        one.reader.delay_s = 60
        with pytest.raises(httpx.ReadTimeout):
            await one.client.post(
                CHAT, json={"model": "gpt", "messages": [{"role": "user", "content": "x"}]}, timeout=0.3
            )
        async with asyncio.timeout(10):
            while not one.reader.cancelled:  # noqa: ASYNC110 (the fake counts, it does not signal)
                await asyncio.sleep(0.01)
        assert one.upstream.bodies == []


async def test_concurrent_streams_do_not_mix_their_texts() -> None:
    async with rig(rule_only()) as one:
        replies = await asyncio.gather(
            *(one.chat(f"number {i}" if i % 2 else f"FORBIDDEN {i}", stream=True) for i in range(20))
        )
        assert [reply.status_code for reply in replies] == [400, 200] * 10


async def test_after_a_block_the_next_clean_turn_passes() -> None:
    async with rig(rule_only()) as one:
        assert (await one.chat("FORBIDDEN")).status_code == 400
        assert (await one.chat("fine")).status_code == 200


async def test_each_verdict_leaves_one_audit_line_without_the_text() -> None:
    async with rig(policy()) as one:
        one.upstream.says("PROJECT-AURA7")
        await one.chat("Tell me", headers={"x-request-id": "r-1"})
        request, response = one.audit.records
        assert (request["stage"], request["verdict"]) == ("request", "pass")
        assert (response["stage"], response["verdict"], response["request_id"]) == ("response", "block", "r-1")
        assert response["policy_hash"] == policy().hash
        assert response["tenant"] == "tests"
        assert "AURA" not in json.dumps(one.audit.records)
        assert len(one.meter.verdicts) == 2


async def test_an_audit_line_that_cannot_be_written_is_counted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with rig(policy()) as one:
        one.audit.error = OSError("disk full")
        assert (await one.chat()).status_code == 200
        assert one.meter.lost == 2
        assert "could not be written" in caplog.text


async def test_a_picture_is_shown_to_the_reader_or_named_as_unseen() -> None:
    async with rig(policy()) as one:
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
        assert (await one.chat([{"type": "text", "text": "What is this?"}, picture])).status_code == 200
        remote = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
        reply = await one.chat([{"type": "text", "text": "What is this?"}, remote])
        assert reply.status_code == 400  # the same message would never be read: it is the caller's to change
        assert reply.json()["error"]["code"] == "content_unreadable"
        assert "could not see an image" in reply.json()["error"]["message"]
        one.reader.error = InvalidState("state: has 1 images, and the model takes none")
        assert (await one.chat([picture])).status_code == 400


async def test_an_upstream_that_cannot_be_reached_is_a_502_that_says_so() -> None:
    async with rig(policy()) as one:
        one.upstream.headers = {"content-type": "application/json", "content-length": "900"}
        one.upstream.pieces = [b'{"choices":']
        reply = await one.chat()
        assert reply.status_code == 502
        assert reply.headers["x-readgate-verdict"] == "none"
        assert reply.json()["error"]["code"] == "upstream_failed"


@pytest.mark.parametrize("status", [301, 302, 304, 307])
async def test_an_upstream_that_redirects_is_a_502_and_nothing_of_it_is_passed_on(status: int) -> None:
    async with rig(rule_only("request")) as one:
        one.upstream.status = status
        one.upstream.headers = {"content-type": "text/event-stream", "location": "http://127.0.0.1/FORBIDDEN"}
        reply = await one.chat(stream=True)
        assert reply.status_code == 502
        assert "location" not in reply.headers
        assert str(status) in reply.json()["error"]["message"]


async def test_a_busy_reader_says_when_to_come_back_and_clients_do_not_retry_by_themselves() -> None:
    class Busy(ReadFailed):
        retry_after_s = 2.5

    async with rig(policy()) as one:
        one.reader.error = Busy("64 canvases are waiting")
        reply = await one.chat()
        assert reply.status_code == 503
        assert (reply.headers["retry-after"], reply.headers["x-should-retry"]) == ("3", "false")
        assert reply.json()["error"]["message"].startswith("The guard is busy")


async def test_a_policy_of_rules_alone_says_what_it_could_not_see() -> None:
    async with rig(rule_only()) as one:
        sound = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
        reply = await one.chat([sound, picture])
        assert reply.status_code == 200
        assert (
            reply.headers["x-readgate-unseen"]
            == "input_audio in messages[0].content[0], an image in messages[0].content[1]"
        )
        assert "unseen" in one.audit.records[0]["findings"][0]
    async with rig(policy()) as one:
        assert "x-readgate-unseen" not in (await one.chat([picture])).headers
