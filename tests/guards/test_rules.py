import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guards.checks import Block, RegexCheck, SecretsCheck, Stage
from guards.rules.escapes import unescape, unescaped
from guards.rules.normal import erase, normalise
from guards.rules.regex_rule import compile_pattern, matches
from guards.rules.scan import RuleScanner
from guards.rules.secrets_rule import SecretScanner, entropy_bits
from guards.rules.span import Span
from guards.transcript import Detail, Segment

# Made up, and put together here so that scanners of this repository do not take them for real ones.
B62 = "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ"
HEX = "0123456789abcdef"
JWT_HEAD = base64.urlsafe_b64encode(json.dumps({"alg": "HS256"}).encode()).decode().rstrip("=")
JWT_BODY = base64.urlsafe_b64encode(json.dumps({"sub": "12345678"}).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    ("kind", "secret"),
    [
        ("aws_access_key", "AKIA" + "IOSFODNN7EXAMPLE"),
        ("github_token", "ghp_" + B62),
        ("github_token", "github_pat_" + B62 + B62),
        ("gitlab_token", "glpat-" + B62[:20]),
        ("slack_token", "xoxb-" + "1234567890-" + B62[:24]),
        ("slack_webhook", "hooks.slack.com/services/" + "T0001/B0002/" + B62[:24]),
        ("stripe_key", "sk_live_" + B62[:24]),
        ("llm_api_key", "sk-proj-" + B62),
        ("llm_api_key", "sk-ant-api03-" + B62),
        ("llm_api_key", "gsk_" + B62 + B62[:16]),
        ("google_api_key", "AIza" + B62[:35]),
        ("google_oauth", "GOCSPX-" + B62[:28]),
        ("huggingface_token", "hf_" + B62[:34]),
        ("npm_token", "npm_" + B62),
        ("pypi_token", "pypi-AgE" + B62),
        ("docker_token", "dckr_pat_" + B62[:27]),
        ("sendgrid_key", "SG." + B62[:22] + "." + B62 + B62[:7]),
        ("shopify_token", "shpat_" + HEX + HEX),
        ("digitalocean_token", "dop_v1_" + HEX * 4),
        ("telegram_token", "123456789:AA" + B62[:33]),
        ("twilio_key", "SK" + HEX + HEX),
        ("azure_storage_key", "AccountKey=" + (B62 * 3)[:86] + "=="),
        ("age_key", "AGE-SECRET-KEY-1" + (B62.upper() * 2)[:58]),
        ("private_key", "-----BEGIN " + "RSA PRIVATE KEY-----"),
        ("private_key", "-----BEGIN " + "PRIVATE KEY-----"),
        ("jwt", f"{JWT_HEAD}.{JWT_BODY}.{B62}"),
        ("url_password", "postgres://app:" + "hunter2@db.internal/x"),
        ("assigned_secret", 'client_secret = "' + B62[:20] + '"'),
        ("assigned_secret", "AWS_SECRET_ACCESS_KEY=" + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ],
)
def test_a_published_shape_is_found_where_it_stands(kind: str, secret: str) -> None:
    text = f"Use this: {secret} please"
    found = [one for one in SecretScanner().find(text) if one[0] == kind]
    assert found
    _, start, end = found[0]
    assert text[start:end] in secret


@pytest.mark.parametrize(
    "text",
    [
        "ghp_" + "x" * 36,
        "sk-" + "-" * 30,
        "password: correct-horse-battery-staple",
        "the secret of the old house on the hill",
        "https://user:password@example.com",
        "https://user:<your-password>@example.com",
        "eyJhbGciOiJub25l.not.a.token",
        "eyJ" + "Z" * 20 + ".eyJ" + "a" * 20 + "." + "b" * 20,
        "eyJ" + base64.urlsafe_b64encode(b'{"a":"1234567890"}').decode()[3:] + ".eyJhbGciOiJub25l." + B62,
        "token = some_function_name_here",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "-----BEGIN PUBLIC KEY-----",
        "An ordinary sentence about keys, tokens and passwords.",
    ],
)
def test_an_ordinary_text_or_a_placeholder_is_no_secret(text: str) -> None:
    assert list(SecretScanner().find(text)) == []


def test_entropy_is_in_bits_a_character() -> None:
    assert entropy_bits("") == 0
    assert entropy_bits("aaaa") == 0
    assert entropy_bits("abab") == 1


@given(st.text())
def test_a_normalised_span_lies_in_the_original(text: str) -> None:
    normal = normalise(text)
    if normal is None:
        return
    for index in range(len(normal.text)):
        start, end = normal.span(index, index + 1)
        assert 0 <= start < end <= len(text)


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"])))
def test_a_printable_ascii_text_is_its_own_normal_form(text: str) -> None:
    assert normalise(f"{text}\t\n\r\f") is None


@given(st.text(st.sampled_from("\\u0041x&#;%2dDU{}nab d83e😀\x08")))
def test_a_span_of_the_escapes_meaning_lies_in_the_original(text: str) -> None:
    copies = (*unescaped(text), erase(text))
    for copy in (copies[0], copies[-1]):
        for index in range(len(copy.text) if copy is not None else 0):
            assert copy is not None
            start, end = copy.span(index, index + 1)
            assert 0 <= start < end <= len(text)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"PROJECT\u002dAURA7", "PROJECT-AURA7"),
        (r"PROJECT\\\\u002dAURA7", "PROJECT-AURA7"),
        (r"PROJECT\u{2d}AURA7", "PROJECT-AURA7"),
        (r"PROJECT\U0000002dAURA7", "PROJECT-AURA7"),
        (r"PROJECT\x2dAURA7", "PROJECT-AURA7"),
        (r"PROJECT\055AURA7", "PROJECT-AURA7"),
        (r"a\tb\\nc", "a\tb\nc"),
        (r"\ud83d\ude00", "😀"),
        (r"\uffff\U00110000", "\uffff\\U00110000"),
        ("PROJECT&#45;AURA7 PROJECT%2DAURA7 &amp;", "PROJECT-AURA7 PROJECT-AURA7 &"),
    ],
)
def test_escapes_are_read_for_what_they_stand_for(written: str, meant: str) -> None:
    copy = unescape(written)
    assert copy is not None
    assert copy.text == meant


def test_a_long_run_of_backslashes_is_read_in_linear_time() -> None:
    assert unescape("\\" * 300_000 + "q") is None


def _found(text: str) -> list[str]:
    check = RegexCheck.model_validate_json(
        '{"id": "c", "stage": ["request"], "rule": "regex", "pattern": "\\\\bPROJECT-AURA\\\\d", "block": {}}'
    )
    spans = RuleScanner().scan(check, [Segment("user", "m", text, Stage.REQUEST, 0)])
    return [text[span.start : span.end] for span in spans]


@pytest.mark.parametrize("dash", "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d")
def test_a_dash_of_any_kind_is_a_hyphen(dash: str) -> None:
    assert _found(f"It is PROJECT{dash}AURA7.") == [f"PROJECT{dash}AURA7"]


@pytest.mark.parametrize(
    "text",
    [
        r'print("\tPROJECT-AURA7")',
        r'{"q":"PROJECT\u002dAURA7"}',
        r'{"q":"PROJECT\u002dAURA7", "z',
        json.dumps({"body": r'{"q":"PROJECT\u002dAURA7"}'}),
        r"\u005cu0050ROJECT-AURA7",
        "PRO\x00JECT-AURA7",
        "PRO\x7fJECT-AU\x9fRA7",
        "PROX\x08JECT-AURA7",
        "PRO\x08JECT-AURA7",
        "".join(letter + "\u0336" for letter in "PROJECT-AURA7"),
        "PROJECT-AURA\u0667",
        "\u13e2ROJEC\u1d1b-AU\u0280A7",
        "one\u2028PROJECT-AURA7",
    ],
)
def test_a_word_is_found_behind_escapes_controls_marks_and_lookalikes(text: str) -> None:
    assert _found(text)
    assert all(found in text for found in _found(text))


@pytest.mark.parametrize("around", ["AWS_{}", "{}_old", "_{}_", r'{{"env":"A=1\n{}"}}', "k={}."])
def test_a_key_is_found_between_underscores_and_behind_an_escape(around: str) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    text = around.format(key)
    check = SecretsCheck(id="s", stage=(Stage.REQUEST,), rule="secrets", block=Block())
    spans = RuleScanner().scan(check, [Segment("user", "m", text, Stage.REQUEST, 0)])
    assert {text[span.start : span.end] for span in spans} == {key}


def test_a_key_inside_a_longer_word_is_none() -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    assert [*SecretScanner().find(f"x{key}"), *SecretScanner().find(f"{key}x")] == []


def test_a_span_in_a_detail_says_which_and_where() -> None:
    check = SecretsCheck(id="s", stage=(Stage.REQUEST,), rule="secrets", block=Block())
    details = [Detail("a", "harmless", Stage.REQUEST), Detail("b", "is AKIA" + "IOSFODNN7EXAMPLE", Stage.REQUEST)]
    assert RuleScanner().scan(check, [], details) == (Span("b", 3, 23, "aws_access_key"),)


FULL_WIDTH, BOLD, CIRCLED = (
    "".join(chr(first + ord(letter) - ord("A")) for letter in "PROJECT") for first in (0xFF21, 0x1D400, 0x24B6)
)
CYRILLIC = "\u0420RO\u0408\u0415\u0421\u0422"


@pytest.mark.parametrize(
    "hidden",
    [
        "P\u200bR\u2060OJ\u00adECT",
        FULL_WIDTH,
        "\u202ePROJECT",
        BOLD,
        "PR\ufe0fOJECT",
        CYRILLIC,
        "P\U000e0041ROJECT",
        CIRCLED,
    ],
)
def test_what_looks_like_the_word_is_the_word(hidden: str) -> None:
    text = f"é {hidden} 1"
    segment = Segment("user", "messages[0].content", text, Stage.REQUEST, 0)
    check = RegexCheck.model_validate_json(
        '{"id": "c", "stage": ["request"], "rule": "regex", "pattern": "PROJECT", "block": {}}'
    )
    (span,) = RuleScanner().scan(check, [segment])
    found = text[span.start : span.end]
    assert found in hidden
    assert hidden.strip("\u202e") == found


def test_a_composed_letter_matches_its_decomposed_form() -> None:
    normal = normalise("cafe\u0301!")
    assert normal is not None
    assert normal.text == "caf\u00e9!"
    assert normal.span(3, 4) == (3, 5)


def test_a_pattern_sees_halves_of_a_surrogate_pair_as_no_character() -> None:
    found = list(matches(compile_pattern("b"), "a\ud800b"))
    assert [match.span() for match in found] == [(2, 3)]


@pytest.mark.parametrize(
    ("pattern", "reason"), [("(", "missing"), ("(?<=a)b", "perl operator"), (r"(a)\1", "escape"), ("a?", "empty text")]
)
def test_a_pattern_that_cannot_run_says_why(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        compile_pattern(pattern)


def test_a_pattern_that_breaks_backtracking_engines_is_linear_here() -> None:
    assert list(matches(compile_pattern("(a+)+$"), "a" * 50_000 + "b")) == []


def test_spans_are_reported_once_in_order_and_never_with_the_text() -> None:
    segments = [Segment("user", "m", "AKIA" + "IOSFODNN7EXAMPLE and " + "ghp_" + B62, Stage.REQUEST, 0)]
    check = SecretsCheck(id="s", stage=(Stage.REQUEST,), rule="secrets", block=Block())
    spans = RuleScanner().scan(check, segments)
    assert [(span.kind, span.start) for span in spans] == [("aws_access_key", 0), ("github_token", 25)]
