"""Batches from the curriculum, made by worker processes. Each worker has its own seed."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

import torch
from torch.utils.data import IterableDataset, get_worker_info

from canvas import ModelCard, Planner
from deployments.embedded.lessons.curriculum import Curriculum, make_pool
from deployments.embedded.lessons.facts import intent_of
from deployments.embedded.lessons.own_rows import own_rows
from deployments.embedded.lessons.pages import batch, pages
from deployments.embedded.lessons.rows import read_rows
from deployments.embedded.training.network import Batch
from deployments.engines.tokenizer import load_tokenizer

OWN_ROWS = 2000  # a worker, of each kind: the workers' differ


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a batch is, and how varied its questions are."""

    page_tokens: int
    pages: int
    variants: int


def planner_of(tokenizer: Path, canvas_tokens: int = 64, context_tokens: int = 2048) -> tuple[Planner, int]:
    """A planner for the embedded card, of which only its lengths matter here, and the vocabulary's size."""
    loaded = load_tokenizer(tokenizer)
    return Planner(
        loaded, ModelCard("embedded", "", loaded.vocab_size, canvas_tokens, context_tokens)
    ), loaded.vocab_size


class Feed(IterableDataset[Batch]):
    """Endless. `denoise_share` is fixed when the workers start."""

    def __init__(
        self, data: Path, guesses: Path, tokenizer: Path, shape: Shape, *, seed: int, denoise_share: float
    ) -> None:
        super().__init__()
        self.data, self.guesses, self.tokenizer = data, guesses, tokenizer
        self.shape, self.seed, self.denoise_share = shape, seed, denoise_share

    def __iter__(self) -> Iterator[Batch]:
        worker = get_worker_info()
        random = Random(f"{self.seed}/{worker.id if worker else 0}")  # noqa: S311 -- lessons, not secrets
        rows = [row for row in read_rows(self.data) if not row.is_dev]
        rows += own_rows(rows, random, OWN_ROWS)
        planner, vocab_size = planner_of(self.tokenizer)
        intents = tuple(sorted({name for row in rows if (name := intent_of(row))}))
        guesses = json.loads(self.guesses.read_text())
        pool = make_pool(planner, random, intents, self.shape.variants)
        curriculum = Curriculum(planner, vocab_size, self.shape.page_tokens, rows, guesses, pool, random)
        filled = pages(curriculum.documents(self.denoise_share), self.shape.page_tokens)
        while True:
            arrays = batch(list(islice(filled, self.shape.pages)))
            yield {name: torch.from_numpy(array) for name, array in arrays.items()}
