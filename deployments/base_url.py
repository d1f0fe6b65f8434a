"""Whether a text is an address that requests can go to. Pure; looks nothing up."""

from typing import Final

import httpx

LARGEST_PORT: Final = 65_535


def check_base_url(url: str) -> str:
    """The address itself. Raises ValueError that says what is wrong with it."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ValueError(f"{url!r} is no address: {error}") from error
    if parsed.scheme not in {"http", "https"}:
        raise ValueError(f"needs http:// or https:// and a host, got {url!r}")
    if parsed.userinfo:
        raise ValueError("holds a user or a password: a key comes by api_key, from a variable or a file")
    if not parsed.host or "%" in parsed.host:
        raise ValueError(f"names no host: {url!r}")
    if parsed.port is not None and not 0 < parsed.port <= LARGEST_PORT:
        raise ValueError(f"port {parsed.port} is not 1 to {LARGEST_PORT}")
    if parsed.query or parsed.fragment:
        raise ValueError("is a base that paths are added to: it takes no ? and no #")
    return url
