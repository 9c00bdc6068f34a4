"""Secrets inside addresses: ``user:password@host`` (RFC 3986, 3.2.1), webhooks, signed links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from chalicelib.domain.secret_finding import Finding, occurrences
from chalicelib.domain.secret_values import is_masked, is_placeholder, is_token

# A colon or an at sign after the first slash belongs to the path, so neither part holds one. A password may hold
# an at sign of its own: the last one before the path ends it. ``\x`` is how shells and JSON escape, slashes too.
_USERINFO = re.compile(r":(?://|\\/\\/)[^\s:/?#@\"'<>`|]{0,200}:([^\s/?#\"'<>`|]{1,400})@(?=[\w\[%$({])")
# Of a database's address nobody takes a metric's for it, so there a password may hold what should have been escaped.
_DATABASE = re.compile(
    r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|redis|rediss|amqps?|s?ftps?|ldaps?|smtps?|imaps?|mssql|sqlserver|clickhouse|"
    r"cockroachdb|couchdb|neo4j|nats|mqtts?|snowflake|oracle)(?:\+[\w.]{1,20})?://[^\s:/@\"'<>`|]{0,200}:"
    r"([^\s\"'<>`|]{1,200}?)@(?=[\w.\-\[\]]{1,120}(?:[:/?,\s\"'`);]|$))"
)
# A whole address inside another one's query.
_ENCODED = re.compile(
    r"%3A%2F%2F[^\s%&\"'<>]{0,100}%3A((?:[^\s%&\"'<>]|%(?!2F|3F|23|40)){1,200})%40(?=[\w\[])", re.IGNORECASE
)
_SHORTEST = 4  # documents are full of user:xyz@, and what is shorter protects nothing
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
_SIGNATURES = {
    "sig=": "azure_sas",
    "X-Amz-Signature=": "signed_link",
    "X-Amz-Security-Token=": "aws_session_token",
    "X-Goog-Signature=": "signed_link",
    "Signature=": "signed_link",
    "code=": "signed_link",
    "access_token=": "signed_link",
}
_SIGNATURE = re.compile(r"[A-Za-z0-9%+/=_~.\-]{20,2000}+")
_SHARED_ACCESS = re.compile(r"SharedAccessSignature (?:sr=[^\s&]{1,300}&)?[^\s]{0,40}?sig=([A-Za-z0-9%+/=]{20,200}+)")


def find_in_addresses(text: str) -> Iterator[Finding]:
    """Yield passwords of URLs and connection strings, webhook addresses, and signatures of shared links."""
    if "://" in text or ":\\/\\/" in text or "%2F%2F" in text or "%2f%2f" in text:
        yield from _find_userinfo(text)
    for found in _ORACLE.finditer(text):
        if not is_placeholder(found.group(1)):
            yield Finding("url_credentials", *found.span(1))
    yield from _find_in_go_dsn(text)
    for kind, host, _ in _WEBHOOKS:
        for at in occurrences(text, host):
            if (webhook := _WEBHOOK_PATTERNS[kind].match(text, at)) and not is_masked(webhook.group()):
                scheme = _SCHEME.search(text, max(0, at - 80), at)
                yield Finding(kind, scheme.start() if scheme else at, webhook.end())
    for name, kind in _SIGNATURES.items():
        for at in occurrences(text, name):
            if at and (text[at - 1] in "?&;#" or text.endswith("\\u0026", 0, at)):
                sign = _SIGNATURE.match(text, at + len(name))
                if sign and is_token(sign.group(), quoted=True):
                    yield Finding(kind, *sign.span())
    for found in _SHARED_ACCESS.finditer(text):
        yield Finding("azure_sas", *found.span(1))


def _find_in_go_dsn(text: str) -> Iterator[Finding]:
    """The password of ``user:password@tcp(host)/database``, as Go's MySQL driver takes it."""
    for sign in ("@tcp(", "@unix("):
        for at in occurrences(text, sign):
            colon = text.rfind(":", max(0, at - 128), at)
            password = text[colon + 1 : at] if colon > 0 else ""
            if len(password) >= _SHORTEST and password.isprintable() and not is_placeholder(password):
                yield Finding("url_credentials", colon + 1, at)


def _find_userinfo(text: str) -> Iterator[Finding]:
    for pattern in (_USERINFO, _DATABASE, _ENCODED):
        for found in pattern.finditer(text):
            password = found.group(1)
            if len(password) >= _SHORTEST and not is_placeholder(unquote(password)):
                yield Finding("url_credentials", *found.span(1))
    for found in _TOKEN_AS_USER.finditer(text):
        if is_token(found.group(1), quoted=True, uuids=True):
            yield Finding("url_credentials", *found.span(1))
