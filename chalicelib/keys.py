"""Keys for proofs, chain heads and secrets at rest: one versioned list; old versions verify, the newest signs.

On AWS the list is a secret of Secrets Manager, locally a file that its owner alone may read. Its form:
``{"keys": [{"id": "2026-11", "secret": "<base64url of 32 bytes>"}, …]}``, oldest first.
"""

from __future__ import annotations

import base64
import hmac
import json
import os
import secrets
import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from chalicelib.errors import LarderError

KEY_BYTES = 32


class KeysUnusable(LarderError):
    """The list of keys is missing, malformed, or open to others."""


@dataclass(frozen=True, slots=True)
class Key:
    """One version."""

    id: str
    secret: bytes


class Signer:
    """HMAC-SHA256 by one key for one purpose. The key's own block is hashed once, here; each message takes a copy."""

    def __init__(self, key: Key, purpose: str) -> None:
        self.key_id = key.id
        self._begun = hmac.new(key.secret, purpose.encode() + b"\0", "sha256")

    def mac(self, message: bytes) -> str:
        """The HMAC of ``message``, hex."""
        mac = self._begun.copy()
        mac.update(message)
        return mac.hexdigest()


class Keyring:
    """The list at ``location``: a path, or ``arn:aws:secretsmanager:…``; read when first needed.

    Raises KeysUnusable from every method if it can't be read: without keys nothing is served that needs a proof.
    """

    def __init__(self, location: str) -> None:
        self._location = location
        self._signers: dict[tuple[str, str], Signer] = {}

    @property
    def newest(self) -> Key:
        """The key that signs."""
        return self._keys[-1]

    def sign(self, purpose: str, message: bytes) -> tuple[str, str]:
        """The newest key's id and the HMAC-SHA256, hex, of ``message`` for one purpose ("proof", "head")."""
        signer = self.signer(purpose)
        return signer.key_id, signer.mac(message)

    def signer(self, purpose: str) -> Signer:
        """What signs many messages for one purpose by the newest key."""
        return self._signer(self.newest, purpose)

    def verify(self, purpose: str, message: bytes, key_id: str, mac: str) -> bool:
        """Whether ``mac`` is the HMAC by the key of that id; compared in constant time."""
        key = next((key for key in self._keys if key.id == key_id), None)
        return key is not None and hmac.compare_digest(self._signer(key, purpose).mac(message).encode(), mac.encode())

    def derived(self, purpose: str, key_id: str | None = None) -> tuple[str, bytes]:
        """A key of 32 bytes for one purpose, by the newest version or the one of ``key_id``."""
        key = self.newest if key_id is None else next((key for key in self._keys if key.id == key_id), None)
        if key is None:
            raise KeysUnusable(f"there is no key {key_id!r}")
        return key.id, hmac.digest(key.secret, f"larder {purpose}".encode(), "sha256")

    def _signer(self, key: Key, purpose: str) -> Signer:
        if (key.id, purpose) not in self._signers:
            self._signers[key.id, purpose] = Signer(key, purpose)
        return self._signers[key.id, purpose]

    @cached_property
    def _keys(self) -> list[Key]:
        try:
            document = json.loads(read_secret(self._location))
            keys = [Key(entry["id"], base64.urlsafe_b64decode(entry["secret"])) for entry in document["keys"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise KeysUnusable("the list of keys can't be read") from error
        if not keys or len({key.id for key in keys}) != len(keys) or any(len(key.secret) < KEY_BYTES for key in keys):
            raise KeysUnusable(f"the list of keys needs unique ids and secrets of {KEY_BYTES} bytes")
        return keys


def make_file(path: Path) -> None:
    """Write a list with one new key, readable by its owner alone. Raises FileExistsError."""
    secret = base64.urlsafe_b64encode(secrets.token_bytes(KEY_BYTES)).decode()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"keys": [{"id": "1", "secret": secret}]}, file)


def read_secret(location: str) -> str:
    """What a secret of Secrets Manager holds, by its ARN, or a file that its owner alone may read.

    Raises KeysUnusable for a file that others may read, OSError, and whatever Secrets Manager's client raises.
    """
    if location.startswith("arn:"):
        from aws_lambda_powertools.utilities import parameters

        return str(parameters.get_secret(location, max_age=300))
    path = Path(location)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise KeysUnusable("a file with a secret is open to others: chmod 600")
    return path.read_text(encoding="utf-8")
