"""A session is a cookie that only we can read or write: it names two tokens and holds neither.

AES-256-GCM (NIST SP 800-38D) under a key that the list of keys derives, so any replica opens it and none keeps it. The
cookie has no Path of its own: a browser then takes the folder of the page that set it (RFC 6265, 5.1.4), which is
``/ui`` with whatever a gateway has put before it. So only ``/ui/sign-in`` and ``/ui/sign-out`` may set it.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from chalicelib.keys import Keyring, KeysUnusable

COOKIE = "larder"
LIFETIME = timedelta(hours=1)
_PURPOSE = "page session"
_NONCE_BYTES = 12


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Whose session it is: ids of an API token and of an admin token, and the tenant's name to show."""

    token_id: UUID
    admin_token_id: UUID
    tenant: str


@dataclass(frozen=True, slots=True)
class Session:
    """``csrf`` stands in every form that this session is shown. Before signing in there is a session of nobody's."""

    csrf: str
    ends_at: datetime
    signed_in: SignedIn | None = None


def begin(now: datetime, signed_in: SignedIn | None = None) -> Session:
    """A new session, of at most an hour."""
    return Session(secrets.token_urlsafe(32), now + LIFETIME, signed_in)


def sealed(keys: Keyring, session: Session) -> str:
    """The cookie's value. Raises KeysUnusable."""
    key_id, key = keys.derived(_PURPOSE)
    whose = session.signed_in
    document = {
        "csrf": session.csrf,
        "ends_at": session.ends_at.timestamp(),
        "signed_in": whose and [str(whose.token_id), str(whose.admin_token_id), whose.tenant],
    }
    nonce = os.urandom(_NONCE_BYTES)
    content = nonce + AESGCM(key).encrypt(nonce, json.dumps(document).encode(), key_id.encode())
    return f"{_text(key_id.encode())}.{_text(content)}"


def opened(keys: Keyring, cookies: str, now: datetime) -> Session | None:
    """The session of a Cookie header; None if there is none, or it is over, or not one that we sealed."""
    try:
        key_text, _, content_text = _value(cookies).partition(".")
        key_id, content = _bytes(key_text), _bytes(content_text)
        _, key = keys.derived(_PURPOSE, key_id.decode())
        document = json.loads(AESGCM(key).decrypt(content[:_NONCE_BYTES], content[_NONCE_BYTES:], key_id))
    except (InvalidTag, ValueError, KeysUnusable):
        return None
    session = Session(document["csrf"], datetime.fromtimestamp(document["ends_at"], UTC))
    if now >= session.ends_at:
        return None
    if document["signed_in"] is None:
        return session
    token_id, admin_token_id, tenant = document["signed_in"]
    return replace(session, signed_in=SignedIn(UUID(token_id), UUID(admin_token_id), tenant))


def set_cookie(value: str, *, secure: bool) -> str:
    """A Set-Cookie header; an empty value takes the cookie away."""
    age = int(LIFETIME.total_seconds()) if value else 0
    return f"{COOKIE}={value}; Max-Age={age}; HttpOnly; SameSite=Strict{'; Secure' if secure else ''}"


def _value(cookies: str) -> str:
    for part in cookies.split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return value
    return ""


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
