"""The page of what came in, what is held and who read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.api import tables
from tests.api.pages.test_page_firewall import decide, search, table
from tests.integration import rows
from tests.integration.cycle import Cycle
from tests.security import marked
from tests.tenants import Deployment, Tenant
from tests.visitor import Page, Visitor

AUDIT = "/ui/admin/memory-audit"
NOTE = "The boiler in the north cellar needs its filter cleaned every second Monday of the month."
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def visitor(deployment: Deployment, acme: Tenant) -> Visitor:
    visitor = Visitor(deployment)
    visitor.sign_in(acme)
    return visitor


def came_in(page: Page) -> list[tuple[str, ...]]:
    names = ("Outcome", "Way in", "Gate", "Reason", "Redacted")
    return [
        tuple(row[name] for name in names) for row in table(page, "What the gates made of each text, the newest first")
    ]


def test_an_empty_memory_has_a_page(visitor: Visitor) -> None:
    page = visitor.get(AUDIT)
    for said in ("Nothing came in during", "Nothing is held.", "Nobody has read anything"):
        assert said in page.text


def test_what_the_gates_made_of_every_text_is_listed_and_summed(visitor: Visitor, acme: Tenant) -> None:
    acme.post("/v1/memory/notes", {"text": f"{NOTE} The token is {TOKEN} for now.", "title": "The boiler"})
    acme.post("/v1/memory/deny-patterns", {"add": ["Heron"]})
    acme.post("/v1/memory/notes", {"text": f"{NOTE} Ask for Heron."})
    acme.post("/v1/memory/notes", {"text": "two words"})
    acme.post("/v1/memory/documents", {"text": "a\x00b"})
    page = visitor.get(AUDIT)
    assert came_in(page) == [
        ("refused", "document", "text damage", "damaged text", "0"),
        ("refused", "note", "length floor", "too short", "0"),
        ("quarantined", "note", "deny patterns", "deny pattern", "0"),
        ("stored", "note", "none", "", "1"),
    ]
    assert "1 secret was redacted in them." in page.text
    today = {row.pop("Day"): row for row in table(page, "Texts on each of the last 30 days")}
    counted = today[datetime.now(UTC).date().isoformat()]
    assert counted == {"stored": "1", "stored unscanned": "0", "quarantined": "1", "refused": "2"}
    assert len(page.soup.find("svg").find_all("rect")) == 3
    assert TOKEN not in page.html


def test_a_held_text_is_shown_redacted_and_released_by_a_form(
    deployment: Deployment, visitor: Visitor, acme: Tenant
) -> None:
    acme.post("/v1/memory/deny-patterns", {"add": ["Heron"]})
    acme.post("/v1/memory/notes", {"text": f"{NOTE} Ask for Heron. {TOKEN}", "title": f"Of {TOKEN}"})
    page = visitor.get(AUDIT)
    assert "[REDACTED:github_token]" in page.soup.find("pre").get_text()
    assert TOKEN not in page.html
    released = visitor.submit(page, "/release")
    assert "The text was released" in released.soup.find(class_="notice").get_text()
    assert "Nothing is held." in released.text
    assert "north cellar" in visitor.get(f"{AUDIT}?state=released").text
    assert Cycle(deployment, datetime.now(UTC)).deliver() == "new_version"
    late = visitor.submit(page, "/drop")
    assert (late.status, "The text was released." in late.text) == (409, True)


def test_a_held_text_is_dropped_by_a_form(deployment: Deployment, visitor: Visitor, acme: Tenant) -> None:
    acme.post("/v1/memory/deny-patterns", {"add": ["boiler"]})
    acme.post("/v1/memory/notes", {"text": NOTE})
    dropped = visitor.submit(visitor.get(AUDIT), "/drop")
    assert "The text was dropped." in dropped.text
    assert "north cellar" in visitor.get(f"{AUDIT}?state=dropped").text
    assert visitor.get(f"{AUDIT}?state=dropped").soup.find("form", action=lambda action: "drop" in action) is None
    assert Cycle(deployment, datetime.now(UTC)).deliver() == "no_message"


def test_a_long_text_is_cut_and_the_page_says_where_the_rest_is(visitor: Visitor, acme: Tenant) -> None:
    acme.post("/v1/memory/deny-patterns", {"add": ["boiler"]})
    for number in range(11):
        text = f"Edition {number}. {NOTE} " + "More words of the boiler. " * 5000
        assert acme.post("/v1/memory/documents", {"text": text}).json["outcome"] == "quarantined"
    page = visitor.get(AUDIT)
    # The line end after the tag is none of the text's (HTML, 13.1.2.5).
    assert [len(text.get_text().removeprefix("\n")) for text in page.soup.find_all("pre")] == [20_000] * 10
    assert "larder quarantine show" in page.text
    assert len(page.html.encode()) < 6 * 1024 * 1024
    more = visitor.get(AUDIT + page.soup.find("a", string="More")["href"].partition("#")[0])
    assert len(more.soup.find_all("pre")) == 1


def test_who_read_is_told_by_request_with_counts_and_without_the_question(
    deployment: Deployment, visitor: Visitor, acme: Tenant
) -> None:
    made = marked.mark(acme)
    rows.sql(deployment, "update api_tokens set roles = '{guest}' where class = 'api'")
    search(acme, purpose="audit_review")
    page = visitor.get(AUDIT)
    [row] = table(page, "Requests that read, the newest first")
    counted = rows.sql(deployment, "select kind, count(*) from policy_evaluations group by kind order by kind")
    assert [row["Allowed"], row["Blocked"]] == [str(one["count"]) for one in counted]
    assert (row["Role"], row["Purpose"], row["Operator"], row["Mode"]) == ("guest", "audit_review", "none", "advisory")
    assert marked.WORD not in page.html
    assert str(made.page) not in page.html


def test_pages_of_requests_leave_none_out_and_show_none_twice(visitor: Visitor, acme: Tenant) -> None:
    now = datetime.now(UTC)
    for number in range(60):  # each with a trace of its own, and all at one instant
        decide(acme, "block_expired", now, number + 1)
    page = visitor.get(AUDIT)
    found: list[str] = []
    while True:
        found += [code["title"] for code in page.soup.find_all("a", title=True)]
        older = page.soup.find("a", rel="next")
        if older is None:
            break
        page = visitor.get(AUDIT + older["href"].partition("#")[0])
    assert len(found) == len(set(found)) == 60


def test_pages_of_the_ingest_log_go_on(visitor: Visitor, acme: Tenant) -> None:
    for number in range(30):
        acme.post("/v1/memory/notes", {"text": f"{NOTE} {number}"})
    page = visitor.get(AUDIT)
    older = visitor.get(AUDIT + page.soup.find("a", rel="next")["href"].partition("#")[0])
    assert (len(came_in(page)), len(came_in(older))) == (25, 5)


def test_nothing_of_another_tenant_is_on_the_page(deployment: Deployment, visitor: Visitor, other: Tenant) -> None:
    other.post("/v1/memory/notes", {"text": NOTE, "title": "zqother"})
    other.post("/v1/memory/deny-patterns", {"add": ["boiler"]})
    other.post("/v1/memory/notes", {"text": NOTE, "title": "zqother"})
    decide(other, "block_expired", datetime.now(UTC))
    before = tables.dump(deployment)
    for path in (AUDIT, "/ui/admin/memory/firewall"):
        page = visitor.get(path)
        assert "zqother" not in page.html
        assert "Nothing was read" in page.text or "Nothing came in" in page.text
    assert tables.dump(deployment) == before
