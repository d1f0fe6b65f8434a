"""Credentials by their published shapes. Knows nothing of policies.

Own table, because the kept libraries are scanners of files: detect-secrets reports lines, not spans, keeps its plug-ins
in process-wide settings, and was last released in 2024; gitleaks and trufflehog are programs in Go. A shape may be
acquitted by low entropy (a placeholder such as a row of x), never by a failed checksum: issuers change those.
"""

import base64
import binascii
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from guards.rules.regex_rule import Pattern, compile_pattern, matches

MIN_TOKEN_ENTROPY_BITS: Final = 2.5  # a character; random base62 of 16 has 3.6 or more, `xxxx...` 0, `1234` 2
MIN_GENERIC_ENTROPY_BITS: Final = (
    3.5  # English words and paths lie below; detect-secrets uses 4.5 for base64, 3 for hex
)


def entropy_bits(text: str) -> float:
    """Shannon entropy of the characters, in bits a character; 0 for an empty text."""
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values()) if total else 0.0


def _any(_token: str) -> bool:
    return True


def _random(token: str) -> bool:
    return entropy_bits(token) >= MIN_TOKEN_ENTROPY_BITS


def _generic(token: str) -> bool:
    mixed = any(c.isdigit() for c in token) and any(c.isalpha() for c in token)
    return mixed and entropy_bits(token) >= MIN_GENERIC_ENTROPY_BITS


def _password(token: str) -> bool:
    return token.lower() not in {"password", "pass", "passwd", "pwd", "secret", "token"} and token[:1] not in "<{$%*["


def _jwt(token: str) -> bool:
    """The first part must be the JSON header that RFC 7519 asks for."""
    head = token.partition(".")[0]
    try:
        header = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (binascii.Error, ValueError):
        return False
    return isinstance(header, dict) and "alg" in header


@dataclass(frozen=True, slots=True)
class Shape:
    """A pattern whose group 1 is the credential, and a test that may acquit what it found.

    `whole`: of a fixed length, so that a letter or digit right behind it says that it is something else.
    """

    kind: str
    pattern: str
    holds: Callable[[str], bool] = _random
    whole: bool = False


# Not \b, for which an underscore is a letter: AWS_AKIA... stands in every shell script. RE2 has no look-behind, so the
# character before is taken along; the span is group 1's.
_START: Final = "(?:^|[^A-Za-z0-9])"
SHAPES: Final = (
    Shape("aws_access_key", _START + r"((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})", whole=True),
    Shape("github_token", _START + r"(gh[opusr]_[A-Za-z0-9]{36,})"),
    Shape("github_token", _START + r"(github_pat_[A-Za-z0-9_]{36,})"),
    Shape("gitlab_token", _START + r"(gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)-[A-Za-z0-9_-]{20,})"),
    Shape("slack_token", _START + r"(xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})"),
    Shape("slack_webhook", r"(hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,})"),
    Shape("stripe_key", _START + r"((?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
    Shape("llm_api_key", _START + r"(sk-[A-Za-z0-9_-]{20,})"),  # OpenAI, Anthropic and many that copy them
    Shape("llm_api_key", _START + r"(gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{40,})"),
    Shape("google_api_key", _START + r"(AIza[A-Za-z0-9_-]{35})"),
    Shape("google_oauth", _START + r"(ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{28})"),
    Shape("huggingface_token", _START + r"((?:hf|api_org)_[A-Za-z0-9]{30,64})"),
    Shape("npm_token", _START + r"(npm_[A-Za-z0-9]{36})"),
    Shape("pypi_token", _START + r"(pypi-AgE[A-Za-z0-9_-]{32,})"),
    Shape("docker_token", _START + r"(dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,64})"),
    Shape("sendgrid_key", _START + r"(SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64})"),
    Shape("shopify_token", _START + r"(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})"),
    Shape("digitalocean_token", _START + r"(do[opr]_v1_[a-f0-9]{64})"),
    Shape("telegram_token", _START + r"([0-9]{8,10}:AA[A-Za-z0-9_-]{33})"),
    Shape("twilio_key", _START + r"((?:SK|AC)[a-f0-9]{32})", whole=True),
    Shape("azure_storage_key", r"AccountKey=([A-Za-z0-9+/]{86}==)"),
    Shape("age_key", r"(AGE-SECRET-KEY-1[0-9A-Z]{58})"),
    Shape("private_key", r"(-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----)", _any),
    Shape("jwt", _START + r"(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})", _jwt),
    Shape(
        "url_password", _START + r"[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,128}:([^\s:/@]{3,128})@[A-Za-z0-9]", _password
    ),
    Shape(
        "assigned_secret",
        r"(?i)(?:secret|token|passw(?:or)?d|pwd|api[_-]?key|access[_-]?key|private[_-]?key|credential)[a-z0-9_-]{0,32}"
        r"[\"']?\s{0,8}(?:=>|:=|[:=])\s{0,8}[\"']?([A-Za-z0-9+/=_.~-]{16,})",
        _generic,
    ),
)


class SecretScanner:
    """The compiled table; made once, used for every text."""

    def __init__(self, shapes: tuple[Shape, ...] = SHAPES) -> None:
        self._shapes: tuple[tuple[Shape, Pattern], ...] = tuple(
            (shape, compile_pattern(shape.pattern)) for shape in shapes
        )

    def find(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Kind, start and end of each credential."""
        for shape, pattern in self._shapes:
            for match in matches(pattern, text):
                start, end = match.span(1)
                if shape.whole and text[end : end + 1].isascii() and text[end : end + 1].isalnum():
                    continue
                if shape.holds(match.group(1)):
                    yield shape.kind, start, end
