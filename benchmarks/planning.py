"""What planning costs: CPU per request with the question set known, and how it grows with questions.

    python benchmarks/planning.py

Baseline in the same run: encoding the whole prompt as one text with the same tokenizer, which is what a server does
that renders and tokenises per request.
"""

import sys
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.record import record, summary
from canvas import ModelCard, Planner, Predicate, ReadOptions, State
from deployments.engines.tokenizer import load_tokenizer

MODEL: Final = Path(__file__).parents[1] / "deployments" / "embedded" / "model"
STATE_WORDS: Final = 200  # about 300 tokens with the embedded vocabulary
RUNS: Final = 200


def main() -> None:
    """Time warm plans of 1 to 170 questions, packed on 256-wide canvases."""
    tokenizer = load_tokenizer(MODEL)
    card = ModelCard("bench", "0", tokenizer.vocab_size, canvas_tokens=256, context_tokens=32768)
    planner = Planner(tokenizer, card)
    rows: list[dict[str, object]] = []
    for count in (1, 12, 42, 85, 170):
        questions = tuple(Predicate(f"q{i}", f"Does the text mention subject number {i}?") for i in range(count))
        planning: list[float] = []
        encoding: list[float] = []
        canvases = 0
        for run in range(RUNS):
            state = State((f"run {run} " + "the customer wants a refund today " * (STATE_WORDS // 6),))
            start = time.process_time()
            rounds = planner.read(state, questions, ReadOptions(packing="packed"))
            plans = next(rounds)
            planning.append((time.process_time() - start) * 1e3)
            rounds.close()
            canvases = len(plans)
            whole = state.text + "\n".join(question.instructions for question in questions)
            start = time.process_time()
            tokenizer.encode(whole)
            encoding.append((time.process_time() - start) * 1e3)
        warm, base = summary(planning[RUNS // 10 :]), summary(encoding[RUNS // 10 :])
        rows.append(
            {
                "questions": count,
                "canvases": canvases,
                "plan CPU-ms (median)": warm["median"],
                "encode whole prompt CPU-ms": base["median"],
                "ratio": round(warm["median"] / base["median"], 2),
            }
        )
    capacity = planner.capacity(Predicate("q", "Is it so?"))
    record(
        "planning",
        question="CPU-ms to plan one packed read of an unseen state of about 300 tokens, question set known.",
        rows=rows,
        notes=[f"A 256-wide canvas holds {capacity} yes/no questions of the real template."],
    )


if __name__ == "__main__":
    main()
