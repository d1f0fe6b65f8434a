"""One pass over pages with a DiffusionGemma's own layers: prefixes, questions and canvases at once, under one mask.

The same function as transformers' encoder followed by its decoder, which share their layers (see ADR 5); so a state
is encoded once for all of its questions, and what is trained loads in transformers unchanged.
"""

import torch
from torch import nn
from transformers import DiffusionGemmaForBlockDiffusion

Batch = dict[str, torch.Tensor]


class Network(nn.Module):
    """Wraps a model whose experts are dense."""

    def __init__(self, model: DiffusionGemmaForBlockDiffusion) -> None:
        super().__init__()
        self.model = model
        self.cap = model.final_logit_softcapping

    def hidden(self, batch: Batch) -> torch.Tensor:
        """[page, token, channel], after the last norm."""
        decoder = self.model.model.decoder
        embedded = decoder.embed_tokens(batch["ids"])
        noisy = decoder.self_conditioning.post_norm(embedded)
        hidden = torch.where(batch["is_canvas"][..., None], noisy, embedded)
        bias = mask(batch, torch.bfloat16 if torch.is_autocast_enabled("cuda") else torch.float32)
        kinds = decoder.text_config.layer_types
        rotary = {kind: decoder.rotary_emb(hidden, batch["positions"], kind) for kind in sorted(set(kinds))}
        for kind, layer in zip(kinds, decoder.layers, strict=True):
            hidden = layer(hidden, position_embeddings=rotary[kind], attention_mask=bias)
        return decoder.norm(hidden)

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Soft-capped, in float32."""
        return torch.tanh(self.model.lm_head(hidden).float() / self.cap) * self.cap


def mask(batch: Batch, dtype: torch.dtype) -> torch.Tensor:
    """[page, 1, asking token, seen token]: 0 where seen. Padding sees itself, so that no row is empty."""
    document, branch, canvas = batch["document"], batch["branch"], batch["is_canvas"]
    places = torch.arange(document.shape[1], device=document.device)
    same = document[:, :, None] == document[:, None, :]
    own = branch[:, :, None] == branch[:, None, :]
    before = places[None, :, None] >= places[None, None, :]
    together = own & canvas[:, :, None] & canvas[:, None, :]
    seen = same & (own | (branch[:, None, :] == 0)) & (before | together)
    return torch.where(seen[:, None], 0.0, torch.finfo(dtype).min).to(dtype)


def read_loss(network: Network, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Cross entropy of the slots' targets over the whole vocabulary, so that label mass is learnt too."""
    logits = network.logits(hidden.flatten(0, 1)[batch["slots"]])
    logprobs = torch.log_softmax(logits, -1).gather(1, batch["token_ids"])
    each = -(batch["probs"] * logprobs).sum(1)
    return (each * batch["weights"]).sum() / batch["weights"].sum().clamp(min=1)


def next_token_loss(network: Network, hidden: torch.Tensor, batch: Batch, most: int) -> torch.Tensor:
    """Of prefixes, over at most `most` tokens: encoders must know language, and reads alone say little of it."""
    ids, document, branch = batch["ids"], batch["document"], batch["branch"]
    follows = (document[:, 1:] == document[:, :-1]) & (branch[:, 1:] == 0) & (document[:, 1:] >= 0)
    places = follows.flatten().nonzero()[:, 0]
    places = places[torch.randperm(len(places), device=places.device)[:most]]
    logits = network.logits(hidden[:, :-1].flatten(0, 1)[places])
    return nn.functional.cross_entropy(logits, ids[:, 1:].flatten()[places])
