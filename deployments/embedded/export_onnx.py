"""Write the two graphs of a checkpoint, without weights: those stay in its model.safetensors, which both graphs share.

    python -m deployments.embedded.export_onnx CHECKPOINT_DIR

encode.onnx: keys and values of a prefix + further prompt ids -> keys and values of the further ids (causal).
read.onnx:   keys and values of a prefix + the rest of the prompt + a canvas -> log-probabilities at the asked rows.
Encoder and decoder of DiffusionGemma share their layers, so the rest of the prompt (causal) and the canvas (sees
all) run as one sequence under one mask; tests/engine/test_onnx_parity.py holds it against transformers.
Keys and values are one tensor [layer, key or value, head, token, channel].
"""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Final

import onnx
import torch
from safetensors import safe_open
from torch import nn
from transformers import DiffusionGemmaForBlockDiffusion

from deployments.embedded.training.dense_experts import StackedExperts, use_dense_experts

CONTEXT_TOKENS: Final = 4096  # the sliding window (training/checkpoint.py); 128 described options take 2,700
MAX_CANVAS_TOKENS: Final = 256
WEIGHTS: Final = "model.safetensors"
OUTSIDE_ELEMENTS: Final = 1024  # smaller constants stay inside the graph


class Past:
    """Keys and values that stand before a sequence's own; what layers call a cache."""

    def __init__(self, past: torch.Tensor) -> None:
        self.past = past
        self.new: dict[int, torch.Tensor] = {}

    def update(self, keys: torch.Tensor, values: torch.Tensor, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        self.new[layer] = torch.cat((keys, values))
        return torch.cat((self.past[layer, :1], keys), 2), torch.cat((self.past[layer, 1:], values), 2)


class Trunk(nn.Module):
    """The layers that encoder and decoder share, over one sequence behind a past."""

    def __init__(self, model: DiffusionGemmaForBlockDiffusion) -> None:
        super().__init__()
        self.model = model

    def run(self, hidden: torch.Tensor, past: torch.Tensor, causal_tokens: torch.Tensor) -> tuple[torch.Tensor, Past]:
        """`causal_tokens` [n] says of each token whether it sees only what stands before it."""
        decoder, encoder = self.model.model.decoder, self.model.model.encoder.language_model
        before, tokens = past.shape[3], hidden.shape[1]
        positions = torch.arange(tokens, device=hidden.device)
        seen = (positions[None] <= positions[:, None]) | ~causal_tokens[:, None]
        mask = torch.cat((torch.ones(tokens, before, dtype=torch.bool), seen), 1)[None, None]
        bias = torch.where(mask, 0.0, torch.finfo(torch.float32).min)
        cache = Past(past)
        for index, layer in enumerate(encoder.layers):
            kind = decoder.text_config.layer_types[index]
            rotary = decoder.rotary_emb(hidden, (positions + before)[None], kind)
            hidden = layer(hidden, position_embeddings=rotary, attention_mask=bias, past_key_values=cache)
        return hidden, cache


class Encode(Trunk):
    """Further prompt ids behind a past, to their keys and values."""

    def forward(self, past: torch.Tensor, prompt: torch.Tensor) -> torch.Tensor:
        hidden = self.model.model.decoder.embed_tokens(prompt[None])
        _, cache = self.run(hidden, past, torch.ones_like(prompt, dtype=torch.bool))
        return torch.stack([cache.new[index] for index in range(len(cache.new))])


class Read(Trunk):
    """The rest of a prompt and a canvas behind a past, to full-vocabulary log-probabilities at the asked rows."""

    def forward(
        self, past: torch.Tensor, prompt: torch.Tensor, canvas: torch.Tensor, rows: torch.Tensor
    ) -> torch.Tensor:
        decoder = self.model.model.decoder
        # The first step has no earlier logits: the self-conditioning is its last norm alone.
        noisy = decoder.self_conditioning.post_norm(decoder.embed_tokens(canvas[None]))
        hidden = torch.cat((decoder.embed_tokens(prompt[None]), noisy), 1)
        causal = torch.cat((torch.ones_like(prompt), torch.zeros_like(canvas))) > 0
        hidden, _ = self.run(hidden, past, causal)
        wanted = decoder.norm(hidden[0, rows + prompt.shape[0]])
        cap = self.model.final_logit_softcapping
        return torch.log_softmax(torch.tanh(self.model.lm_head(wanted) / cap) * cap, -1)


def load(checkpoint: Path) -> DiffusionGemmaForBlockDiffusion:
    """In float32, exportable."""
    model = DiffusionGemmaForBlockDiffusion.from_pretrained(
        checkpoint, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    scalars = [buffer for name, buffer in model.named_buffers() if name.endswith("layer_scalar")]
    if any(float(scalar) != 1.0 for scalar in scalars):
        raise ValueError(f"{checkpoint}: layer scalars differ from 1; encoder and decoder cannot share one sequence")
    return use_dense_experts(model, StackedExperts)


def export(checkpoint: Path, name: str, revision: str) -> None:
    """Write encode.onnx, read.onnx and card.json beside the weights."""
    model = load(checkpoint)
    text = model.config.text_config
    shape = (text.num_hidden_layers, 2, text.num_key_value_heads, 21, text.head_dim)
    past, prompt = torch.randn(shape), torch.randint(5, text.vocab_size, (37,))
    canvas, rows = torch.randint(5, text.vocab_size, (16,)), torch.tensor([0, 3, 4])
    before = torch.export.Dim("before", min=0, max=CONTEXT_TOKENS)
    tokens = torch.export.Dim("tokens", min=2, max=CONTEXT_TOKENS)
    width = torch.export.Dim("width", min=2, max=MAX_CANVAS_TOKENS)
    slots = torch.export.Dim("slots", min=1, max=MAX_CANVAS_TOKENS)
    read_shapes = ({3: before}, {0: tokens}, {0: width}, {0: slots})
    tensors = {
        "encode": _write(Encode(model), (past, prompt), read_shapes[:2], checkpoint / "encode.onnx", "keys_values"),
        "read": _write(Read(model), (past, prompt, canvas, rows), read_shapes, checkpoint / "read.onnx", "logprobs"),
    }
    card = {
        "name": name,
        "revision": revision or hashlib.sha256((checkpoint / WEIGHTS).read_bytes()).hexdigest()[:12],
        "vocab_size": text.vocab_size,
        "canvas_tokens": model.config.canvas_length,
        "context_tokens": CONTEXT_TOKENS,
        "max_label_ids": 128,
        "tensors": tensors,
    }
    (checkpoint / "card.json").write_text(json.dumps(card, indent=1) + "\n")


def _write(
    module: nn.Module, example: tuple[torch.Tensor, ...], shapes: tuple[dict[int, object], ...], path: Path, output: str
) -> list[str]:
    """Write one graph; returns the names of the tensors that it takes from the weights' file."""
    inputs = list(module.forward.__annotations__)[: len(example)]
    with torch.no_grad():
        program = torch.onnx.export(
            module.eval(),
            example,
            input_names=inputs,
            output_names=[output],
            dynamic_shapes=shapes,
            dynamo=True,
            optimize=False,
            verbose=False,
        )
    graph = program.model_proto
    with safe_open(path.parent / WEIGHTS, "pt") as weights:
        known = {key: tuple(weights.get_slice(key).get_shape()) for key in weights.keys()}  # noqa: SIM118 -- its API
    taken: list[str] = []
    for tensor in graph.graph.initializer:
        elements = 1
        for size in tensor.dims:
            elements *= size
        if elements < OUTSIDE_ELEMENTS:
            continue
        name = _checkpoint_name(tensor.name)
        if known.get(name) != tuple(tensor.dims):
            raise ValueError(f"{path.name}: {tensor.name} {tuple(tensor.dims)} is no tensor of {WEIGHTS}")
        _rename(graph.graph, tensor.name, name)
        taken.append(name)
        tensor.ClearField("raw_data")
        del tensor.float_data[:]
        tensor.data_location = onnx.TensorProto.EXTERNAL
        del tensor.external_data[:]
        tensor.external_data.add(key="location", value=WEIGHTS)
    for node in graph.graph.node:
        del node.metadata_props[:]  # the exporter's stack traces name folders of the machine that ran it
        node.doc_string = ""
    del graph.graph.value_info[:]
    del graph.graph.metadata_props[:]
    path.write_bytes(graph.SerializeToString())
    return taken


def _checkpoint_name(name: str) -> str:
    """Tied weights are stored once, under the decoder's name."""
    name = name.removeprefix("model.")
    name = name.replace("model.encoder.language_model.", "model.decoder.")
    return "model.decoder.embed_tokens.weight" if name == "lm_head.weight" else name


def _rename(graph: onnx.GraphProto, old: str, new: str) -> None:
    for tensor in graph.initializer:
        if tensor.name == old:
            tensor.name = new
    for node in graph.node:
        for index, name in enumerate(node.input):
            if name == old:
                node.input[index] = new


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Export a checkpoint's graphs for ONNX Runtime.")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--name", default="readgate-embedded")
    parser.add_argument("--revision", default="", help="default: the first 12 hex digits of the weights' SHA-256")
    chosen = parser.parse_args()
    export(chosen.checkpoint, chosen.name, chosen.revision)


if __name__ == "__main__":
    main()
