"""`readgate ask`: questions on the command line to a running server, its answers as a table. Needs the base install."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, Final, cast

import httpx

TIMEOUT_S: Final = 30.0  # the server answers or sheds within 10; the rest is the way there


class UsageError(Exception):
    """An argument that is not what it should be."""


def ask(arguments: argparse.Namespace) -> int:
    """0 with answers, 1 when the server gave none, 2 for a question that cannot be asked."""
    try:
        questions = questions_of(arguments.predicate, arguments.choice, arguments.score)
        headers = _headers(arguments.key_env)
    except UsageError as error:
        print(f"readgate ask: {error}", file=sys.stderr)
        return 2
    body = {
        "model": "jev-latest",
        "state": sys.stdin.read() if arguments.text == "-" else arguments.text,
        "questions": questions,
        "x_readgate": {"packing": "packed" if arguments.packed else "isolated"},
    }
    try:
        reply = httpx.post(f"{arguments.url.rstrip('/')}/v1/systemone", json=body, headers=headers, timeout=TIMEOUT_S)
    except httpx.HTTPError as error:
        print(f"readgate ask: no answer from {arguments.url}: {error}", file=sys.stderr)
        return 1
    if not reply.is_success:
        print(f"readgate ask: {reply.status_code}: {reply.text}", file=sys.stderr)
        return 1
    print(reply.text if arguments.json else table(cast("dict[str, Any]", reply.json())["answers"]))
    return 0


def questions_of(
    predicates: Sequence[str], choices: Sequence[str], scores: Sequence[str]
) -> dict[str, dict[str, object]]:
    """The wire's questions, under their own texts as ids. Raises UsageError."""
    questions: dict[str, dict[str, object]] = {text: {"type": "noul", "instructions": text} for text in predicates}
    for given in choices:
        text, names = _split(given, "--choice")
        questions[text] = {"type": "choice", "instructions": text, "criteria": dict.fromkeys(names)}
    for given in scores:
        text, names = _split(given, "--score")
        questions[text] = {"type": "score", "instructions": text, "criteria": list(names)}
    if not questions:
        raise UsageError("needs at least one --predicate, --choice or --score")
    if len(questions) != len(predicates) + len(choices) + len(scores):
        raise UsageError("two questions have the same text")
    return questions


def _split(given: str, option: str) -> tuple[str, list[str]]:
    text, sign, names = given.rpartition("=")
    listed = [name.strip() for name in names.split(",")]
    if not sign or not text.strip() or not all(listed):
        raise UsageError(f"{option} needs QUESTION=A,B,..., got {given!r}")
    if len(set(listed)) != len(listed):
        raise UsageError(f"{option} {text!r}: a name is given twice")
    return text.strip(), listed


def _headers(key_env: str | None) -> dict[str, str]:
    if key_env is None:
        return {}
    key = os.environ.get(key_env)
    if not key:
        raise UsageError(f"environment variable {key_env} is not set")
    return {"authorization": f"Bearer {key}"}


def table(answers: dict[str, dict[str, Any]]) -> str:
    """One line an answer: what was asked, what came out, how sure, and how the rest spreads."""
    rows = [("question", "answer", "probability", "others"), *(_row(id_, answer) for id_, answer in answers.items())]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]).rstrip()
        for row in rows
    )


def _row(id_: str, answer: dict[str, Any]) -> tuple[str, str, str, str]:
    match answer["type"]:
        case "noul":
            yes = float(answer["noul"])
            return id_, "yes" if yes >= 0.5 else "no", f"{max(yes, 1 - yes):.3f}", ""  # noqa: PLR2004 - even odds
        case "choice":
            probabilities = cast("dict[str, float]", answer["probabilities"])
            chosen = answer["choice"]
            return id_, chosen, f"{probabilities[chosen]:.3f}", _spread(probabilities, chosen)
        case _:
            legend = cast("dict[str, str]", answer["legend"])
            probabilities = {legend[level]: prob for level, prob in answer["probabilities"].items()}
            top = max(probabilities, key=lambda name: probabilities[name])
            others = _spread(probabilities, top)
            return id_, f"{answer['score']:.2f} ({top})", f"{probabilities[top]:.3f}", others


def _spread(probabilities: dict[str, float], top: str) -> str:
    rest = sorted(((prob, name) for name, prob in probabilities.items() if name != top), reverse=True)
    return ", ".join(f"{name} {prob:.3f}" for prob, name in rest[:4])
