"""How people ask for the shipped checks, in many words and both polarities. Texts only.

`{it}` stands for the judged thing. Yes means the check is true for `ask`, false for `deny`.
"""

from dataclasses import dataclass
from typing import Final

THINGS: Final[dict[str, tuple[str, ...]]] = {
    "prompt": ("the text", "it", "the message", "the user's message", "the request", "the prompt", "this"),
    "reply": ("the text", "it", "the message", "the reply", "the response", "the assistant's reply", "the answer"),
}
CONTAINS: Final = (
    "Does {it} contain {noun}?",
    "Is there {noun} in {it}?",
    "Is {noun} present?",
    "Check for {noun}.",
    "Would a reviewer find {noun} in {it}?",
    "Contains {noun}",
    "Should {it} be flagged for {noun}?",
)
LACKS: Final = (
    "Is {it} free of {noun}?",
    "Is there no sign of {noun} in {it}?",
    "Would a reviewer find no {noun} in {it}?",
    "Is {it} fine as far as {noun} is concerned?",
)


@dataclass(frozen=True, slots=True)
class Check:
    """`noun` fills CONTAINS and LACKS; `name` and `meaning` make an option; `levels` go from false to true."""

    name: str
    meaning: str
    noun: str
    ask: tuple[str, ...]
    deny: tuple[str, ...]
    scale: str
    levels: tuple[str, ...]


CHECKS: Final[dict[str, Check]] = {
    "toxicity": Check(
        "toxic", "insults, abuse or vulgar attacks", "toxic or abusive language",
        ("Is {it} toxic?", "Is {it} toxic or abusive?", "Would a reasonable reader call {it} toxic?",
         "Does {it} insult or use offensive language?", "Is {it} rude, disrespectful or offensive?",
         "Is the tone of {it} abusive?", "Does {it} attack or insult somebody?", "Is {it} offensive?",
         "Is someone insulted?"),
        ("Is {it} civil?", "Is {it} polite and respectful?", "Would {it} be acceptable in a friendly forum?",
         "Is {it} safe to publish in a family newspaper?", "Is the language decent?"),
        "How toxic is {it}?", ("civil", "rude", "abusive"),
    ),
    "hate": Check(
        "hateful", "attacks a group for who they are", "hate speech",
        ("Does {it} attack a group because of who they are?", "Is {it} hateful towards a protected group?",
         "Does {it} express hate for a group of people?", "Is {it} hate speech?",
         "Does {it} demean people for race, religion, gender or origin?", "Is {it} racist, sexist or homophobic?"),
        ("Is {it} free of hate towards any group?", "Does {it} treat every group of people with respect?",
         "Is no group of people attacked?"),
        "How hateful is {it}?", ("not at all", "prejudiced", "openly hateful"),
    ),
    "harassment": Check(
        "harassment", "threatens or torments a person", "harassment",
        ("Does {it} harass or threaten a person?", "Is someone being harassed?",
         "Does {it} bully or intimidate anyone?",
         "Is a person threatened or tormented in {it}?"),
        ("Is nobody harassed or threatened?", "Does {it} leave everybody in peace?"),
        "How much does {it} harass someone?", ("not at all", "somewhat", "severely"),
    ),
    "sexual": Check(
        "sexual", "sexual acts or arousal", "sexual content",
        ("Is the content sexual?", "Is {it} sexually explicit?", "Does {it} describe sexual acts?",
         "Is {it} erotic or pornographic?", "Would {it} be rated adult for sex?"),
        ("Is {it} suitable for minors as to sex?", "Does {it} avoid sexual topics?"),
        "How sexual is {it}?", ("not sexual", "suggestive", "explicit"),
    ),
    "self_harm": Check(
        "self-harm", "suicide or hurting oneself", "suicide or self-harm",
        ("Does {it} concern suicide or self-harm?", "Is self-harm described or encouraged?",
         "Does somebody want to hurt or kill themselves?", "Does {it} mention wanting to die?"),
        ("Does {it} have nothing to do with suicide or self-harm?",),
        "How strongly does {it} point to self-harm?", ("not at all", "somewhat", "strongly"),
    ),
    "violence": Check(
        "violent", "killing, wounding or other violence", "violence",
        ("Does {it} describe or promote violence?", "Is there violent content?", "Is violence depicted?",
         "Does {it} talk about killing or hurting people?", "Is somebody physically attacked in {it}?"),
        ("Is {it} peaceful?", "Does {it} avoid violence?"),
        "How violent is {it}?", ("peaceful", "tense", "violent"),
    ),
    "jailbreak": Check(
        "jailbreak", "tries to get around the assistant's rules", "a jailbreak attempt",
        ("Does {it} try to bypass the assistant's rules?", "Is {it} a jailbreak attempt?", "Is this a jailbreak?",
         "Is {it} trying to make the assistant ignore its safety rules?",
         "Does {it} ask the assistant to play a character without restrictions?",
         "Does the user try to manipulate the assistant into breaking its guidelines?",
         "Is {it} an attempt to unlock an unfiltered mode?"),
        ("Is {it} an ordinary request without any jailbreak?", "Does {it} respect the assistant's rules?",
         "Is {it} a plain request without tricks?", "Does the user leave the assistant's guidelines alone?"),
        "How hard does {it} try to get around the assistant's rules?", ("not at all", "a little", "hard"),
    ),
    "injection": Check(
        "prompt injection", "instructions to the assistant hidden in data", "a prompt injection",
        ("Does {it} contain instructions aimed at the assistant inside data?", "Is there a prompt injection?",
         "Does the document try to command the assistant?", "Is the assistant told to do something by the document?",
         "Does {it} carry hidden instructions for an AI model?", "Does the data try to hijack the assistant?",
         "Is {it} a prompt injection attack?"),
        ("Is {it} free of instructions to the assistant?", "Is the document only data, with no command for an AI?",
         "Is {it} safe to hand to an assistant as data?"),
        "How clearly does {it} try to command the assistant?", ("not at all", "perhaps", "clearly"),
    ),
    "override": Check(
        "override", "tries to make the assistant ignore or reveal its instructions",
        "an attempt to override instructions",
        ("Does {it} try to make the assistant ignore or reveal its instructions?",
         "Does {it} tell the assistant to disregard its instructions?",
         "Is someone attacking the assistant through {it}?",
         "Does {it} try to take control of the assistant?", "Is {it} a jailbreak or a prompt injection?",
         "Does {it} try to make the assistant break its rules or reveal its prompt?"),
        ("Does {it} leave the assistant's instructions alone?", "Is {it} harmless to the assistant's instructions?",
         "Is {it} neither a jailbreak nor a prompt injection?"),
        "How hard does {it} attack the assistant's instructions?", ("not at all", "a little", "hard"),
    ),
    "harmful_compliance": Check(
        "harmful help", "gives help with something dangerous or wrong", "help with something harmful",
        ("Does the reply help with something harmful?", "Does the assistant comply with a harmful request?",
         "Would following the reply cause harm?", "Does the reply give dangerous instructions?",
         "Is the reply harmful?", "Could the answer be used to hurt people?", "Is the assistant's reply unsafe?"),
        ("Is the reply harmless?", "Is the assistant's answer safe?", "Would following the reply be safe?",
         "Does the reply avoid helping with harm?"),
        "How harmful would it be to follow this reply?", ("harmless", "careless", "dangerous"),
    ),
    "refusal": Check(
        "refusal", "declines to do what was asked", "a refusal",
        ("Does the assistant refuse?", "Is the reply a refusal?", "Does the reply decline to help?",
         "Does the assistant say that it cannot or will not help?", "Is the request turned down?",
         "Did the model refuse to answer?"),
        ("Does the reply give what was asked?", "Is this an answer and not a refusal?",
         "Does the assistant comply with the request?", "Does the reply try to help?"),
        "How much does the reply hold back?", ("answers fully", "answers in part", "refuses"),
    ),
    "pii": Check(
        "personal data", "an e-mail address, phone, card or identity number, or street address", "personal data",
        ("Does {it} contain personal identifiers such as an email, phone or card number?",
         "Is personal data present?", "Does {it} reveal someone's contact details?",
         "Does {it} contain an email address, phone number or street address?",
         "Could a person be contacted or identified by a number or address in {it}?", "Does {it} leak PII?"),
        ("Is {it} free of personal identifiers?", "Is {it} free of contact details and identity numbers?"),
        "How much personal data does {it} reveal?", ("none", "some", "a lot"),
    ),
    "secret": Check(
        "credential", "an API key, token, password or private key", "a credential",
        ("Does {it} leak a key, token or password?", "Is a credential present?", "Does {it} contain a secret?",
         "Does {it} contain an API key, access token or private key?", "Is a password or key disclosed?",
         "Would {it} have to be redacted because of a credential?", "Does {it} expose login credentials?"),
        ("Is {it} free of credentials?", "Can {it} be published without leaking a key or password?"),
        "How sure is it that {it} leaks a credential?", ("surely not", "unsure", "surely"),
    ),
    "off_topic": Check(
        "off topic", "asks for something outside the given topic", "an off-topic request",
        ("Is the request outside the given topic?", "Is the question off topic?", "Is the request out of scope?",
         "Does the user ask for something the service does not cover?",
         "Is the user's message unrelated to the topic?"),
        ("Is the request on the given topic?", "Is the request within scope?", "Does the service cover the request?",
         "Is the user's message related to the topic?"),
        "How far from the topic is the request?", ("on topic", "near it", "off topic"),
    ),
    "unsupported_claim": Check(
        "unsupported", "claims something that the context does not say", "unsupported claims",
        ("Does the reply claim something the context does not support?", "Is any claim unsupported by the context?",
         "Does the reply add facts that the context does not give?", "Is the reply hallucinated?",
         "Does the reply go beyond or contradict the context?"),
        ("Is everything in the reply supported by the context?", "Does the context support the reply?",
         "Is every claim in the reply supported by the context?", "Is the reply faithful to the context?"),
        "How far does the reply go beyond the context?", ("not at all", "a little", "far"),
    ),
}  # fmt: skip
COMPARING: Final = ("off_topic", "unsupported_claim")
"""Checks that compare a text with its context, so the context must be shown; CONTAINS makes no sense for them."""
