"""A DiffusionGemma of a chosen size as transformers and vLLM load it. Knows no data.

    python -m deployments.embedded.training.checkpoint OUT_DIR --size tiny --tokenizer TOKENIZER_JSON

All layers have the same head shapes, and the sliding window is as long as the positions: then transformers, which
does not apply the window on a canvas, vLLM, which does, and our graphs agree at every length, and one tensor holds
all keys and values.
"""

import argparse
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from transformers import (
    DiffusionGemmaConfig,
    DiffusionGemmaForBlockDiffusion,
    DiffusionGemmaTextConfig,
    Gemma4VisionConfig,
)

from deployments.embedded.lessons.tokenizer_recipe import VOCAB_SIZE

CANVAS_TOKENS: Final = 64
POSITIONS: Final = 4096
GENERATION: Final = {
    "bos_token_id": 2,
    "eos_token_id": [1, 106],
    "pad_token_id": 0,
    "max_new_tokens": 256,
    "max_denoising_steps": 48,
    "sampler_config": {"_cls_name": "EntropyBoundSamplerConfig", "entropy_bound": 0.1},
    "t_min": 0.4,
    "t_max": 0.8,
    "stability_threshold": 1,
    "confidence_threshold": 0.005,
}
"""vLLM does not load a DiffusionGemma without these; a single-step read uses none of them."""
HEAD_CHANNELS: Final = 64  # width of one attention head


@dataclass(frozen=True, slots=True)
class Size:
    """What makes a checkpoint small or large; `layers` must be a multiple of 3."""

    hidden: int
    layers: int
    heads: int
    key_heads: int
    expert: int


SIZES: Final = {
    "toy": Size(hidden=64, layers=3, heads=2, key_heads=1, expert=64),
    "tiny": Size(hidden=128, layers=3, heads=4, key_heads=2, expert=128),
    "small": Size(hidden=256, layers=6, heads=4, key_heads=2, expert=256),
}


def config_of(size: Size, vocab_size: int = VOCAB_SIZE) -> DiffusionGemmaConfig:
    """Two sliding layers, then a full one, as in Gemma; four experts, two used; the smallest vision tower."""
    text = DiffusionGemmaTextConfig(
        vocab_size=vocab_size,
        hidden_size=size.hidden,
        intermediate_size=2 * size.hidden,
        num_hidden_layers=size.layers,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"] * (size.layers // 3),
        num_attention_heads=size.heads,
        num_key_value_heads=size.key_heads,
        head_dim=HEAD_CHANNELS,
        global_head_dim=HEAD_CHANNELS,
        num_global_key_value_heads=size.key_heads,
        max_position_embeddings=POSITIONS,
        sliding_window=POSITIONS,
        num_experts=4,
        top_k_experts=2,
        moe_intermediate_size=size.expert,
        use_bidirectional_attention="vision",
    )
    vision = Gemma4VisionConfig(
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=32,
        patch_size=16,
        pooling_kernel_size=3,
        position_embedding_size=1024,
        default_output_length=70,  # vLLM reads it; transformers' class only keeps it
    )
    config = DiffusionGemmaConfig(
        text_config=text,
        vision_config=vision,
        canvas_length=CANVAS_TOKENS,
        image_token_id=vocab_size - 6,
        boi_token_id=vocab_size - 7,
        eoi_token_id=vocab_size - 5,
        architectures=["DiffusionGemmaForBlockDiffusion"],
        dtype="bfloat16",
    )
    config.video_token_id = vocab_size - 4
    return config


def new_model(size: Size, seed: int = 0, vocab_size: int = VOCAB_SIZE) -> DiffusionGemmaForBlockDiffusion:
    """Random weights in float32: matrices of variance 1/inputs, and embeddings small enough for the soft cap."""
    torch.manual_seed(seed)
    model = DiffusionGemmaForBlockDiffusion(config_of(size, vocab_size)).float()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim > 1:
                deviation = 0.02 if "embed" in name else parameter.shape[-1] ** -0.5
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * deviation)
    model.tie_weights()
    return model


def save(model: DiffusionGemmaForBlockDiffusion, tokenizer: Path, out: Path) -> None:
    """A folder that transformers' from_pretrained and vLLM take: bfloat16 weights, configs, tokenizer."""
    out.mkdir(parents=True, exist_ok=True)
    model.to(torch.bfloat16).save_pretrained(out)
    (out / "generation_config.json").write_text(json.dumps(GENERATION, indent=1) + "\n")
    names = {"image_token": "<|image|>", "boi_token": "<|image>", "eoi_token": "<image|>"}
    sounds = {"audio_token": "<|audio|>", "boa_token": "<|audio>", "eoa_token": "<audio|>"}
    (out / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "tokenizer_class": "GemmaTokenizer",
                "bos_token": "<bos>",
                "eos_token": "<eos>",
                "pad_token": "<pad>",
                "unk_token": "<unk>",
                "mask_token": "<mask>",
                "model_max_length": POSITIONS,
                "clean_up_tokenization_spaces": False,
                **names,
                **sounds,
                "extra_special_tokens": {**names, **sounds},
            },
            indent=1,
        )
        + "\n"
    )
    if tokenizer.resolve() != (out / "tokenizer.json").resolve():
        shutil.copyfile(tokenizer, out / "tokenizer.json")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Make a checkpoint of random weights.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", choices=sorted(SIZES), default="small")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    save(new_model(SIZES[chosen.size], chosen.seed), chosen.tokenizer, chosen.out)


if __name__ == "__main__":
    main()
