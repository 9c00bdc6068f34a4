"""Pages show what others have written, and nothing that the firewall withholds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from chalicelib import bootstrap
from chalicelib.services import tokens
from tests.any_row import make_row
from tests.api import tables
from tests.postgres import TestServer
from tests.security import marked
from tests.security.marked import FOREIGN, GUARDED, OPEN, WORD
from tests.tenants import Deployment, Tenant
from tests.visitor import Page, Visitor

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus=alert(1) x='",
    "</textarea></pre></title><svg onload=alert(1)>",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt;",
    "]]><!--",
)


@pytest.fixture(scope="module")
def deployment(server: TestServer) -> Iterator[Deployment]:
    deployment = Deployment(server, server.create())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "outside", lambda: deployment.outside)
        yield deployment
    deployment.close()
    server.drop(deployment.database_name)


def every_page(visitor: Visitor, chunks: list[Any], more: str = "") -> Iterator[Page]:
    """Every page that shows what is stored, and what a search brings to it."""
    yield visitor.get("/ui/admin/memory/firewall")
    yield visitor.get("/ui/admin/memory/firewall?decision=block_role_not_permitted")
    for state in ("held", "released", "dropped"):
        yield visitor.get(f"/ui/admin/memory-audit?state={state}")
    for chunk in chunks:
        for query in ("", "?role=guest&purpose=operational", "?purpose=audit_review&operator=yes"):
            yield visitor.get(f"/ui/admin/memory/firewall/chunks/{chunk}{query}")
        yield visitor.get(f"/ui/admin/memory/firewall?chunk_id={chunk}")


# --- What others have written is shown as text ---


@dataclass
class Written:
    """A tenant in whose every field stands a hostile word."""

    tenant: Tenant
    visitor: Visitor
    word: str
    chunk: Any


@pytest.fixture(scope="module", params=HOSTILE)
def written(request: pytest.FixtureRequest, deployment: Deployment) -> Written:
    """Nothing that a test sends is kept, but for the firewall's mode."""
    word: str = request.param
    tenant = deployment.tenant(f"{word} {uuid4()}")
    with deployment.owner.transaction() as tx:
        admin = tokens.mint(tx, tenant.id, tokens.Minted("admin", operator=word), datetime.now(UTC))
    visitor = Visitor(deployment)
    visitor.sign_in(tenant, admin)
    made = marked.mark(tenant)
    chunk = made.chunks[OPEN]
    body = marked.sentence(OPEN, "as it is")
    marked.set_policy(tenant, made.page, body, permitted_roles=[word], content_class=word, sensitivity=word)
    now, who = datetime.now(UTC), {"tenant_id": tenant.id, "source_id": made.page}
    with tables.superuser(deployment) as connection:
        connection.execute(
            "update kb_sources set name = %s, producer = %s, provenance = %s where id = %s",
            (word, word, word, made.page),
        )
        read = {"role": word, "purpose": word, "operator": word, "trace_id": word, "reason": word, "mode": word}
        day = {"day": now.date(), "kind": "block", "number": 1, "evaluated_at": now, "chunk_id": chunk}
        for place, decision in enumerate(("block_role_not_permitted", word), start=1):
            own = {"id": uuid4(), "decision": decision, "number": place}
            make_row(connection, "policy_evaluations", **{**who, **day, **read, **own})
        for state in ("held", "released", "dropped"):
            said = {"deposit": word, "gate": word, "reason": word, "title": word, "text": word, "state": state}
            make_row(connection, "quarantine", **who, **said, created_at=now)
        logged = {"deposit": word, "outcome": word, "gate": word, "reason": word, "correlation_id": word}
        make_row(connection, "ingest_log", **who, **logged, at=now)
        change = {"before": Jsonb({word: word}), "after": Jsonb({word: [word]}), "action": word, "operator": word}
        make_row(connection, "admin_audit", tenant_id=tenant.id, target=str(chunk), at=now, **change)
    return Written(tenant, visitor, word, chunk)


def harmless(page: Page) -> None:
    soup = page.soup
    assert not soup.find_all(["script", "img", "iframe", "object", "embed", "style", "base"])
    for one in soup.find_all():
        assert not [name for name in one.attrs if name.startswith("on") or name in ("style", "autofocus", "srcdoc")]
        for name in ("href", "src", "action"):
            assert not str(one.get(name, "")).strip().lower().startswith(("javascript:", "data:"))
    assert "49" not in [text.strip() for text in soup.find_all(string=True)], "no value is a template"


def test_whatever_is_written_anywhere_is_shown_as_text(written: Written) -> None:
    shown = 0
    for page in every_page(written.visitor, [written.chunk]):
        assert page.status == 200, page.text
        harmless(page)
        shown += sum(written.word in text for text in page.soup.find_all(string=True))
    assert shown > 20, "it is shown, and not left out"


def test_whatever_is_filled_in_comes_back_as_text(written: Written) -> None:
    visitor, word = written.visitor, written.word
    page = visitor.get(f"/ui/admin/memory/firewall/chunks/{written.chunk}")
    for answers in (
        {"expires_at": word},
        {"roles": "some", "role_names": word + "x" * 101},
        {"sensitivity": word + "!"},
    ):
        refused = visitor.submit(page, "/policy", **answers)
        assert refused.status == 422
        harmless(refused)
    harmless(visitor.submit(visitor.get("/ui/admin/memory/firewall"), "firewall/mode", mode=word + "!"))
    harmless(visitor.submit(Visitor(written.tenant.deployment).get("/ui/sign-in"), "sign-in", api_token=word))
    for name in ("role", "purpose", "saved", word):
        explained = visitor._ask("GET", f"{page.url}?{_query(name, word)}", {}, b"")
        harmless(explained)


def _query(name: str, value: str) -> str:
    from urllib.parse import urlencode

    return urlencode({name: value, "operator": "yes"})


def test_no_address_leads_a_browser_elsewhere_after_a_form(written: Written) -> None:
    visitor = written.visitor
    page = visitor.get("/ui/admin/memory/firewall")
    url, fields = page.form("firewall/mode")
    for said in ({"Host": "evil.example", "X-Forwarded-Proto": "https"}, {"X-Forwarded-Host": "evil.example"}):
        led = Visitor(visitor.deployment, visitor.cookies, {**visitor.said, **said})
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
        answer = led._ask("POST", url, headers, f"csrf={fields['csrf']}&mode=off".encode())
        assert (answer.status, answer.headers["location"]) == (303, "../../../admin/memory/firewall?saved=mode")


# --- What is withheld is on no page ---


@pytest.mark.parametrize("mode", ["off", "advisory", "enforce"])
@pytest.mark.parametrize("operator", [None, "Robin"])
def test_no_page_shows_a_word_of_any_chunk(deployment: Deployment, mode: str, operator: str | None) -> None:
    tenant = deployment.tenant(f"{mode} {operator}")
    made = marked.mark(tenant)
    with deployment.owner.transaction() as tx:
        admin = tokens.mint(tx, tenant.id, tokens.Minted("admin", operator=operator), datetime.now(UTC))
    tenant.post("/v1/memory/firewall/mode", {"mode": mode})
    with tables.superuser(deployment) as connection:
        connection.execute("update kb_versions set title = 'zqtitle', description = 'zqdescription'")
    headers = {"Authorization": f"Bearer {tenant.api_token}", "X-Admin-Token": admin}
    for query in (WORD, *GUARDED):
        answer = deployment.request("POST", "/v1/kb/search", headers, {"query": f"{query} zqquery", "limit": 50})
        assert answer.status == 200
    visitor = Visitor(deployment)
    visitor.sign_in(tenant, admin)
    for page in every_page(visitor, list(made.chunks.values())):
        assert page.status == 200
        found = marked.words_in(page.html + json.dumps(page.headers))
        assert not found, f"{page.url}: {found}"
        assert FOREIGN not in page.html
        assert WORD not in page.html


def test_no_page_shows_a_token(deployment: Deployment) -> None:
    tenant = deployment.tenant("tokens")
    made = marked.mark(tenant)
    visitor = Visitor(deployment)
    refused = visitor.submit(
        visitor.get("/ui/sign-in"), "sign-in", api_token=tenant.api_token, admin_token=f"{tenant.admin_token}x"
    )
    assert refused.status == 403
    pages = [refused, visitor.sign_in(tenant), *every_page(visitor, [made.chunks[OPEN]])]
    for page in pages:
        assert "lrd_api_" not in page.html.replace("lrd_api_…", "")
        assert "lrd_admin_" not in page.html.replace("lrd_admin_…", "")


def test_a_cookie_that_was_changed_or_made_up_opens_nothing(deployment: Deployment) -> None:
    tenant = deployment.tenant("with a cookie")
    visitor = Visitor(deployment)
    visitor.sign_in(tenant)
    [value] = visitor.cookies.values()
    key, _, content = value.partition(".")
    for forged in (f"Mg.{content}", f"{key}.{content[::-1]}", f"{key}.{content}.{content}", f"{key}.{content[:-4]}"):
        visitor.cookies = {"larder": forged}
        assert visitor.get("/ui/admin/memory/firewall").status == 401
    visitor.cookies = {"larder": value}
    assert visitor.get("/ui/admin/memory/firewall").status == 200
