"""Secrets at rest: AES-256-GCM under a key that the list of keys derives (spec 3.2)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from chalicelib.keys import Keyring, KeysUnusable

_PURPOSE = "provider secret"
_NONCE_BYTES = 12  # NIST SP 800-38D, 5.2.1.1


@dataclass(frozen=True, slots=True, repr=False)
class Sealed:
    """What is stored: the key's id, and nonce and ciphertext with its tag in one."""

    key_id: str
    ciphertext: bytes


def seal(keys: Keyring, registration: UUID, secret: str) -> Sealed:
    """Encrypt under the newest key. The result opens for this registration alone."""
    key_id, key = keys.derived(_PURPOSE)
    nonce = os.urandom(_NONCE_BYTES)
    return Sealed(key_id, nonce + AESGCM(key).encrypt(nonce, secret.encode(), _bound_to(registration, key_id)))


def unseal(keys: Keyring, registration: UUID, sealed: Sealed) -> str:
    """The secret. Raises KeysUnusable if its key is gone, or if it was sealed for another registration or changed."""
    _, key = keys.derived(_PURPOSE, sealed.key_id)
    nonce, ciphertext = sealed.ciphertext[:_NONCE_BYTES], sealed.ciphertext[_NONCE_BYTES:]
    try:
        return AESGCM(key).decrypt(nonce, ciphertext, _bound_to(registration, sealed.key_id)).decode()
    except (InvalidTag, ValueError):
        raise KeysUnusable("a provider's secret can't be opened") from None


def _bound_to(registration: UUID, key_id: str) -> bytes:
    """What else the tag covers: a row's secret copied to another row does not open there."""
    return f"larder {registration} {key_id}".encode()
