import pytest

from guards.errors import UnknownPolicy
from guards.policy_book import PolicyBook
from tests.guards.policies import policy, rule_only

BOTH = {"full": policy(), "words": rule_only()}


def test_the_first_route_that_fits_the_model_wins_over_the_default() -> None:
    book = PolicyBook(BOTH, "full", [("gpt-?", "words"), ("gpt-*", "full")])
    assert book.choose("gpt-5", None, None).name == "words"
    assert book.choose("gpt-55", None, None).name == "full"
    assert book.choose("other", None, None).name == "full"
    assert len(book.policies) == 2


def test_a_named_policy_must_exist_and_be_allowed() -> None:
    book = PolicyBook(BOTH, "full")
    assert book.choose("m", "words", frozenset({"words"})).name == "words"
    with pytest.raises(UnknownPolicy, match="did you mean 'words'"):
        book.choose("m", "word", None)
    with pytest.raises(UnknownPolicy, match="unknown policy 'full'"):
        book.choose("m", "full", frozenset({"words"}))
    with pytest.raises(UnknownPolicy, match="may name none"):
        book.choose("m", "full", frozenset())


def test_a_default_or_route_that_is_not_loaded_is_an_error() -> None:
    with pytest.raises(UnknownPolicy, match="the default names the policy 'fulll'; did you mean 'full'"):
        PolicyBook(BOTH, "fulll")
    with pytest.raises(UnknownPolicy, match="a route"):
        PolicyBook(BOTH, "full", [("*", "none")])
