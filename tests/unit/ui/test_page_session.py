from __future__ import annotations

import base64
import json
import string
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from chalicelib import keys
from chalicelib.keys import Keyring, KeysUnusable
from chalicelib.ui import session
from chalicelib.ui.session import COOKIE, Session, SignedIn

LETTERS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
NOW = datetime(2026, 11, 30, 12, 0, 0, 123_456, tzinfo=UTC)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    keys.make_file(tmp_path / "keys.json")
    return tmp_path / "keys.json"


@pytest.fixture
def ring(file: Path) -> Keyring:
    return Keyring(str(file))


def begun() -> Session:
    return session.begin(NOW, SignedIn(uuid4(), uuid4(), "Ä tenant; its name"))


def opened(ring: Keyring, value: str, now: datetime = NOW) -> Session | None:
    return session.opened(ring, f"other=1; {COOKIE}={value}; more=2", now)


def test_what_is_sealed_opens_for_an_hour_and_no_longer(ring: Keyring) -> None:
    for whose in (begun(), session.begin(NOW)):
        value = session.sealed(ring, whose)
        assert opened(ring, value) == whose
        assert opened(ring, value, NOW + timedelta(minutes=59, seconds=59)) == whose
        assert opened(ring, value, NOW + timedelta(hours=1)) is None


def test_nobody_reads_it_and_no_two_are_alike(ring: Keyring) -> None:
    whose = begun()
    assert whose.signed_in is not None
    value = session.sealed(ring, whose)
    content = base64.urlsafe_b64decode(value.partition(".")[2] + "==")
    for secret in (whose.csrf, str(whose.signed_in.token_id), "tenant"):
        assert secret.encode() not in content
    assert session.sealed(ring, whose) != value
    assert session.begin(NOW).csrf != session.begin(NOW).csrf


def test_one_changed_character_anywhere_makes_it_nobodys(ring: Keyring) -> None:
    value = session.sealed(ring, begun())
    for place, character in enumerate(value):
        other = LETTERS[LETTERS.index(character) ^ 32] if character != "." else "A"  # not a bit that is only padding
        assert opened(ring, value[:place] + other + value[place + 1 :]) is None, place


@pytest.mark.parametrize("value", ["", ".", "x", "MQ.", "MQ.AAAA", "MQ==.AAAA", "é.é", "." * 50, "MQ." + "A" * 4000])
def test_what_is_no_session_is_nobodys(ring: Keyring, value: str) -> None:
    assert opened(ring, value) is None
    assert session.opened(ring, "", NOW) is None


def test_a_key_that_was_rotated_opens_still_and_one_that_was_taken_away_does_not(file: Path, ring: Keyring) -> None:
    whose = begun()
    value = session.sealed(ring, whose)
    document = json.loads(file.read_text())
    newer = {"id": "2", "secret": base64.urlsafe_b64encode(bytes(32)).decode()}
    file.write_text(json.dumps({"keys": [*document["keys"], newer]}))
    assert opened(Keyring(str(file)), value) == whose
    file.write_text(json.dumps({"keys": [newer]}))
    assert opened(Keyring(str(file)), value) is None


def test_without_keys_nothing_is_sealed(tmp_path: Path) -> None:
    with pytest.raises(KeysUnusable):
        session.sealed(Keyring(str(tmp_path / "none")), begun())


def test_the_cookie_is_for_our_pages_on_our_site_over_tls_alone() -> None:
    assert session.set_cookie("v", secure=True) == "larder=v; Max-Age=3600; HttpOnly; SameSite=Strict; Secure"
    assert session.set_cookie("v", secure=False) == "larder=v; Max-Age=3600; HttpOnly; SameSite=Strict"
    assert session.set_cookie("", secure=True) == "larder=; Max-Age=0; HttpOnly; SameSite=Strict; Secure"
