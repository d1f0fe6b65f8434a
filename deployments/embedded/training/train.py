"""Train the embedded checkpoint: texts restored first, then reads. Resumable; seeds fixed; log and state kept.

    python -m deployments.embedded.training.train DATA GUESSES.json TOKENIZER.json WORK_DIR --seconds 1000 --until 500

WORK_DIR gets state.pt (to carry on from), average.pt (the averaged weights, bfloat16) and log.jsonl (a line per 50
steps). The learning rate follows time, so a run of `--seconds` may be done in parts, each up to `--until`.
"""

import argparse
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import torch
from torch.utils.data import DataLoader
from transformers import DiffusionGemmaForBlockDiffusion

from deployments.embedded.training.checkpoint import SIZES, new_model
from deployments.embedded.training.dense_experts import use_dense_experts
from deployments.embedded.training.feed import Feed, Shape
from deployments.embedded.training.network import Batch, Network, next_token_loss, read_loss

WARM_UP_STEPS: Final = 200
LAST_RATE: Final = 0.03  # of the peak
AVERAGE_DECAY: Final = 0.999
NEXT_TOKENS: Final = 8192  # a step; more costs more than it teaches
LOG_STEPS: Final = 50


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Train the embedded checkpoint.")
    for name in ("data", "guesses", "tokenizer", "work"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--seconds", type=float, required=True, help="of the whole schedule")
    parser.add_argument("--until", type=float, help="stop this part here; default: --seconds")
    parser.add_argument("--first", type=float, default=0.15, help="share of the time that mostly restores texts")
    parser.add_argument("--size", choices=sorted(SIZES), default="small")
    parser.add_argument("--page-tokens", type=int, default=2048)
    parser.add_argument("--pages", type=int, default=32)
    parser.add_argument("--variants", type=int, default=4)
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--initial", type=Path, help="a checkpoint folder to begin from, rather than random weights")
    parser.add_argument("--peak-rate", type=float, default=1.5e-3)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    Run(chosen).go()


class Run:
    """One training run: network, optimizer, averaged weights, and how far it is."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.chosen = chosen
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        torch.backends.cuda.matmul.allow_tf32 = True
        model = new_model(SIZES[chosen.size], chosen.seed)
        if chosen.initial:
            model = DiffusionGemmaForBlockDiffusion.from_pretrained(chosen.initial, dtype=torch.float32)
        use_dense_experts(model)
        model.config._attn_implementation = "sdpa"  # noqa: SLF001 -- as from_pretrained sets it
        model.config.text_config._attn_implementation = "sdpa"  # noqa: SLF001
        self.network = Network(model).to(self.device).train()
        unused = ("vision_tower", "embed_vision", "self_conditioning")
        named = {name: value for name, value in self.network.named_parameters() if value.requires_grad}
        trained = {name: value for name, value in named.items() if not any(part in name for part in unused)}
        self.parameters = list(trained.values())
        matrices = [value for value in self.parameters if value.ndim > 1]
        vectors = [value for value in self.parameters if value.ndim <= 1]
        self.optimizer = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
            lr=chosen.peak_rate, betas=(0.9, 0.98), fused=self.device.type == "cuda",
        )  # fmt: skip
        self.average = [value.detach().clone() for value in self.parameters]
        self.hidden = torch.compile(self.network.hidden, dynamic=False) if chosen.compile else self.network.hidden
        self.step, self.spent_s, self.seen = 0, 0.0, 0
        self.state_file = chosen.work / "state.pt"
        if self.state_file.is_file():
            self._resume()
        count = sum(value.numel() for value in self.parameters)
        self._log(event="start", parameters=count, step=self.step, spent_s=self.spent_s, arguments=str(chosen))

    def go(self) -> None:
        """Trains until `--until`, in two feeds: the first mostly restores."""
        until = min(self.chosen.until or self.chosen.seconds, self.chosen.seconds)
        first_until = self.chosen.first * self.chosen.seconds
        if self.spent_s < min(first_until, until):
            self._train(self._batches(0.9), min(first_until, until), next_weight=1.0)
        if self.spent_s < until:
            self._train(self._batches(0.1), until, next_weight=0.1)
        self._save()

    def _batches(self, denoise_share: float) -> Iterator[Batch]:
        chosen = self.chosen
        shape = Shape(chosen.page_tokens, chosen.pages, chosen.variants)
        seed = chosen.seed * 1_000_003 + self.step
        feed = Feed(chosen.data, chosen.guesses, chosen.tokenizer, shape, seed=seed, denoise_share=denoise_share)
        pinned = self.device.type == "cuda"
        loader = DataLoader(feed, batch_size=None, num_workers=chosen.workers, pin_memory=pinned)
        return iter(loader)

    def _train(self, batches: Iterator[Batch], until: float, next_weight: float) -> None:
        batch = next(batches)  # workers set their questions first, and compilers compile: that is not training time
        if self.chosen.compile:
            self._losses({name: tensor.to(self.device) for name, tensor in batch.items()}, next_weight)[0].backward()
            self.optimizer.zero_grad(set_to_none=True)
        sums = torch.zeros(2, device=self.device)
        began = last = time.monotonic()
        before, step_before, waited = self.spent_s, self.step, 0.0
        while True:
            on_device = {name: tensor.to(self.device, non_blocking=True) for name, tensor in batch.items()}
            rate = self._rate()
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            whole, read, follow = self._losses(on_device, next_weight)
            whole.backward()
            norm = torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            decay = min(AVERAGE_DECAY, (1 + self.step) / (10 + self.step))
            torch._foreach_lerp_(self.average, [p.detach() for p in self.parameters], 1 - decay)
            sums += torch.stack((read.detach(), follow.detach()))
            self.step += 1
            self.seen += len(batch["slots"])
            if self.step % LOG_STEPS == 0 or self.step in (1, 5, 20):
                steps = self.step - step_before
                losses = (sums / max(1, steps)).tolist()
                now = time.monotonic()
                self._log(
                    step=self.step, spent_s=round(self.spent_s, 1), read=round(losses[0], 4),
                    follow=round(losses[1], 4), norm=round(float(norm), 3), rate=round(rate, 6), slots=self.seen,
                    step_ms=round(1000 * (now - last) / steps, 1), wait_ms=round(1000 * waited / steps, 1),
                )  # fmt: skip
                if not math.isfinite(losses[0]):
                    raise FloatingPointError(f"step {self.step}: the loss is {losses[0]}")
                sums.zero_()
                last, step_before, waited = now, self.step, 0.0
            self.spent_s = before + time.monotonic() - began
            if self.spent_s >= until:
                return
            asked = time.monotonic()
            batch = next(batches)
            waited += time.monotonic() - asked

    def _losses(self, batch: Batch, next_weight: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            hidden = self.hidden(batch)
            read = read_loss(self.network, hidden, batch)
            follow = next_token_loss(self.network, hidden, batch, NEXT_TOKENS)
        return read + next_weight * follow, read, follow

    def _rate(self) -> float:
        done = min(1.0, self.spent_s / self.chosen.seconds)
        cosine = LAST_RATE + (1 - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * done))
        return self.chosen.peak_rate * min(1.0, (self.step + 1) / WARM_UP_STEPS) * cosine

    def _save(self) -> None:
        state = {
            "parameters": [value.detach() for value in self.parameters],
            "average": self.average,
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "spent_s": self.spent_s,
            "seen": self.seen,
        }
        torch.save(state, self.state_file)
        with torch.no_grad():
            for value, averaged in zip(self.parameters, self.average, strict=True):
                value.copy_(averaged)
        weights = {name: value.to(torch.bfloat16).cpu() for name, value in self.network.model.state_dict().items()}
        torch.save(weights, self.chosen.work / "average.pt")

    def _resume(self) -> None:
        state: dict[str, Any] = torch.load(self.state_file, map_location=self.device)
        with torch.no_grad():
            for value, stored in zip(self.parameters, state["parameters"], strict=True):
                value.copy_(stored)
        self.average = state["average"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.spent_s, self.seen = state["step"], state["spent_s"], state["seen"]

    def _log(self, **entry: object) -> None:
        with (self.chosen.work / "log.jsonl").open("a") as lines:
            lines.write(json.dumps(entry) + "\n")
        print(json.dumps(entry), flush=True)  # noqa: T201 -- a run is watched


if __name__ == "__main__":
    main()
