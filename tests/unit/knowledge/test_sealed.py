from __future__ import annotations

import base64
import dataclasses
import json
from pathlib import Path
from uuid import uuid4

import pytest

from chalicelib.keys import Keyring, KeysUnusable
from chalicelib.knowledge.sealed import seal, unseal


def keyring(path: Path, *ids: str) -> Keyring:
    keys = [{"id": name, "secret": base64.urlsafe_b64encode(name.encode().ljust(32, b"k")).decode()} for name in ids]
    path.write_text(json.dumps({"keys": keys}))
    path.chmod(0o600)
    return Keyring(str(path))


def test_a_secret_comes_back_and_is_not_readable_at_rest(tmp_path: Path) -> None:
    keys, ident = keyring(tmp_path / "keys", "1"), uuid4()
    sealed = seal(keys, ident, "a secret")
    assert unseal(keys, ident, sealed) == "a secret"
    assert b"secret" not in sealed.ciphertext
    assert seal(keys, ident, "a secret") != sealed, "equal secrets don't look alike"
    assert "ciphertext" not in repr(sealed)


def test_an_old_key_still_opens_and_the_newest_seals(tmp_path: Path) -> None:
    ident = uuid4()
    sealed = seal(keyring(tmp_path / "old", "1"), ident, "a secret")
    both = keyring(tmp_path / "new", "1", "2")
    assert unseal(both, ident, sealed) == "a secret"
    assert seal(both, ident, "x").key_id == "2"


def test_it_opens_for_its_own_registration_and_unchanged_alone(tmp_path: Path) -> None:
    keys, ident = keyring(tmp_path / "keys", "1", "2"), uuid4()
    sealed = seal(keys, ident, "a secret")
    flipped = bytes([sealed.ciphertext[-1] ^ 1])
    for wrong in (
        dataclasses.replace(sealed, ciphertext=sealed.ciphertext[:-1] + flipped),
        dataclasses.replace(sealed, ciphertext=b""),
        dataclasses.replace(sealed, key_id="1"),
        dataclasses.replace(sealed, key_id="gone"),
    ):
        with pytest.raises(KeysUnusable):
            unseal(keys, ident, wrong)
    with pytest.raises(KeysUnusable):
        unseal(keys, uuid4(), sealed)
