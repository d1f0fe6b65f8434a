# ruff: noqa: INP001 - a script's folder, not a package
"""A DiffusionGemma checkpoint of three layers and random weights, vision tower included: the real code, a toy model.

    python tiny_checkpoint.py FOLDER

Needs torch, transformers and tokenizers of the engine environment. Same bytes each time.
"""

import argparse
import json
from pathlib import Path
from typing import Final

import torch
from tiny_tokenizer import write_tokenizer
from transformers import (
    DiffusionGemmaConfig,
    DiffusionGemmaForBlockDiffusion,
    DiffusionGemmaTextConfig,
    Gemma4VisionConfig,
)

VOCAB_SIZE: Final = 2_048
CANVAS_TOKENS: Final = 256  # as the real model's; an engine may serve less
SLIDING_WINDOW_TOKENS: Final = 1_024  # as the real model's
CONTEXT_TOKENS: Final = 32_768
IMAGE_TOKENS: Final = 70  # the smallest budget that the image processor knows


def main() -> None:
    """Writes the folder named on the command line."""
    parser = argparse.ArgumentParser(description="write a tiny random DiffusionGemma checkpoint")
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    vocab = write_tokenizer(folder, VOCAB_SIZE)
    model = random_model(checkpoint_config(vocab), seed=0)
    model.save_pretrained(folder)
    for name, content in (("generation_config.json", GENERATION), ("processor_config.json", PROCESSOR)):
        (folder / name).write_text(json.dumps(content, indent=1), encoding="utf-8")
    parameters = sum(parameter.numel() for parameter in model.parameters())
    print(f"{folder}: {parameters / 1e6:.2f} M parameters, vocabulary {VOCAB_SIZE}, canvas {CANVAS_TOKENS}")  # noqa: T201


def checkpoint_config(vocab: dict[str, int]) -> DiffusionGemmaConfig:
    """Every kind of part that the real model has, once or twice: both attentions, experts, a vision tower."""
    text = DiffusionGemmaTextConfig(
        vocab_size=len(vocab),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=3,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"],
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        global_head_dim=64,
        num_global_key_value_heads=1,
        max_position_embeddings=CONTEXT_TOKENS,
        sliding_window=SLIDING_WINDOW_TOKENS,
        num_experts=4,
        top_k_experts=2,
        moe_intermediate_size=64,
        use_bidirectional_attention="vision",
    )
    vision = Gemma4VisionConfig(
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=32,
        patch_size=16,
        pooling_kernel_size=3,
        position_embedding_size=1_024,
        default_output_length=IMAGE_TOKENS,  # vLLM reads this one, transformers has no such field
    )
    config = DiffusionGemmaConfig(
        text_config=text,
        vision_config=vision,
        canvas_length=CANVAS_TOKENS,
        image_token_id=vocab["<|image|>"],
        boi_token_id=vocab["<|image>"],
        eoi_token_id=vocab["<image|>"],
        architectures=["DiffusionGemmaForBlockDiffusion"],
        dtype="float32",
    )
    config.video_token_id = vocab["<|video|>"]
    return config


def random_model(config: DiffusionGemmaConfig, seed: int) -> DiffusionGemmaForBlockDiffusion:
    """Weights wide enough that answers depend on the prompt and labels differ; the usual 0.02 answers all alike."""
    torch.manual_seed(seed)
    model = DiffusionGemmaForBlockDiffusion(config)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.ndim == 1:  # norms and scales stay near one
                parameter.copy_(1 + 0.1 * noise)
            elif parameter.ndim > 1:
                embedding = "embed_tokens" in name or "position_embedding" in name
                parameter.copy_(noise * (0.05 if embedding else parameter.shape[-1] ** -0.5))
    model.tie_weights()
    return model.to(torch.float32)


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

_PIXELS: Final = {
    "patch_size": 16,
    "pooling_kernel_size": 3,
    "max_soft_tokens": IMAGE_TOKENS,
    "do_rescale": True,
    "rescale_factor": 1 / 255,
    "do_resize": True,
    "resample": 3,
    "do_normalize": False,
    "image_mean": [0.0, 0.0, 0.0],
    "image_std": [1.0, 1.0, 1.0],
}
PROCESSOR: Final = {
    "processor_class": "Gemma4Processor",
    "image_seq_length": IMAGE_TOKENS,
    "audio_seq_length": 750,
    "audio_ms_per_token": 40,
    "image_processor": {
        "image_processor_type": "Gemma4ImageProcessor",
        "do_convert_rgb": True,
        "image_seq_length": IMAGE_TOKENS,
        **_PIXELS,
    },
    # The processor class wants all three parts, though the model neither films nor hears.
    "video_processor": {
        "video_processor_type": "Gemma4VideoProcessor",
        "num_frames": 32,
        "do_sample_frames": True,
        "return_metadata": True,
        **_PIXELS,
    },
    "feature_extractor": {
        "feature_extractor_type": "Gemma4AudioFeatureExtractor",
        "feature_size": 128,
        "sampling_rate": 16_000,
        "padding_value": 0.0,
    },
}


if __name__ == "__main__":
    main()
