"""Whatever breaks on our side: the log tells where, and nothing of what was asked or is secret."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chalicelib import bootstrap, settings
from chalicelib.errors import LarderError
from chalicelib.keys import Keyring
from chalicelib.services import enforcement
from chalicelib.storage.connection import Database
from tests.api import contract
from tests.integration import rows
from tests.security.ear import Ear, listening, marked_deployment, marked_tenant  # noqa: F401 - fixtures
from tests.tenants import Deployment, Tenant


class ZqFault(LarderError):
    """A fault whose text quotes everything."""


@pytest.mark.parametrize("fault", [RuntimeError, ValueError, KeyError, ZqFault, UnicodeError, RecursionError])
def test_nothing_of_a_fault_is_logged(
    ours: Tenant, ear: Ear, monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        try:
            raise OSError("zqcauseqz")
        except OSError as cause:
            raise fault("zqmessageqz") from cause

    monkeypatch.setattr(enforcement, "reading", fail)
    assert ours.post("/v1/kb/search", {"query": "zqquestionqz"}).status == 500
    ear.heard_nothing_of("zqmessage", but="unexpected error")


def test_nothing_of_a_statement_that_fails_is_logged(ours: Tenant, shared: Deployment, ear: Ear) -> None:
    rule = "add constraint no_marks check (not starts_with(name, 'zq')) not valid"
    rows.sql(shared, f"alter table kb_sources {rule}")
    body = {"uri": "https://zqhostqz.example.com/", "name": "zqnameqz"}
    try:
        assert ours.post("/v1/kb/sources", body).status == 500
    finally:
        rows.sql(shared, "alter table kb_sources drop constraint no_marks")
    ear.heard_nothing_of(but="CheckViolation")


def test_nothing_of_an_unreachable_database_is_logged(
    ours: Tenant, shared: Deployment, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = Database("postgresql://zquserqz:zqpasswordqz@127.0.0.1:1/zqdatabaseqz")
    monkeypatch.setattr(bootstrap, "outside", lambda: replace(shared.outside, database=nowhere))
    assert ours.get("/v1/kb/status").status == 503
    assert shared.request("GET", "/readyz", {}).status == 503
    ear.heard_nothing_of("127.0.0.1", but="the database did not serve")


def test_nothing_of_the_environment_is_logged_but_the_names_of_what_is_wrong(
    ours: Tenant, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DATABASE_URL", "KB_ALLOWED_PORTS", "KB_ALLOWLIST_DOMAINS", "LARDER_LOG_LEVEL", "LARDER_KEYS"):
        monkeypatch.setenv(name, "zqvalueqz,")
    monkeypatch.setattr(bootstrap, "outside", lambda: bootstrap.build(settings.read(os.environ)))
    assert ours.get("/v1/kb/status").status == 500
    ear.heard_nothing_of(but="KB_ALLOWED_PORTS: must be a whole number")


def test_nothing_of_the_keys_is_logged(
    ours: Tenant, shared: Deployment, ear: Ear, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = tmp_path / "zqfileqz.json"
    kept.write_text('{"keys": [{"id": "zqkeyqz", "secret": "zqsecretqz"}]}')
    kept.chmod(0o600)
    monkeypatch.setattr(bootstrap, "outside", lambda: replace(shared.outside, keys=Keyring(str(kept))))
    proof = {"chunk_id": "0" * 8 + "-0000-0000-0000-" + "0" * 12, "decision": "allow"}
    body = contract.body_for(next(r for r in contract.routes() if r.path.endswith("/proofs/verify")))
    assert ours.post("/v1/memory/firewall/proofs/verify", {**body, **proof}).status == 503
    ear.heard_nothing_of(but="no keys to sign with")
