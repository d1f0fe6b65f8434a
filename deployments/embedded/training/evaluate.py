"""Ask a trained network the dev split in the examination's wordings, and write every prediction.

python -m deployments.embedded.training.evaluate DATA TOKENIZER.json AVERAGE.pt OUT.jsonl.gz --size small
"""

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import torch

from deployments.embedded.lessons.examination import Mark, examine
from deployments.embedded.lessons.pages import Document, Page, batch
from deployments.embedded.lessons.rows import read_rows
from deployments.embedded.training.checkpoint import SIZES, new_model
from deployments.embedded.training.dense_experts import use_dense_experts
from deployments.embedded.training.feed import planner_of
from deployments.embedded.training.network import Network

PAGE_TOKENS = 4096  # the longest state with every check asked three times


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Predictions on the dev split.")
    for name in ("data", "tokenizer", "weights", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--size", choices=sorted(SIZES), default="small")
    parser.add_argument("--most", type=int, default=0, help="rows, drawn at random; 0 for all")
    chosen = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = use_dense_experts(new_model(SIZES[chosen.size]))
    model.config._attn_implementation = "sdpa"  # noqa: SLF001 -- as from_pretrained sets it
    model.config.text_config._attn_implementation = "sdpa"  # noqa: SLF001
    model.load_state_dict(torch.load(chosen.weights))
    network = Network(model.float()).to(device).eval()
    planner, vocab_size = planner_of(chosen.tokenizer)
    rows = [row for row in read_rows(chosen.data) if row.is_dev]
    if chosen.most:
        rows = Random(0).sample(rows, chosen.most)  # noqa: S311 -- a sample, not a secret
    rows.sort(key=lambda row: len(row.prompt) + len(row.context) + len(row.reply))
    with gzip.open(chosen.out, "wt") as lines:
        for pages, marks in grouped(examine(planner, vocab_size, rows), 8):
            for mark, yes, mass in predict(network, device, pages, marks):
                entry = {
                    "id": mark.row_id, "source": mark.source, "check": mark.check, "asked": mark.asked,
                    "label": int(mark.label), "chars": mark.chars, "yes": round(yes, 5), "mass": round(mass, 4),
                }  # fmt: skip
                lines.write(json.dumps(entry) + "\n")


def grouped(asked: Iterator[tuple[Document, tuple[Mark, ...]]], count: int) -> Iterator[tuple[list[Page], list[Mark]]]:
    """`count` pages at a time, with their marks in slot order."""
    pages, marks = [Page(PAGE_TOKENS)], list[Mark]()
    for document, wanted in asked:
        if not pages[-1].add(document):
            if len(pages) == count:
                yield pages, marks
                pages, marks = [], []
            pages.append(Page(PAGE_TOKENS))
            if not pages[-1].add(document):
                raise ValueError(f"a document of {document.tokens} tokens on a page of {PAGE_TOKENS}")
        marks += wanted
    yield pages, marks


@torch.no_grad()
def predict(
    network: Network, device: torch.device, pages: list[Page], marks: list[Mark]
) -> Iterator[tuple[Mark, float, float]]:
    """The probability that the check is true, and the labels' mass, in float32."""
    arrays = {name: torch.from_numpy(array).to(device) for name, array in batch(pages).items()}
    hidden = network.hidden(arrays).flatten(0, 1)[arrays["slots"]]
    probs = torch.softmax(network.logits(hidden), -1).cpu()
    for mark, row in zip(marks, probs, strict=True):
        yes, no = float(row[mark.yes]), float(row[mark.no])
        first = (no if mark.asked == "deny" else yes) / (yes + no)
        yield mark, first, yes + no


if __name__ == "__main__":
    main()
