"""Turn trained weights into the checkpoint folder that is shipped, graphs and card included.

python -m deployments.embedded.training.ship AVERAGE.pt TOKENIZER.json OUT_DIR --size small
"""

import argparse
from pathlib import Path

import torch

from deployments.embedded.export_onnx import export
from deployments.embedded.training.checkpoint import SIZES, new_model, save


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write a checkpoint folder from trained weights.")
    for name in ("weights", "tokenizer", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--size", choices=sorted(SIZES), default="small")
    parser.add_argument("--name", default="readgate-embedded")
    chosen = parser.parse_args()
    model = new_model(SIZES[chosen.size])
    model.load_state_dict(torch.load(chosen.weights))
    save(model, chosen.tokenizer, chosen.out)
    export(chosen.out, chosen.name, "")


if __name__ == "__main__":
    main()
