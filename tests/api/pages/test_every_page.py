"""What holds for every page. The pages come from the registry, so a new one is held to it from its first day."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from uuid import uuid4

import pytest

from chalicelib import bootstrap
from chalicelib.api.resource import Nothing, Route
from chalicelib.ui import pages
from tests.api import contract, tables
from tests.api.furniture import furnish, update
from tests.tenants import Deployment, Tenant
from tests.visitor import FORM, OWN_FORM, Page, Visitor

ROUTES = [route for resource in pages() for route in resource.routes]
CLOSED = [route for route in ROUTES if route.access != "open"]
FORMS = [route for route in ROUTES if route.method == "POST"]
CHANGES = [route for route in CLOSED if route.method == "POST"]
WITH_IDS = [route for route in CLOSED if contract.ids_in(route)]
ANSWERS: dict[str, dict[str, Any]] = {
    "ModeIn": {"mode": "enforce"},
    "PolicyForm": {"digest": "", "sensitivity": "restricted"},
    "TokensIn": {"api_token": "x", "admin_token": "y"},
}
"""What a person fills in; the rest has its default."""


def each(routes: list[Route]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("route", routes, ids=contract.title)


@dataclass
class Furnished:
    ours: Tenant
    ids: dict[str, Any]
    theirs: dict[str, Any]
    visitor: Visitor
    csrf: str


@pytest.fixture(scope="module")
def furnished(shared: Deployment) -> Furnished:
    ours, theirs = shared.tenant("ours of pages"), shared.tenant("theirs of pages")
    visitor = Visitor(shared)
    csrf = visitor.sign_in(ours).form("sign-out")[1]["csrf"]
    return Furnished(ours, furnish(ours), furnish(theirs), visitor, csrf)


def ask(route: Route, who: Furnished, ids: dict[str, Any] | None = None, **more: Any) -> Page:
    """A request that is right in every way but what ``more`` and ``ids`` say."""
    path = route.path.format(**{**{name: uuid4() for name in contract.ids_in(route)}, **(ids or {})})
    if route.method == "GET":
        return who.visitor.get(path)
    answers = {} if route.body is Nothing else dict(ANSWERS[route.body.__name__])
    if "digest" in answers and ids is not None:
        chunk = who.ours.get(f"/v1/memory/chunks/{ids['chunk_id']}/policy").json
        answers["digest"] = chunk.get("policy_digest", "")
    return who.visitor.post(path, {"csrf": who.csrf, **answers, **more.pop("fields", {})}, **more)


@each(ROUTES)
def test_a_page_is_told_of_in_the_documentation(route: Route) -> None:
    told = (Path(__file__).parents[3] / "docs" / "pages.md").read_text(encoding="utf-8")
    assert f"`{contract.title(route)}`" in told


@each(ROUTES)
def test_every_answer_has_the_headers_that_keep_others_out(route: Route, furnished: Furnished) -> None:
    for visitor in (furnished.visitor, Visitor(furnished.ours.deployment)):
        path = route.path.format(**{**furnished.ids})
        method = "POST" if route.method == "POST" else "GET"
        answer = visitor._ask(method, urljoin("http://127.0.0.1:8000/", path), {"Content-Type": FORM}, b"")
        said = answer.headers
        assert said["cache-control"].endswith("no-store")
        assert said["x-content-type-options"] == "nosniff"
        assert said["x-frame-options"] == "DENY"
        assert said["referrer-policy"] == "no-referrer"
        policy = dict(part.strip().split(" ", 1) for part in said["content-security-policy"].split(";"))
        assert policy == {
            "default-src": "'none'",
            "style-src": "'self'",
            "form-action": "'self'",
            "base-uri": "'none'",
            "frame-ancestors": "'none'",
        }
        assert "access-control-allow-origin" not in said


@each([route for route in ROUTES if route.method == "GET" and not route.path.endswith(".css")])
def test_a_page_is_accessible_html_without_script_or_inline_style(route: Route, furnished: Furnished) -> None:
    answer = ask(route, furnished, furnished.ids)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    soup = answer.soup
    assert not soup.find_all(["script", "style", "iframe", "object", "img", "base"])
    assert not [one for one in soup.find_all() if any(name == "style" or name.startswith("on") for name in one.attrs)]
    assert soup.html["lang"] == "en"
    assert soup.title.get_text()
    assert len(soup.find_all("h1")) == 1
    levels = [int(heading.name[1]) for heading in soup.find_all(["h1", "h2", "h3"])]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    labelled = {label["for"] for label in soup.find_all("label", attrs={"for": True})}
    for control in soup.find_all(["input", "select", "textarea"]):
        inside_label = control.find_parent("label") is not None
        assert control.get("type") == "hidden" or control.get("id") in labelled or inside_label, control
    for table in soup.find_all("table"):
        assert table.caption.get_text()
        assert all(head["scope"] in ("col", "row") for head in table.find_all("th"))
    ids = [one["id"] for one in soup.find_all(id=True)]
    assert len(set(ids)) == len(ids)
    for one in soup.find_all(attrs={"aria-labelledby": True}):
        assert one["aria-labelledby"] in ids
    for link in (*soup.find_all("a"), *soup.find_all("link"), *soup.find_all("form")):
        target = link.get("href", link.get("action"))
        assert not target.startswith(("/", "http")), "a gateway may put a stage before every path"


@each(CLOSED)
def test_without_a_session_there_is_401(route: Route, furnished: Furnished) -> None:
    stranger = replace(furnished, visitor=Visitor(furnished.ours.deployment))
    before = tables.dump(furnished.ours.deployment)
    assert ask(route, stranger, furnished.ids).status == 401
    stranger.visitor.cookies = {"larder": "MQ.AAAA"}
    assert ask(route, stranger, furnished.ids).status == 401
    assert tables.dump(furnished.ours.deployment) == before


@each(FORMS)
def test_a_form_without_its_sessions_token_or_from_elsewhere_changes_nothing(
    route: Route, furnished: Furnished, theirs: Tenant
) -> None:
    foreign = Visitor(furnished.ours.deployment).sign_in(theirs).form("sign-out")[1]["csrf"]
    before = tables.dump(furnished.ours.deployment)
    for csrf in ("", "x", foreign, furnished.csrf[:-1]):
        assert ask(route, furnished, furnished.ids, fields={"csrf": csrf}).status == 403
    for headers in (
        {},
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:8001"},
        {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert ask(route, furnished, furnished.ids, headers=headers).status == 403
    assert tables.dump(furnished.ours.deployment) == before
    assert furnished.visitor.get("/ui/admin/memory/firewall").status == 200, "nobody was signed out"


@each(FORMS)
def test_what_is_no_form_or_has_a_field_too_many_is_refused(route: Route, furnished: Furnished) -> None:
    before = tables.dump(furnished.ours.deployment)
    path = route.path.format(**furnished.ids)
    as_json = {**OWN_FORM, "Content-Type": "application/json"}
    assert furnished.visitor.post(path, {"csrf": furnished.csrf}, as_json).status == 400
    assert ask(route, furnished, furnished.ids, fields={"csrf": [furnished.csrf, furnished.csrf]}).status == 422
    assert ask(route, furnished, furnished.ids, fields={"colour": "blue"}).status == 422
    assert ask(route, furnished, furnished.ids, fields={"colour": "b" * 300_000}).status == 413
    assert tables.dump(furnished.ours.deployment) == before


@each([route for route in ROUTES if route.method == "GET"])
def test_an_unknown_parameter_is_refused(route: Route, furnished: Furnished) -> None:
    path = route.path.format(**furnished.ids)
    for query in ("colour=blue", f"tenant_id={furnished.theirs['source_id']}", "before=x&before=y"):
        assert furnished.visitor.get(f"{path}?{query}").status == 422


@each(WITH_IDS)
def test_what_belongs_to_another_tenant_is_not_there(route: Route, furnished: Furnished) -> None:
    before = tables.dump(furnished.ours.deployment)
    foreign, unknown = ask(route, furnished, furnished.theirs), ask(route, furnished)
    assert (foreign.status, unknown.status) == (404, 404)
    assert foreign.text == unknown.text
    assert tables.dump(furnished.ours.deployment) == before


@each(WITH_IDS)
def test_an_id_that_is_no_uuid_is_refused(route: Route, furnished: Furnished) -> None:
    (name,) = contract.ids_in(route)
    for ident in ("x", "%00", "<b>", f"{furnished.ids[name]}%0A"):
        assert ask(route, furnished, {**furnished.ids, name: ident}).status == 422


@pytest.fixture
def changed(shared: Deployment, ours: Tenant) -> Furnished:
    """A tenant of this test's own, to change."""
    visitor = Visitor(shared)
    csrf = visitor.sign_in(ours).form("sign-out")[1]["csrf"]
    return Furnished(ours, furnish(ours), {}, visitor, csrf)


@each(CHANGES)
def test_a_right_form_changes_something_and_ends_on_a_page(route: Route, changed: Furnished) -> None:
    before = tables.dump(changed.ours.deployment)
    answer = ask(route, changed, changed.ids)
    assert answer.status == 200, answer.text
    assert answer.soup.find(class_="notice"), answer.text
    touched = tables.changed(before, tables.dump(changed.ours.deployment))
    assert {"admin_audit", "mutation_windows"} <= set(touched)


@each(CHANGES)
def test_at_the_limit_of_mutations_a_form_is_refused_as_the_api_would(route: Route, changed: Furnished) -> None:
    with tables.superuser(changed.ours.deployment) as connection:
        connection.execute("update mutation_windows set used = 100000 where tenant_id = %s", (changed.ours.id,))
    before = tables.dump(changed.ours.deployment)
    answer = ask(route, changed, changed.ids)
    assert (answer.status, answer.headers["content-type"]) == (429, "text/html; charset=utf-8")
    assert 3500 < int(answer.headers["retry-after"]) <= 3600
    assert f"Try again in {answer.headers['retry-after']} seconds" in answer.text
    assert tables.dump(changed.ours.deployment) == before


@each(CLOSED)
@pytest.mark.parametrize("by", ["the deployment", "the tenant"])
def test_while_the_knowledge_base_is_off_pages_say_so(
    route: Route, by: str, changed: Furnished, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by == "the tenant":
        update(changed.ours, "tenants", changed.ours.id, enabled=False)
    else:
        outside = changed.ours.deployment.outside
        switched_off = replace(outside, settings=replace(outside.settings, enable_kb=False))
        monkeypatch.setattr(bootstrap, "outside", lambda: switched_off)
    before = tables.dump(changed.ours.deployment)
    answer = ask(route, changed)
    assert answer.status == 409
    assert "switched off" in answer.text
    assert tables.dump(changed.ours.deployment) == before


def test_a_page_with_a_slash_at_its_end_finds_its_style_and_links(furnished: Furnished) -> None:
    for path in ("/ui/admin/memory/firewall", "/ui/admin/memory/firewall/"):
        page = furnished.visitor.get(path)
        assert urljoin(page.url, page.soup.find("link")["href"]) == "http://127.0.0.1:8000/ui/style.css"
    style = furnished.visitor.get("/ui/style.css")
    assert (style.status, style.headers["content-type"]) == (200, "text/css; charset=utf-8")


def test_a_fault_of_ours_is_a_bare_page(furnished: Furnished, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr("chalicelib.services.audit.decisions", broken)
    answer = furnished.visitor.get("/ui/admin/memory/firewall")
    assert (answer.status, answer.headers["content-type"]) == (500, "text/html; charset=utf-8")
    assert "secret" not in answer.html
    assert furnished.visitor.get("/ui/admin/memory-audit").status == 200
