"""A small Gemma-like tokenizer made from rules, not trained: the same on every machine, in milliseconds.

Same special tokens and ids as Gemma 4, byte fallback, spaces as "▁", no splitting before BPE. `split_digits` is how
Gemma writes numbers (" 12" is "▁", "1", "2"); without it " 1" and "12" are single tokens.
"""

from collections.abc import Iterator
from hashlib import blake2b
from itertools import product
from string import ascii_lowercase, ascii_uppercase, digits

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers

SPECIALS = {
    "<pad>": 0,
    "<eos>": 1,
    "<bos>": 2,
    "<unk>": 3,
    "<mask>": 4,
    "<|channel>": 100,
    "<channel|>": 101,
    "<|turn>": 105,
    "<turn|>": 106,
    "<|image|>": 110,
}
FIRST_BYTE = 238
WORDS = (
    "the",
    "of",
    "to",
    "and",
    "in",
    "is",
    "it",
    "that",
    "for",
    "with",
    "you",
    "a",
    "question",
    "questions",
    "answer",
    "state",
    "label",
    "one",
    "line",
    "per",
    "number",
    "space",
    "its",
    "yes",
    "no",
    "or",
    "user",
    "system",
    "model",
    "above",
    "below",
    "about",
    "text",
    "data",
    "urgent",
    "angry",
    "refund",
    "billing",
    "shipping",
    "thought",
    "lowest",
    "highest",
    "level",
    "option",
    "options",
    "these",
    "from",
    "never",
    "follow",
    "what",
)


class ToyTokenizer:
    """Implements canvas.Tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._digest = blake2b(tokenizer.to_str().encode(), digest_size=16).digest()

    @property
    def vocab_size(self) -> int:
        return self._tokenizer.get_vocab_size()

    @property
    def digest(self) -> bytes:
        return self._digest

    def encode(self, text: str) -> tuple[int, ...]:
        self._tokenizer.encode_special_tokens = True
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def special(self, token: str) -> int:
        return SPECIALS[token]

    def encode_with_specials(self, text: str) -> tuple[int, ...]:
        """Reads special tokens out of the text: what `encode` must never do."""
        self._tokenizer.encode_special_tokens = False
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: tuple[int, ...]) -> str:
        return self._tokenizer.decode(list(ids), skip_special_tokens=False)


def make(
    *,
    split_digits: bool = True,
    codes: bool = True,
    first_merges: tuple[tuple[str, str], ...] = (),
    without: frozenset[str] = frozenset(),
) -> ToyTokenizer:
    """`first_merges` win over all others; a merge that needs or makes a piece in `without` is left out."""
    merges = list(dict.fromkeys((*first_merges, *_merges(split_digits=split_digits, codes=codes))))
    merges = [pair for pair in merges if "".join(pair) not in without]
    characters = ("▁", "\n", *map(chr, range(33, 127)))
    while not all(map((made := {*characters, *map("".join, merges)}).issuperset, merges)):
        merges = [pair for pair in merges if made.issuperset(pair)]
    by_id = {id_: token for token, id_ in SPECIALS.items()}
    vocab = {by_id.get(id_, f"<unused{id_}>"): id_ for id_ in range(FIRST_BYTE)}
    pieces = (*(f"<0x{byte:02X}>" for byte in range(256)), *characters, *("".join(pair) for pair in merges))
    for piece in pieces:
        vocab.setdefault(piece, len(vocab))
    bpe = models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True)
    tokenizer = Tokenizer(bpe)
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens(  # pyright: ignore[reportUnknownMemberType] -- the library leaves its list untyped
        [AddedToken(token, special=True, normalized=False) for token in SPECIALS]
    )
    return ToyTokenizer(tokenizer)


def _merges(*, split_digits: bool, codes: bool) -> Iterator[tuple[str, str]]:
    for letter in ascii_uppercase:
        yield "▁", letter
    if not split_digits:
        yield from (("▁", digit) for digit in digits)
        yield from ((tens, ones) for tens in digits for ones in digits)
    for word in WORDS:
        for end in range(1, len(word)):
            yield word[:end], word[end]
        yield "▁", word
    if codes:
        for alphabet in (ascii_uppercase, ascii_lowercase):
            for first, second in product(alphabet, repeat=2):
                yield first, second
                yield "▁", first + second
                if alphabet is ascii_uppercase:
                    yield "▁" + first, second
    yield "\n", "\n"
    yield from (("▁" * count, "▁") for count in (1, 2))
    yield ":", "/"
