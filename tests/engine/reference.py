"""What the reads should be: the same plan by transformers, one canvas at a time, no cache, no scheduler."""

from io import BytesIO
from pathlib import Path

import torch
from PIL import Image as Pillow
from transformers import AutoProcessor, DiffusionGemmaForBlockDiffusion

from canvas import CanvasPlan, CanvasRead, Image


class Reference:
    """A checkpoint in float32."""

    def __init__(self, checkpoint: Path) -> None:
        self._model = DiffusionGemmaForBlockDiffusion.from_pretrained(checkpoint, dtype=torch.float32).eval()
        self._processor = AutoProcessor.from_pretrained(checkpoint)

    @torch.no_grad()
    def read(self, plan: CanvasPlan) -> CanvasRead:
        """One forward pass over prompt and canvas; log-softmax over the whole vocabulary."""
        prompt_ids, images = self._expanded(plan)
        prompt = torch.tensor([prompt_ids])
        logits = self._model(
            input_ids=prompt,
            attention_mask=torch.ones_like(prompt),
            decoder_input_ids=torch.tensor([plan.canvas_ids]),
            **images,
        ).logits[0]
        logprobs = logits.log_softmax(dim=-1)
        return tuple(tuple(logprobs[slot.position, list(slot.token_ids)].tolist()) for slot in plan.slots)

    def _expanded(self, plan: CanvasPlan) -> tuple[list[int], dict[str, torch.Tensor]]:
        """The prompt with each image's placeholder grown to its soft tokens, and what the vision tower takes."""
        image_id = self._model.config.image_token_id
        prompt_ids: list[int] = []
        pixels, positions = [], []
        images = iter(plan.images)
        for token in plan.prompt_ids:
            if token != image_id:
                prompt_ids.append(token)
                continue
            grown = self._processor(text="<|image|>", images=[picture(next(images))], return_tensors="pt")
            ids = grown["input_ids"][0].tolist()
            start = ids.index(self._model.config.boi_token_id)  # behind a <bos>, if the tokenizer added one
            prompt_ids += ids[start:]
            pixels.append(grown["pixel_values"])
            positions.append(grown["image_position_ids"])
        if not pixels:
            return prompt_ids, {}
        return prompt_ids, {
            "pixel_values": torch.cat(pixels),
            "image_position_ids": torch.cat(positions),
            "mm_token_type_ids": (torch.tensor([prompt_ids]) == image_id).long(),
        }


def picture(image: Image) -> Pillow.Image:
    return Pillow.open(BytesIO(image.data)).convert("RGB")


def encoded(pillow: Pillow.Image, media_type: str = "image/png") -> Image:
    buffer = BytesIO()
    pillow.save(buffer, format=media_type.removeprefix("image/").upper())
    return Image(media_type, buffer.getvalue())
