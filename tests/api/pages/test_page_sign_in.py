"""Signing in and out, and what ends a session."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from chalicelib import bootstrap
from chalicelib.services import tokens
from chalicelib.ui import page, session
from tests.api import tables
from tests.api.furniture import update
from tests.tenants import Deployment, Tenant
from tests.visitor import Visitor

FIREWALL = "/ui/admin/memory/firewall"


@pytest.fixture
def visitor(shared: Deployment) -> Visitor:
    return Visitor(shared)


def token_id(tenant: Tenant, token_class: str) -> UUID:
    with tables.superuser(tenant.deployment) as connection:
        found = connection.execute(
            "select id from api_tokens where tenant_id = %s and class = %s", (tenant.id, token_class)
        ).fetchone()
    assert found is not None
    return UUID(str(found[0]))


def test_two_valid_tokens_open_the_pages_and_signing_out_closes_them(visitor: Visitor, ours: Tenant) -> None:
    here = visitor.sign_in(ours)
    assert (here.status, here.url) == (200, f"http://127.0.0.1:8000{FIREWALL}")
    assert ours.name in here.text
    out = visitor.submit(here, "sign-out")
    assert (out.status, out.soup.h1.get_text()) == (200, "Sign in")
    assert visitor.get(FIREWALL).status == 401


def test_the_cookie_holds_no_token_and_no_readable_id(visitor: Visitor, ours: Tenant) -> None:
    visitor.sign_in(ours)
    [value] = visitor.cookies.values()
    for secret in (ours.api_token, ours.admin_token, str(token_id(ours, "api")), str(ours.id)):
        assert secret not in value
        assert secret.encode().hex() not in value


def test_wrong_tokens_open_nothing_and_say_which_with_the_apis_status(
    visitor: Visitor, ours: Tenant, theirs: Tenant
) -> None:
    for api, admin, status, said in (
        ("", ours.admin_token, 401, "no valid API token"),
        ("nonsense", ours.admin_token, 401, "no valid API token"),
        (ours.admin_token, ours.admin_token, 401, "no valid API token"),
        (ours.api_token, "", 403, "no valid admin token"),
        (ours.api_token, ours.api_token, 403, "no valid admin token"),
        (ours.api_token, theirs.admin_token, 403, "no valid admin token"),
    ):
        form = visitor.get("/ui/sign-in")
        refused = visitor.submit(form, "sign-in", api_token=api, admin_token=admin)
        assert refused.status == status
        assert said in refused.text
        assert not api or api not in refused.html
        assert visitor.get(FIREWALL).status == 401


def test_tokens_are_taken_from_a_form_alone(visitor: Visitor, ours: Tenant) -> None:
    named = f"api_token={ours.api_token}&admin_token={ours.admin_token}"
    assert visitor.get(f"/ui/sign-in?{named}").status == 422
    headers = ours._headers()
    assert Visitor(ours.deployment, said={**visitor.said, **headers}).get(FIREWALL).status == 401


def test_without_the_cookie_of_the_form_nobody_signs_in(visitor: Visitor, ours: Tenant) -> None:
    form = visitor.get("/ui/sign-in")
    visitor.cookies.clear()
    refused = visitor.submit(form, "sign-in", api_token=ours.api_token, admin_token=ours.admin_token)
    assert (refused.status, visitor.cookies) == (403, {})


def test_signing_in_begins_a_new_session_with_a_new_form_token(visitor: Visitor, ours: Tenant) -> None:
    before = visitor.get("/ui/sign-in").form("sign-in")[1]["csrf"]
    after = visitor.sign_in(ours).form("sign-out")[1]["csrf"]
    assert before != after
    assert visitor.get(FIREWALL).form("sign-out")[1]["csrf"] == after


@pytest.mark.parametrize("token_class", ["api", "admin"])
def test_a_revoked_token_ends_the_session_at_once(visitor: Visitor, ours: Tenant, token_class: str) -> None:
    visitor.sign_in(ours)
    assert visitor.get(FIREWALL).status == 200
    update(ours, "api_tokens", token_id(ours, token_class), revoked_at=datetime.now(UTC))
    refused = visitor.get(FIREWALL)
    assert refused.status == 401
    assert "http://127.0.0.1:8000/ui/sign-in" in refused.links()
    assert visitor.get("/ui/sign-in").status == 200, "there is a way back in"


def test_a_session_ends_within_the_hour(visitor: Visitor, ours: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor.sign_in(ours)
    now = datetime.now(UTC)

    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return now + timedelta(hours=1)

    monkeypatch.setattr(page, "datetime", Later)
    assert visitor.get(FIREWALL).status == 401


def test_a_deleted_tenant_is_signed_in_no_more(visitor: Visitor, ours: Tenant) -> None:
    visitor.sign_in(ours)
    with tables.superuser(ours.deployment) as connection:
        connection.execute("delete from tenants where id = %s", (ours.id,))
    assert visitor.get(FIREWALL).status == 401


def test_a_session_of_nobodys_opens_no_page_and_changes_nothing(visitor: Visitor, ours: Tenant) -> None:
    csrf = visitor.get("/ui/sign-in").form("sign-in")[1]["csrf"]
    assert visitor.get(FIREWALL).status == 401
    before = tables.dump(ours.deployment)
    assert visitor.post(f"{FIREWALL}/mode", {"mode": "off", "csrf": csrf}).status == 401
    assert tables.dump(ours.deployment) == before


def test_an_operators_name_is_written_down_by_what_they_change(visitor: Visitor, ours: Tenant) -> None:
    with ours.deployment.owner.transaction() as tx:
        robin = tokens.mint(tx, ours.id, tokens.Minted("admin", operator="Robin"), datetime.now(UTC))
    here = visitor.sign_in(ours, robin)
    assert "The mode was saved." in visitor.submit(here, "firewall/mode", mode="enforce").text
    with tables.superuser(ours.deployment) as connection:
        [(operator,)] = connection.execute(
            "select operator from admin_audit where tenant_id = %s and action = 'firewall.mode'", (ours.id,)
        ).fetchall()
    assert operator == "Robin"


def test_without_keys_nobody_signs_in(visitor: Visitor, ours: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = bootstrap.outside()
    broken = replace(outside, keys=type(outside.keys)("/nowhere/keys.json"))
    monkeypatch.setattr(bootstrap, "outside", lambda: broken)
    answer = visitor.get("/ui/sign-in")
    assert (answer.status, answer.headers["content-type"]) == (503, page.HTML)
    assert session.COOKIE not in visitor.cookies
