# ruff: noqa: INP001 - a script's folder, not a package
"""A small Gemma-style tokenizer: Gemma's special ids, byte fallback, spaces as U+2581, merges of made-up sentences."""

import json
import random
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

SPACE: Final = "\u2581"
UNKNOWN: Final = "<unk>"

# Ids as in Gemma's vocabulary, so that a prompt made for the real model is a prompt for this one.
SPECIAL_IDS: Final = {
    "<pad>": 0,
    "<eos>": 1,
    "<bos>": 2,
    "<unk>": 3,
    "<mask>": 4,
    "<|think|>": 98,
    "<|channel>": 100,
    "<channel|>": 101,
    "<|turn>": 105,
    "<turn|>": 106,
}
MEDIA_TOKENS: Final = ("<|image>", "<|image|>", "<image|>", "<|video|>", "<|audio>", "<|audio|>", "<audio|>")
FIRST_BYTE_ID: Final = 238  # Gemma's <0x00>
CODES: Final = tuple(a + b for a in "ABCDE" for b in string.ascii_uppercase)  # enough for the 128 ids of a canvas

SUBJECTS: Final = ("the customer", "this ticket", "an agent", "the invoice", "a parcel", "our login", "everything")
VERBS: Final = ("asks for", "is about", "reports", "needs", "describes", "contains", "refuses", "repeats")
OBJECTS: Final = ("a refund", "the billing date", "an outage", "one label", "a question", "the answer", "a password")
ENDINGS: Final = ("", ".", "?", " within the hour.", " and nothing else.", ":", " (yes or no)")

CHAT_TEMPLATE: Final = """\
{{- bos_token -}}
{%- for message in messages -%}
{{- '<|turn>' + ('model' if message.role == 'assistant' else message.role) + '\n' -}}
{%- if message.content is string -%}
{{- message.content -}}
{%- else -%}
{%- for part in message.content -%}
{{- '<|image|>' if part.type.startswith('image') else part.text -}}
{%- endfor -%}
{%- endif -%}
{{- '<turn|>\n' -}}
{%- endfor -%}
{{- '<|turn>model\n' if add_generation_prompt -}}
"""


def write_tokenizer(folder: Path, vocab_size: int) -> dict[str, int]:
    """Writes tokenizer.json, its config and the chat template; returns the vocabulary, exactly `vocab_size` long."""
    vocab, merges = _vocabulary(vocab_size)
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token=UNKNOWN, byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", SPACE)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(pattern=" ", behavior="merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in (*SPECIAL_IDS, *MEDIA_TOKENS)])
    tokenizer.save(str(folder / "tokenizer.json"))
    media = {
        "image_token": "<|image|>",
        "boi_token": "<|image>",
        "eoi_token": "<image|>",
        "audio_token": "<|audio|>",
        "boa_token": "<|audio>",
        "eoa_token": "<audio|>",
    }
    config = {
        "tokenizer_class": "GemmaTokenizer",
        "bos_token": "<bos>",
        "eos_token": "<eos>",
        "pad_token": "<pad>",
        "unk_token": "<unk>",
        "mask_token": "<mask>",
        "padding_side": "left",
        "model_max_length": 32_768,
        "clean_up_tokenization_spaces": False,
        "chat_template": CHAT_TEMPLATE,
        "extra_special_tokens": media,
        **media,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")
    return vocab


def _vocabulary(vocab_size: int) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Gemma's order: specials among unused ids, the bytes, learnt pieces, unused ids again, media tokens last."""
    labels = ("yes", "no", *string.ascii_uppercase, *string.ascii_lowercase, *CODES)
    room = vocab_size - FIRST_BYTE_ID - 256 - len(MEDIA_TOKENS)
    pieces, merges = _learnt_pieces(room - 2 * len(labels))
    known = set(pieces)
    for label in labels:  # Gemma has each as one token, and as one token with its leading space
        _add_piece(label, pieces, merges, known)
        _add_piece(SPACE + label, pieces, merges, known)
    names = {token_id: token for token, token_id in SPECIAL_IDS.items()}
    ordered = [names.get(token_id, f"<unused{token_id}>") for token_id in range(FIRST_BYTE_ID)]
    ordered += [f"<0x{byte:02X}>" for byte in range(256)]
    ordered += pieces
    ordered += [f"<unused{token_id}>" for token_id in range(len(ordered), vocab_size - len(MEDIA_TOKENS))]
    ordered += MEDIA_TOKENS
    vocab = {token: token_id for token_id, token in enumerate(ordered)}
    if len(vocab) != vocab_size:
        raise ValueError(f"{len(vocab)} distinct tokens for a vocabulary of {vocab_size}")
    return vocab, merges


def _add_piece(piece: str, pieces: list[str], merges: list[tuple[str, str]], known: set[str]) -> None:
    """Makes `piece` one token, from any two known halves that the merges before may have left."""
    merges.extend((piece[:cut], piece[cut:]) for cut in range(1, len(piece)) if {piece[:cut], piece[cut:]} <= known)
    if piece not in known:
        known.add(piece)
        pieces.append(piece)


def _learnt_pieces(count: int) -> tuple[list[str], list[tuple[str, str]]]:
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN, byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", SPACE)
    # Gemma writes every digit on its own, without its space: no merge may cross one.
    words, numerals = pre_tokenizers.Split(SPACE, "merged_with_next"), pre_tokenizers.Digits(individual_digits=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, numerals])
    alphabet = [*string.printable[:95], SPACE, "\n", "\t"]
    trainer = trainers.BpeTrainer(vocab_size=count, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(_sentences(), trainer)
    learnt = json.loads(tokenizer.to_str())["model"]
    return sorted(learnt["vocab"], key=learnt["vocab"].get), [(left, right) for left, right in learnt["merges"]]


def _sentences() -> Iterator[str]:
    """Enough text for merges of common words: statements, label lines, and some JSON."""
    rng = random.Random(0)  # noqa: S311 - the same corpus every time
    for number in range(3_000):
        sentence = f"{rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(OBJECTS)}{rng.choice(ENDINGS)}"
        yield sentence.capitalize() if number % 2 else sentence
        yield f"{number % 90}: {rng.choice(['yes', 'no', *string.ascii_uppercase, *string.digits])}"
        if number % 10 == 0:
            yield json.dumps({rng.choice(SUBJECTS): sentence, "count": number})
