"""A checkpoint's tokenizer.json as the planner's tokenizer. Knows token ids, nothing of prompts."""

import hashlib
from pathlib import Path

from tokenizers import Tokenizer as FileTokenizer

from canvas import Tokenizer

DIGEST_BYTES = 16


class CheckpointTokenizer:
    """Plain text to ids; a special token's name inside a text is spelled out, never recognised.

    Satisfies canvas.Tokenizer. Build it with `load_tokenizer`.
    """

    def __init__(self, tokenizer: FileTokenizer, digest: bytes) -> None:
        # Without this flag a state that contains "<turn|>" would close its own turn.
        tokenizer.encode_special_tokens = True
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._digest = digest

    @property
    def vocab_size(self) -> int:
        """Added tokens included: every id below it may stand on a canvas."""
        return self._tokenizer.get_vocab_size(with_added_tokens=True)

    @property
    def digest(self) -> bytes:
        """BLAKE2b of the file's bytes."""
        return self._digest

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def special(self, token: str) -> int:
        token_id = self._tokenizer.token_to_id(token)
        if token_id is None:
            raise KeyError(token)
        return token_id


def load_tokenizer(checkpoint: Path) -> Tokenizer:
    """The tokenizer of a checkpoint folder, or of a tokenizer.json itself; OSError names a file that is not there."""
    path = checkpoint / "tokenizer.json" if checkpoint.is_dir() else checkpoint
    data = path.read_bytes()
    return CheckpointTokenizer(
        FileTokenizer.from_buffer(data), hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()
    )
