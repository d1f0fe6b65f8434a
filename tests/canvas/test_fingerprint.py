from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from canvas import digest, fingerprint
from canvas.fingerprint import pack_ids
from tests.canvas.rig import card

parts = st.lists(st.binary(max_size=8), max_size=4)


@given(parts, parts)
def test_a_digest_tells_parts_apart_however_their_bytes_are_cut(left: list[bytes], right: list[bytes]) -> None:
    assert (digest(left) == digest(right)) == (left == right)
    assert len(digest(left)) == 16


def test_ids_are_packed_alike_on_every_machine() -> None:
    assert pack_ids((1, 262_143)) == b"\x01\0\0\0\xff\xff\x03\0"


def test_whatever_moves_probabilities_moves_the_fingerprint() -> None:
    base = card()
    cards = [
        base,
        replace(base, name="other"),
        replace(base, revision="other"),
        replace(base, vocab_size=7),
        replace(base, canvas_tokens=64),
        replace(base, context_tokens=512),
        replace(base, max_label_ids=20),
    ]
    prints = [fingerprint(each, b"tokenizer") for each in cards]
    prints += [
        fingerprint(base, b"another"),
        fingerprint(base, b"tokenizer", template_version=0),
        fingerprint(base, b"tokenizer", calibration_version="2026-11"),
    ]
    assert len(set(prints)) == len(prints)
    assert all(len(found) == 32 for found in prints)
