"""Transformers' mixture of experts without its data-dependent loop: every expert computed, weighted by the router.

Right for four experts (twice the work of two), exportable, and static for compilers.
"""

import torch
from torch import nn
from transformers import DiffusionGemmaForBlockDiffusion
from transformers.models.diffusion_gemma.modeling_diffusion_gemma import DiffusionGemmaTextExperts


class DenseExperts(nn.Module):
    """Equal to the experts it takes the place of, and holds the same parameters under the same names."""

    def __init__(self, experts: DiffusionGemmaTextExperts) -> None:
        super().__init__()
        self.gate_up_proj, self.down_proj = experts.gate_up_proj, experts.down_proj
        self.act_fn, self.num_experts = experts.act_fn, experts.num_experts

    def forward(self, hidden: torch.Tensor, top_k_index: torch.Tensor, top_k_weights: torch.Tensor) -> torch.Tensor:
        chosen = torch.arange(self.num_experts, device=hidden.device)
        weights = ((top_k_index[..., None] == chosen) * top_k_weights[..., None]).sum(1).to(hidden.dtype)
        gate, up = torch.einsum("td,efd->etf", hidden, self.gate_up_proj).chunk(2, -1)
        return torch.einsum("etf,edf,te->td", self.act_fn(gate) * up, self.down_proj, weights)


class StackedExperts(DenseExperts):
    """The same as plain matrix products and slices, for the exporter, which writes einsum as outer products."""

    def forward(self, hidden: torch.Tensor, top_k_index: torch.Tensor, top_k_weights: torch.Tensor) -> torch.Tensor:
        chosen = torch.arange(self.num_experts, device=hidden.device)
        weights = ((top_k_index[..., None] == chosen) * top_k_weights[..., None]).sum(1).to(hidden.dtype)
        both = torch.matmul(hidden[None], self.gate_up_proj.transpose(1, 2))
        width = self.down_proj.shape[-1]
        weighted = self.act_fn(both[..., :width]) * both[..., width:] * weights.t()[..., None]
        return torch.matmul(weighted, self.down_proj.transpose(1, 2)).sum(0)


def use_dense_experts(
    model: DiffusionGemmaForBlockDiffusion, kind: type[DenseExperts] = DenseExperts
) -> DiffusionGemmaForBlockDiffusion:
    """Swap every expert block in place."""
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, DiffusionGemmaTextExperts):
                setattr(module, name, kind(child))
    return model
