"""The list of keys: what signs, and what old versions are still good for."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from pathlib import Path

import pytest

from chalicelib.keys import Keyring, KeysUnusable, make_file

OLD, NEW = b"o" * 32, b"n" * 40


@pytest.fixture
def keys(tmp_path: Path) -> Keyring:
    path = tmp_path / "keys.json"
    make_file(path)
    listed = [{"id": name, "secret": base64.urlsafe_b64encode(key).decode()} for name, key in (("1", OLD), ("2", NEW))]
    path.write_text(json.dumps({"keys": listed}), encoding="utf-8")
    return Keyring(str(path))


def mac(key: bytes, purpose: bytes, message: bytes) -> str:
    return hmac.new(key, purpose + b"\0" + message, hashlib.sha256).hexdigest()


def test_the_newest_key_signs_message_after_message(keys: Keyring) -> None:
    for message in (b"", b"one", b"one", b"m" * 1000):
        assert keys.sign("proof", message) == ("2", mac(NEW, b"proof", message))
    signer = keys.signer("head")
    assert [signer.mac(b"a"), signer.mac(b"b")] == [mac(NEW, b"head", b"a"), mac(NEW, b"head", b"b")]


def test_an_old_key_verifies_and_no_key_stands_for_another_or_another_purpose(keys: Keyring) -> None:
    assert keys.verify("proof", b"m", "1", mac(OLD, b"proof", b"m"))
    assert keys.verify("proof", b"m", "2", mac(NEW, b"proof", b"m"))
    assert not keys.verify("proof", b"m", "2", mac(OLD, b"proof", b"m"))
    assert not keys.verify("head", b"m", "2", mac(NEW, b"proof", b"m"))
    assert not keys.verify("proof", b"m", "3", mac(NEW, b"proof", b"m"))
    assert not keys.verify("proof", b"m", "2", "ü")


def test_keys_that_others_may_read_are_not_used(keys: Keyring, tmp_path: Path) -> None:
    (tmp_path / "keys.json").chmod(0o644)
    with pytest.raises(KeysUnusable):
        keys.signer("proof")
