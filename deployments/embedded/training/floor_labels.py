"""Soft labels for texts whose check is unknown, from a linear model of that check. Teaches; never evaluates.

    python -m deployments.embedded.training.floor_labels DATA_DIR OUT.json

One TF-IDF logistic regression a check, fitted without the dev split. It is a good judge of easy negatives in other
sources (bank questions are no jailbreaks), which is what a net needs to stop telling sources apart.
"""

import argparse
import json
import random
from pathlib import Path
from typing import Final

from scipy.sparse import hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from deployments.embedded.lessons.rows import Row, read_rows

CHECKS: Final = (
    "toxicity",
    "hate",
    "sexual",
    "self_harm",
    "violence",
    "harassment",
    "jailbreak",
    "injection",
    "refusal",
    "pii",
    "secret",
)  # fmt: skip -- not those that compare two texts, nor compliance, which needs the request
MOST_ROWS: Final = 12_000
SHOWN_CHARS: Final = 2_000


def judged_text(row: Row, check: str) -> str:
    """The one text that a check looks at."""
    text = row.context if check == "injection" and row.context and row.stage == "prompt" else row.prompt
    return ((row.reply if row.stage != "prompt" else text) or row.context)[:SHOWN_CHARS]


def soft_labels(rows: list[Row], check: str) -> dict[str, float]:
    """Probability of the check for every row that does not have its label."""
    known = [(row, dict(row.labels)[check]) for row in rows if check in dict(row.labels) and not row.is_dev]
    random.Random(0).shuffle(known)  # noqa: S311 -- an order, not a secret
    positives = [row for row, label in known if label][: MOST_ROWS // 2]
    negatives = [row for row, label in known if not label][: MOST_ROWS - len(positives)]
    texts = [judged_text(row, check) for row in (*positives, *negatives)]
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, max_features=60_000)
    signs = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4), min_df=3, sublinear_tf=True, max_features=60_000)
    features = hstack([words.fit_transform(texts), signs.fit_transform(texts)]).tocsr()
    model = LogisticRegression(C=4, solver="liblinear", class_weight="balanced", max_iter=300)
    model.fit(features, [True] * len(positives) + [False] * len(negatives))
    unknown = [row for row in rows if check not in dict(row.labels) and not row.is_dev]
    texts = [judged_text(row, check) for row in unknown]
    probs = model.predict_proba(hstack([words.transform(texts), signs.transform(texts)]).tocsr())[:, 1]
    return {row.id: round(float(prob), 3) for row, prob in zip(unknown, probs, strict=True)}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Soft labels from linear floors.")
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    chosen = parser.parse_args()
    rows = list(read_rows(chosen.data))
    chosen.out.write_text(json.dumps({check: soft_labels(rows, check) for check in CHECKS}))


if __name__ == "__main__":
    main()
