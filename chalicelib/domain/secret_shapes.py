"""Provider tokens without a prefix at their front: a mark in the middle or at the end, or a strict shape."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chalicelib.domain.secret_finding import Finding, occurrences, stands_free

# Each is looked for by its mark, which is a literal; ``back`` characters before the mark belong to the token.
_MARKED = (
    ("azure_client_secret", "Q~", 4, re.compile(r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.\-]{31,34}(?![A-Za-z0-9_~])")),
    ("azure_devops_token", "AZDO", 76, re.compile(r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])")),
    ("azure_api_key", "JQQJ9", 52, re.compile(r"[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27}(?![A-Za-z0-9])")),
    ("azure_storage_key", "+ASt", 76, re.compile(r"[A-Za-z0-9+/]{76}\+ASt[A-Za-z0-9+/]{6}==")),
    ("azure_cosmos_key", "ACDb", 76, re.compile(r"[A-Za-z0-9+/]{76}ACDb[A-Za-z0-9+/]{6}==")),
    ("terraform_token", ".atlasv1.", 14, re.compile(r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-=]{40,120}")),
    ("mailchimp_key", "-us", 32, re.compile(r"[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])")),
    ("maxmind_key", "_mmk", 36, re.compile(r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])")),
)
# Nine digits, a colon, and 35 characters that start with A: @BotFather writes nothing else. "bot" may stand before.
_TELEGRAM = re.compile(r"[0-9]{8,10}:A[A-Za-z0-9_\-]{34}(?![A-Za-z0-9_\-])")
# A user id in base64, a time, a signature.
_DISCORD = re.compile(r"[MNO](?<![\w.\-].)[A-Za-z0-9_\-]{23,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,45}(?![\w\-])")
_MAILGUN = re.compile(r"[0-9a-f](?<![A-Za-z0-9\-].)[0-9a-f]{31}-[0-9a-f]{8}-[0-9a-f]{8}(?![A-Za-z0-9\-])")
_AWS_ID = re.compile(r"A(?<![A-Za-z0-9].)(?:KIA|SIA|3T[A-Z0-9])[A-Z0-9]{16,17}(?![A-Za-z0-9])")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")


def find_shapes(text: str) -> Iterator[Finding]:
    """Yield the tokens that a mark or their shape gives away."""
    for kind, mark, back, pattern in _MARKED:
        for at in occurrences(text, mark):
            start = at - back
            if start >= 0 and (found := pattern.match(text, start)) and stands_free(text, start):
                yield Finding(kind, *found.span())
    yield from _find_telegram(text)
    for kind, pattern in (("discord_token", _DISCORD), ("mailgun_key", _MAILGUN)):
        for found in pattern.finditer(text):
            yield Finding(kind, *found.span())
    yield from _find_aws_pairs(text)


def _find_telegram(text: str) -> Iterator[Finding]:
    for at in occurrences(text, ":A"):
        start = at
        while start > 0 and at - start < 10 and text[start - 1] in "0123456789":
            start -= 1
        if (found := _TELEGRAM.match(text, start)) and (stands_free(text, start) or text.endswith("bot", 0, start)):
            yield Finding("telegram_token", *found.span())


def _find_aws_pairs(text: str) -> Iterator[Finding]:
    """A secret key without a name, beside its access key id: 40 characters of base64 with all three sorts in them."""
    for identifier in _AWS_ID.finditer(text):
        if identifier.group().endswith("EXAMPLE"):
            continue
        for found in _AWS_SECRET.finditer(text, max(0, identifier.start() - 100), identifier.end() + 100):
            key = found.group()
            if any(c.isupper() for c in key) and any(c.islower() for c in key) and any(c.isdigit() for c in key):
                yield Finding("aws_secret_key", *found.span())
