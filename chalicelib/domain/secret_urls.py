"""Secrets inside addresses: ``user:password@host`` (RFC 3986, 3.2.1), webhooks, signed links."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chalicelib.domain.secret_finding import Finding, occurrences
from chalicelib.domain.secret_values import is_placeholder, is_token

# A colon or an at sign after the first slash belongs to the path, so neither part holds one. A password may hold
# an at sign of its own: the last one before the path ends it. ``\x`` is how shells and JSON escape.
_USERINFO = re.compile(r"://([^\s:/?#@\"'<>`|]{0,200}):([^\s/?#\"'<>`|]{1,400})@(?=[\w\[%$({])")
_TOKEN_AS_USER = re.compile(r"://([A-Za-z0-9_.~%-]{16,400})(?::(?:x-oauth-basic)?)@(?=\w)")
_ORACLE = re.compile(r"jdbc:oracle:\w{2,6}:[^\s/:@]{1,100}/([^\s/@\"']{1,200})@")

# An address that lets whoever knows it write: looked for by a literal of its host, whole from its scheme on.
_WEBHOOKS = (
    (
        "slack_webhook",
        "hooks.slack",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/+\-]{20,200}",
    ),
    ("discord_webhook", "discord", r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{15,21}/[A-Za-z0-9_\-]{50,90}"),
    (
        "teams_webhook",
        "office.com/webhook",
        r"office\.com/webhook(?:b2)?/[A-Za-z0-9@\-]{36,90}/IncomingWebhook/[A-Za-z0-9\-/]{20,160}",
    ),
    ("zapier_webhook", "hooks.zapier.com", r"hooks\.zapier\.com/hooks/catch/\d{4,12}/[a-z0-9]{5,20}/?"),
    (
        "google_chat_webhook",
        "chat.googleapis.com",
        r"chat\.googleapis\.com/v1/spaces/[A-Za-z0-9_\-]{5,40}/messages\?[^\s\"'<>]{40,300}",
    ),
)
_WEBHOOK_PATTERNS = {kind: re.compile(pattern) for kind, _, pattern in _WEBHOOKS}
_SCHEME = re.compile(r"(?:https?://)?(?:[a-z0-9\-]{1,40}\.){0,3}\Z")

# The parameter that makes a link work for whoever holds it. It must stand in a query: a lone sig= may be anything.
_SIGNATURES = ("sig=", "Signature=", "Security-Token=", "code=", "access_token=")
_SIGNATURE = re.compile(r"[A-Za-z0-9%+/=_~.\-]{20,2000}+")
_PARAMETER = re.compile(r"(?:[?&;#]|&amp;|\\u0026)[\w\-]{0,20}\Z")
_SHARED_ACCESS = re.compile(r"SharedAccessSignature (?:sr=[^\s&]{1,300}&)?[^\s]{0,40}?sig=([A-Za-z0-9%+/=]{20,200}+)")


def find_in_addresses(text: str) -> Iterator[Finding]:
    """Yield passwords of URLs and connection strings, webhook addresses, and signatures of shared links."""
    if "://" in text:
        yield from _find_userinfo(text)
    for found in _ORACLE.finditer(text):
        if not is_placeholder(found.group(1)):
            yield Finding("url_credentials", *found.span(1))
    for kind, host, _ in _WEBHOOKS:
        for at in occurrences(text, host):
            if webhook := _WEBHOOK_PATTERNS[kind].match(text, at):
                scheme = _SCHEME.search(text, max(0, at - 80), at)
                yield Finding(kind, scheme.start() if scheme else at, webhook.end())
    for name in _SIGNATURES:
        for at in occurrences(text, name):
            sign = _SIGNATURE.match(text, at + len(name))
            if sign and _PARAMETER.search(text, max(0, at - 26), at) and is_token(sign.group(), quoted=True):
                yield Finding("azure_sas" if name == "sig=" else "signed_link", *sign.span())
    for found in _SHARED_ACCESS.finditer(text):
        yield Finding("azure_sas", *found.span(1))


def _find_userinfo(text: str) -> Iterator[Finding]:
    for found in _USERINFO.finditer(text):
        if not is_placeholder(found.group(2)):
            yield Finding("url_credentials", *found.span(2))
    for found in _TOKEN_AS_USER.finditer(text):
        if is_token(found.group(1), quoted=True, uuids=True):
            yield Finding("url_credentials", *found.span(1))
