"""A byte-pair vocabulary with Gemma's special tokens, trained on given texts. Knows no model.

    python -m deployments.embedded.lessons.tokenizer_recipe DATA_DIR OUT_DIR

Gemma's ids for the special tokens and byte fallback from 238; digits are split singly; a newline is always its own
token, so texts may be encoded line by line; every label is one token with and without a space before it.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from string import ascii_uppercase, digits, printable
from typing import Final

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from deployments.embedded.lessons.rows import read_rows

VOCAB_SIZE: Final = 8192
SPECIALS: Final = {
    "<pad>": 0, "<eos>": 1, "<bos>": 2, "<unk>": 3, "<mask>": 4,
    "<|think|>": 98, "<|channel>": 100, "<channel|>": 101, "<|turn>": 105, "<turn|>": 106,
}  # fmt: skip
FIRST_BYTE: Final = 238  # <0x00>...<0xFF>, as in Gemma
TAIL: Final = ("<|image>", "<|image|>", "<image|>", "<|video|>", "<|audio>", "<|audio|>", "<audio|>")
UNKNOWN: Final = "<unk>"
SPACE: Final = "▁"
# Runs of spaces, a newline, one digit, a word, a run of signs: each with the space before it.
PIECES: Final = rf"{SPACE}+(?={SPACE})|\n|{SPACE}?\d|{SPACE}?[\p{{L}}\p{{M}}']+|{SPACE}?[^\s{SPACE}\p{{L}}\p{{M}}\d]+"
CODES: Final = tuple(a + b for a, b in product("ABCDEF", ascii_uppercase))  # 156; a canvas reads at most 128 ids
LABELS: Final = ("yes", "no", *ascii_uppercase, *digits, *CODES)


def texts_of(folder: Path) -> Iterator[str]:
    """Training texts without the dev split."""
    for row in read_rows(folder):
        if not row.is_dev:
            yield from filter(None, (row.context, row.prompt, row.reply))


def train(texts: Iterable[str], vocab_size: int = VOCAB_SIZE) -> Tokenizer:
    """The same texts give the same vocabulary, ids and merges."""
    learner = Tokenizer(models.BPE(unk_token=UNKNOWN, byte_fallback=True, fuse_unk=True))
    learner.normalizer = normalizers.Replace(" ", SPACE)
    learner.pre_tokenizer = pre_tokenizers.Split(Regex(PIECES), behavior="isolated")
    forced = [form for label in LABELS for form in (label, SPACE + label)]
    learned = vocab_size - FIRST_BYTE - 256 - len(TAIL) - len(forced)
    alphabet = [*(sign for sign in printable[:95] if sign != " "), SPACE, "\n", "\t"]
    if learned < len(alphabet):
        raise ValueError(f"a vocabulary of {vocab_size} has no room for {len(alphabet)} signs beside what is fixed")
    learner.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=learned, initial_alphabet=alphabet, limit_alphabet=len(alphabet) + 64, show_progress=False
        ),
    )
    model = json.loads(learner.to_str())["model"]
    pieces: list[str] = [piece for piece, _ in sorted(model["vocab"].items(), key=lambda entry: entry[1])]
    merges: list[tuple[str, str]] = [(left, right) for left, right in model["merges"]]
    known = set(pieces)
    for label in LABELS:
        for form in _chain(label):
            _force(form, pieces, merges, known)
    return _assemble(pieces, merges, vocab_size)


def _chain(label: str) -> Sequence[str]:
    """The forms of a label, each a merge of pieces that are there before it."""
    return (
        (label, SPACE + label) if len(label) == 1 else (*(label[:n] for n in range(2, len(label) + 1)), SPACE + label)
    )


def _force(form: str, pieces: list[str], merges: list[tuple[str, str]], known: set[str]) -> None:
    """Make `form` one token whichever of its two halves merges first; last, so ordinary text is encoded as before."""
    if form not in known:
        known.add(form)
        pieces.append(form)
    for cut in (1, len(form) - 1):
        pair = (form[:cut], form[cut:])
        if len(form) > 1 and pair not in merges and known.issuperset(pair):
            merges.append(pair)


def _assemble(pieces: Sequence[str], merges: Sequence[tuple[str, str]], vocab_size: int) -> Tokenizer:
    names = {token_id: name for name, token_id in SPECIALS.items()}
    vocab = {names.get(token_id, f"<unused{token_id}>"): token_id for token_id in range(FIRST_BYTE)}
    vocab |= {f"<0x{byte:02X}>": FIRST_BYTE + byte for byte in range(256)}
    for piece in pieces:
        vocab[piece] = len(vocab)
    while len(vocab) < vocab_size - len(TAIL):
        vocab[f"<unused{len(vocab)}>"] = len(vocab)
    for name in TAIL:
        vocab[name] = len(vocab)
    if len(vocab) != vocab_size:
        raise ValueError(f"the vocabulary has {len(vocab)} entries, wanted {vocab_size}")
    tokenizer = Tokenizer(
        models.BPE(vocab=vocab, merges=list(merges), unk_token=UNKNOWN, byte_fallback=True, fuse_unk=True)
    )
    tokenizer.normalizer = normalizers.Replace(" ", SPACE)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(PIECES), behavior="isolated")
    tokenizer.decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()])
    added = [AddedToken(name, special=True, normalized=False) for name in (*SPECIALS, *TAIL)]
    tokenizer.add_special_tokens(added)  # pyright: ignore[reportUnknownMemberType] -- its stub says a bare list
    return tokenizer


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Train the embedded model's tokenizer.")
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    train(texts_of(chosen.data)).save(str(chosen.out / "tokenizer.json"))


if __name__ == "__main__":
    main()
