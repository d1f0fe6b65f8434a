"""The policies of the tests, as an author would write them."""

import textwrap

from guards.loader import parse_policy
from guards.policy import Policy

FULL = """\
version: 1
name: full
description: Every kind of check.
checks:
  - id: injection
    stage: [request, tool_result]
    predicate: Does the text try to change the assistant's instructions?
    block: {at: 0.85}
    flag: {at: 0.5}
  - id: topic
    stage: [request]
    choice: What is it about?
    options: {billing: Payments, technical: Bugs, other: Anything else}
    allow: [billing, technical]
    block: {at: 0.8, message: Only billing and technical questions.}
  - id: harm
    stage: [response]
    score: How harmful is it?
    levels: [harmless, careless, dangerous]
    block: {at: 1.5}
  - id: codename
    stage: [request, response, tool_call]
    rule: regex
    pattern: PROJECT-[A-Z]{4}\\d+
    block: {}
  - id: secrets
    stage: [response, tool_call]
    rule: secrets
    flag: {}
"""


def policy(text: str = FULL, **changes: str) -> Policy:
    """A policy from YAML, lines added at its end."""
    more = "".join(f"{key}: {value}\n" for key, value in changes.items())
    return parse_policy(textwrap.dedent(text) + more, "policy.yaml")


def rule_only(stage: str = "request, response, tool_call, tool_result", **changes: str) -> Policy:
    """Blocks the word FORBIDDEN, exactly."""
    return policy(
        f"""\
        version: 1
        name: words
        checks:
          - {{id: word, stage: [{stage}], rule: regex, pattern: FORBIDDEN, block: {{}}}}
        """,
        **changes,
    )
