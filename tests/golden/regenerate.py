"""Writes plans.json anew: `python -m tests.golden.regenerate`. A change in it is a new TEMPLATE_VERSION."""

import json
from pathlib import Path

from canvas import TEMPLATE_VERSION
from tests.golden.cases import CASES, plans, vector
from tests.toy_tokenizer import make


def document() -> str:
    """One line a plan, so that a diff shows which moved."""
    tokenizer = make()
    lines = [
        json.dumps({"case": case.name, **vector(plan, tokenizer)}, ensure_ascii=False)
        for case in CASES
        for plan in plans(case, tokenizer)
    ]
    head = f'"template_version": {TEMPLATE_VERSION}, "tokenizer_digest": "{tokenizer.digest.hex()}"'
    return "{" + head + ', "plans": [\n' + ",\n".join(lines) + "\n]}\n"


if __name__ == "__main__":
    (Path(__file__).parent / "plans.json").write_text(document(), encoding="utf-8")
