"""TypeSafe's and OpenAI's own clients, unchanged, against a running server."""

import io
import math
from collections.abc import Generator
from typing import Any

import openai
import pytest
from openai.types.decision import (
    AnswerAnswerResourceChoice,
    AnswerAnswerResourcePredicate,
    AnswerAnswerResourceRefusal,
    AnswerAnswerResourceScore,
)
from PIL import Image as Picture
from typesafe_sdk import AsyncTypeSafeClient, Choice, Noul, Score, TypeSafeClient

from canvas import CanvasPlan
from deployments.auth import Caller
from deployments.engines.scripted_engine import ScriptedEngine
from tests.server import Setup, serving

KEY = "made-up-key"
QUESTIONS = {
    "refund": Noul(instructions="Does the customer want money back?"),
    "team": Choice(instructions="Which team?", criteria={"billing": "Payments", "technical": None}),
    "anger": Score(instructions="How angry?", criteria=["calm", "angry", "furious"]),
}


def mostly_first(plan: CanvasPlan) -> list[list[float]]:
    """0.6 on the first option, 0.3 spread over the others, 0.1 off the labels."""
    return [[0.6] + [0.3 / (len(slot.label_ids) - 1)] * (len(slot.label_ids) - 1) for slot in plan.slots]


def typesafe(url: str, key: str = KEY) -> Any:  # noqa: ANN401 - the SDK's recursive JSON type is beyond strict checking
    return TypeSafeClient(api_key=key, base_url=url)


@pytest.fixture(scope="module")
def url() -> Generator[str]:
    with serving(Setup(engine=ScriptedEngine(script=mostly_first), keys={Caller("acme"): KEY})) as base:
        yield base


@pytest.mark.parametrize("state", ["I was charged twice.", "long enough for zstd " * 200], ids=["plain", "zstd"])
def test_the_typesafe_client_parses_every_answer(url: str, state: str) -> None:
    with typesafe(url) as client:
        reply = client.system_one(state=state, questions=QUESTIONS)
    assert reply.nouls["refund"].noul == pytest.approx(2 / 3)
    assert reply.choices["team"].choice == "billing"
    assert reply.choices["team"].confidence == pytest.approx(1 / 3)
    assert reply.scores["anger"].score == pytest.approx(1 / 6 + 2 / 6)
    assert reply.request_id


async def test_the_async_typesafe_client_parses_every_answer(url: str) -> None:
    made: Any = AsyncTypeSafeClient(api_key=KEY, base_url=url)
    async with made as client:
        reply = await client.system_one(state={"subject": "Charged twice"}, questions=QUESTIONS)
    assert set(reply.answers) == set(QUESTIONS)


def test_a_wrong_key_is_the_typesafe_clients_authentication_error(url: str) -> None:
    from typesafe_sdk import TypeSafeAuthenticationError  # noqa: PLC0415 - named where it is expected

    with typesafe(url, "nope") as client, pytest.raises(TypeSafeAuthenticationError):
        client.system_one(state="x", questions=QUESTIONS)


def openai_client(url: str) -> openai.OpenAI:
    return openai.OpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0)


WIRE_QUESTIONS: list[Any] = [
    {"type": "predicate", "name": "refund", "instructions": "The customer wants money back."},
    {"type": "choice", "instructions": "Paid?", "choices": [{"value": True}, {"value": "true"}, {"value": False}]},
    {"type": "score", "name": "anger", "instructions": "How angry?", "levels": [{"label": "calm"}, {"label": "angry"}]},
]
CONVERSATION: list[Any] = [
    {"role": "system", "content": "You are a support agent."},
    {
        "role": "user",
        "content": [{"type": "input_text", "text": "Hi"}, {"type": "input_json", "data": {"plan": "pro"}}],
    },
    {"role": "assistant", "content": [{"type": "output_text", "text": "Hello"}, {"type": "refusal", "refusal": "No."}]},
    {"type": "function_call", "call_id": "c1", "name": "lookup", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "found"}]},
]


@pytest.mark.parametrize("given", ["I was charged twice.", CONVERSATION], ids=["text", "conversation"])
def test_the_openai_client_parses_ordered_answers(url: str, given: Any) -> None:  # noqa: ANN401 - the SDK's own union
    decision = openai_client(url).decisions.create(model="scripted", input=given, questions=WIRE_QUESTIONS)
    predicate, choice, score = decision.answers
    assert isinstance(predicate, AnswerAnswerResourcePredicate)
    assert predicate.probability == pytest.approx(2 / 3)
    assert isinstance(choice, AnswerAnswerResourceChoice)
    assert choice.choice is True
    assert [entry.value for entry in choice.probabilities] == [True, "true", False]
    assert choice.name is None
    assert isinstance(score, AnswerAnswerResourceScore)
    assert [(entry.value, entry.label) for entry in score.probabilities] == [(0, "calm"), (1, "angry")]
    assert decision.usage.total_tokens == decision.usage.input_tokens + decision.usage.output_tokens


async def test_the_async_openai_client_parses_answers(url: str) -> None:
    async with openai.AsyncOpenAI(api_key=KEY, base_url=f"{url}/v1") as client:
        decision = await client.decisions.create(model="scripted", input="x", questions=WIRE_QUESTIONS)
    assert len(decision.answers) == 3


def test_labels_without_mass_are_a_refusal_and_others_are_answered() -> None:
    def split(plan: CanvasPlan) -> list[list[float]]:
        few = len(plan.slots[0].label_ids) == 2
        return [[0.01 if few else 0.3] * len(slot.label_ids) for slot in plan.slots]

    with serving(Setup(engine=ScriptedEngine(script=split), min_label_mass=0.05)) as url:
        decision = openai_client(url).decisions.create(model="scripted", input="x", questions=WIRE_QUESTIONS[:2])
    assert isinstance(decision.answers[0], AnswerAnswerResourceRefusal)
    assert decision.answers[0].name == "refund"
    assert isinstance(decision.answers[1], AnswerAnswerResourceChoice)


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"questions": [{"type": "choice", "instructions": "?", "choices": [{"value": "a"}]}]}, "questions[0].choices"),
        ({"questions": [{"type": "predicate", "instructions": "?", "extra": 1}]}, "questions[0].extra"),
        ({"input": [{"role": "user", "content": [{"type": "input_text"}]}]}, "input[0].content[0].text"),
        ({"input": CONVERSATION[-1:]}, "input[0].call_id"),
        ({"input": []}, "input"),
        (
            {
                "input": [
                    {"role": "user", "content": [{"type": "input_image", "image_url": "https://example.org/a.png"}]}
                ]
            },
            "input[0].content[0].image_url",
        ),
        (
            {"questions": [{"type": "choice", "instructions": "?", "choices": [{"value": "a"}] * 2}]},
            "questions[0].choices",
        ),
    ],
)
def test_a_bad_request_names_its_param(url: str, change: dict[str, Any], param: str) -> None:
    request: dict[str, Any] = {"model": "scripted", "input": "x", "questions": WIRE_QUESTIONS, **change}
    with pytest.raises(openai.BadRequestError) as caught:
        openai_client(url).decisions.create(**request)
    assert caught.value.param == param
    assert caught.value.type == "invalid_request_error"


def test_an_unknown_model_is_openais_not_found(url: str) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        openai_client(url).decisions.create(model="nope", input="x", questions=WIRE_QUESTIONS)
    assert caught.value.code == "model_not_found"


def test_a_missing_key_is_openais_authentication_error(url: str) -> None:
    client = openai.OpenAI(api_key="wrong", base_url=f"{url}/v1", max_retries=0)
    with pytest.raises(openai.AuthenticationError):
        client.decisions.create(model="scripted", input="x", questions=WIRE_QUESTIONS)


def test_the_openai_client_lists_models(url: str) -> None:
    assert "jev-latest" in [model.id for model in openai_client(url).models.list()]


def picture() -> bytes:
    out = io.BytesIO()
    Picture.new("RGB", (32, 32), "red").save(out, "PNG")
    return out.getvalue()


def test_images_of_the_typesafe_client_reach_the_engine_in_their_places() -> None:
    from typesafe_sdk import Image  # noqa: PLC0415 - used here alone

    seen: list[CanvasPlan] = []

    def watch(plan: CanvasPlan) -> list[list[float]]:
        seen.append(plan)
        return mostly_first(plan)

    with (
        serving(Setup(engine=ScriptedEngine(script=watch))) as url,
        typesafe(url) as client,
    ):
        state: Any = {"before": Image(picture()), "after": Image(picture())}
        reply = client.system_one(state=state, questions={"q": Noul(instructions="Did it change?")})
    assert [image.media_type for image in seen[0].images] == ["image/png", "image/png"]
    assert seen[0].images[0].data == picture()
    assert math.isclose(reply.nouls["q"].noul, 2 / 3)
