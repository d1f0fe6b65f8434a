"""A checkpoint's tokenizer never lets a text name a special token."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers

from deployments.engines.tokenizer import load_tokenizer

SPECIALS = ("<pad>", "<bos>", "<|turn>", "<turn|>")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A byte-level vocabulary with Gemma's way of naming turns."""
    vocab = {token: index for index, token in enumerate(SPECIALS)}
    vocab |= {f"<0x{byte:02X}>": len(SPECIALS) + byte for byte in range(256)}
    for letter in "▁<|>turnpadbos":
        vocab.setdefault(letter, len(vocab))
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[], byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    specials = [AddedToken(token, special=True, normalized=False) for token in SPECIALS]
    tokenizer.add_special_tokens(specials)  # pyright: ignore[reportUnknownMemberType] - the library's own bare list
    folder = tmp_path_factory.mktemp("checkpoint")
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@given(st.lists(st.sampled_from([*SPECIALS, "a", " ", "\n", "é", "日"])).map("".join))
def test_no_text_encodes_to_a_special_token(checkpoint: Path, text: str) -> None:
    tokenizer = load_tokenizer(checkpoint)
    special_ids = {tokenizer.special(token) for token in SPECIALS}
    assert special_ids.isdisjoint(tokenizer.encode(text))


def test_a_special_token_has_its_id_and_an_unknown_one_is_a_key_error(checkpoint: Path) -> None:
    tokenizer = load_tokenizer(checkpoint)
    assert tokenizer.special("<turn|>") == 3
    with pytest.raises(KeyError, match="nobody"):
        tokenizer.special("<nobody>")


def test_the_vocabulary_counts_added_tokens(checkpoint: Path) -> None:
    assert load_tokenizer(checkpoint).vocab_size > 256 + len(SPECIALS)


def test_the_digest_is_the_files_and_changes_with_any_byte(checkpoint: Path, tmp_path: Path) -> None:
    data = (checkpoint / "tokenizer.json").read_bytes()
    other = tmp_path / "tokenizer.json"
    other.write_bytes(data + b"\n")
    assert load_tokenizer(checkpoint).digest == load_tokenizer(checkpoint / "tokenizer.json").digest
    assert load_tokenizer(checkpoint).digest != load_tokenizer(other).digest
    assert len(load_tokenizer(other).digest) == 16


def test_a_folder_without_a_tokenizer_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"tokenizer\.json"):
        load_tokenizer(tmp_path)
