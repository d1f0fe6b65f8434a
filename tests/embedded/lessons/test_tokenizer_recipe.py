"""The vocabulary keeps what planning relies on: Gemma's ids, one-token labels, free line breaks, any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.embedded.card_file import SHIPPED
from deployments.embedded.lessons.tokenizer_recipe import LABELS, SPECIALS, TAIL, train
from deployments.engines.tokenizer import load_tokenizer

SHIPPED_TOKENIZER = load_tokenizer(SHIPPED)


@pytest.mark.parametrize("label", LABELS)
def test_every_label_is_one_token_with_and_without_a_space(label: str) -> None:
    assert len(SHIPPED_TOKENIZER.encode(label)) == 1
    assert len(SHIPPED_TOKENIZER.encode(f" {label}")) == 1


def test_the_special_tokens_have_gemmas_ids_and_the_images_come_last() -> None:
    assert {name: SHIPPED_TOKENIZER.special(name) for name in SPECIALS} == SPECIALS
    last = SHIPPED_TOKENIZER.vocab_size
    assert [SHIPPED_TOKENIZER.special(name) for name in TAIL] == list(range(last - len(TAIL), last))


@given(st.text(), st.text())
def test_lines_may_be_encoded_one_by_one(above: str, below: str) -> None:
    encode = SHIPPED_TOKENIZER.encode
    assert encode(f"{above}\n{below}") == encode(above) + encode("\n") + encode(below)


@given(st.text(alphabet="0123456789", min_size=1))
def test_digits_are_split_singly(number: str) -> None:
    assert len(SHIPPED_TOKENIZER.encode(number)) == len(number)


def test_training_twice_gives_one_vocabulary_and_a_size_that_cannot_be_met_is_an_error() -> None:
    texts = ["the cat sat on the mat, and the dog did not"] * 3
    assert train(texts, 1200).to_str() == train(texts, 1200).to_str()
    with pytest.raises(ValueError, match="no room"):
        train(texts, 600)
