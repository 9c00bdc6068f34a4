"""The firewall's page, and a chunk's."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from chalicelib import bootstrap
from tests.any_row import make_row
from tests.api import tables
from tests.integration import rows
from tests.security import marked
from tests.security.marked import Marked
from tests.tenants import Deployment, Tenant
from tests.visitor import Page, Visitor

FIREWALL = "/ui/admin/memory/firewall"


@pytest.fixture
def visitor(shared: Deployment, ours: Tenant) -> Visitor:
    visitor = Visitor(shared)
    visitor.sign_in(ours)
    return visitor


@pytest.fixture
def made(ours: Tenant) -> Marked:
    return marked.mark(ours)


def chunk_page(made: Marked, word: str) -> str:
    return f"{FIREWALL}/chunks/{made.chunks[word]}"


def search(tenant: Tenant, **more: Any) -> None:
    answer = tenant.read_only("POST", "/v1/kb/search", {"query": marked.WORD, "limit": 50, **more})
    assert answer.status == 200


def decide(tenant: Tenant, decision: str, at: datetime, number: int = 1) -> None:
    """A decision of another day, as it stands in the record."""
    kind = "allow" if decision == "allow" else "block"
    with tables.superuser(tenant.deployment) as connection:
        connection.execute(
            "insert into evaluation_segments (tenant_id, day, kind, row_count, last_hash) values (%s, %s, %s, 1, '')"
            " on conflict (tenant_id, kind, day) do update set row_count = evaluation_segments.row_count + 1",
            (tenant.id, at.date(), kind),
        )
        named = {"day": at.date(), "kind": kind, "number": number, "decision": decision, "evaluated_at": at}
        make_row(connection, "policy_evaluations", id=uuid4(), tenant_id=tenant.id, **named)


def table(page: Page, caption: str) -> list[dict[str, str]]:
    """The rows of a table by the names of its columns."""
    [found] = [one for one in page.soup.find_all("table") if one.caption.get_text() == caption]
    names = [cell.get_text() for cell in found.thead.find_all("th")]
    return [
        dict(zip(names, [" ".join(cell.get_text(" ").split()) for cell in row.find_all(["th", "td"])], strict=True))
        for row in found.tbody.find_all("tr")
    ]


def decisions(page: Page) -> list[dict[str, str]]:
    return table(page, "Decisions, the newest first")


# --- The mode ---


def test_the_mode_in_force_is_shown_and_chosen_by_a_form(visitor: Visitor, ours: Tenant) -> None:
    page = visitor.get(FIREWALL)
    assert "advisory is in force This tenant chose nothing" in page.text
    saved = visitor.submit(page, "firewall/mode", mode="enforce")
    assert "The mode was saved." in saved.text
    assert "enforce is in force This tenant chose enforce" in saved.text
    assert ours.get("/v1/memory/firewall/mode").json == {"mode": "enforce", "effective": "enforce"}
    visitor.submit(saved, "firewall/mode", mode="")
    assert ours.get("/v1/memory/firewall/mode").json == {"mode": None, "effective": "advisory"}


def test_a_mode_that_is_none_is_refused_by_name(visitor: Visitor, ours: Tenant) -> None:
    refused = visitor.submit(visitor.get(FIREWALL), "firewall/mode", mode="<b>strict</b>")
    assert refused.status == 422
    assert "'<b>strict</b>' is no firewall mode" in refused.text
    assert ours.get("/v1/memory/firewall/mode").json["mode"] is None


def test_the_floor_counts_and_a_word_that_is_no_mode_is_told(
    visitor: Visitor, shared: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(shared.outside.settings, firewall_mode="strictest", firewall_floor="enforce")
    monkeypatch.setattr(bootstrap, "outside", lambda: replace(shared.outside, settings=settings))
    page = visitor.get(FIREWALL)
    assert "enforce is in force" in page.text
    assert "The floor is enforce" in page.text
    assert "LARDER_FIREWALL_MODE: 'strictest' is no firewall mode" in page.text
    assert "enforce is in force This tenant chose off" in visitor.submit(page, "firewall/mode", mode="off").text


# --- Decisions by day ---


def test_decisions_are_counted_by_day_and_kind_for_thirty_days(visitor: Visitor, ours: Tenant, theirs: Tenant) -> None:
    now = datetime.now(UTC)
    first, before = now - timedelta(days=29), now - timedelta(days=30, hours=1)
    for number, (decision, at) in enumerate(
        [("allow", now), ("allow", now), ("block_expired", now), ("allow", first), ("block_sensitivity_tier", first)], 1
    ):
        decide(ours, decision, at, number)
    decide(ours, "allow", before)
    decide(theirs, "block_expired", now)
    page = visitor.get(FIREWALL)
    counted = {row.pop("Day"): row for row in table(page, "Decisions on each of the last 30 days")}
    assert len(counted) == 30
    assert counted[now.date().isoformat()] == _counts(allowed=2, expired=1)
    assert counted[first.date().isoformat()] == _counts(allowed=1, needs_an_operator=1)
    assert sum(int(count) for row in counted.values() for count in row.values()) == 5
    svg = page.soup.find("svg")
    assert svg.desc.get_text().endswith("allowed 3, expired 1, needs an operator 1.")
    assert len(svg.find_all("rect")) == 4
    key = [" ".join(one.get_text(" ").split()) for one in page.soup.find(class_="key").find_all("li")]
    assert key == ["allowed 3", "expired 1", "needs an operator 1"]


def _counts(**counts: int) -> dict[str, str]:
    names = ("allowed", "expired", "another tenant's", "role not permitted", "purpose not allowed", "needs an operator")
    return {name: str(counts.get(name.replace(" ", "_"), 0)) for name in names}


def test_without_a_decision_the_page_says_so(visitor: Visitor) -> None:
    page = visitor.get(FIREWALL)
    assert "Nothing was read in the last 30 days." in page.text
    assert page.soup.find("svg") is None


# --- The last decisions ---


def test_decisions_can_be_narrowed_to_a_kind_a_chunk_and_a_request(
    visitor: Visitor, ours: Tenant, made: Marked
) -> None:
    search(ours)
    search(ours)
    every = decisions(visitor.get(FIREWALL))
    assert len(every) > 20
    page = visitor.get(FIREWALL)
    url, fields = page.form("admin/memory/firewall")
    narrowed = decisions(visitor.get(f"{url}?decision=block_expired&chunk_id="))
    assert {row["Decision"] for row in narrowed} == {"expired"}
    of_chunk = visitor.get(f"{url}?decision=&chunk_id={made.chunks['zqeditors']}")
    assert fields == {"decision": "", "chunk_id": ""}
    assert [row["Decision"] for row in decisions(of_chunk)] == ["role not permitted"] * 2
    assert f"http://127.0.0.1:8000{chunk_page(made, 'zqeditors')}" in of_chunk.links()
    link = next(link for link in visitor.get("/ui/admin/memory-audit").links() if "at=" in link)
    assert len(decisions(visitor.get(link))) == len(every) / 2


def test_pages_of_decisions_leave_none_out_and_show_none_twice(visitor: Visitor, ours: Tenant) -> None:
    now = datetime.now(UTC)
    for number in range(120):
        decide(ours, "block_expired", now - timedelta(minutes=number // 3), number + 1)
    page = visitor.get(f"{FIREWALL}?decision=block_expired")
    seen = [len(decisions(page))]
    cells = [str(row) for row in page.soup.find_all("tr")]
    while older := page.soup.find("a", rel="next"):
        page = visitor.get(f"{FIREWALL}{older['href'].partition('#')[0]}")
        seen.append(len(decisions(page)))
        cells += [str(row) for row in page.soup.find_all("tr")]
    assert seen == [50, 50, 20]
    links = [link for link in cells if "/chunks/" in link]
    assert len(set(links)) == 120


@pytest.mark.parametrize(
    "query", ["decision=block_all", "chunk_id=x", "before=x", "at=yesterday", "saved=1", "trace_id=a%00b"]
)
def test_a_question_that_can_not_be_meant_is_refused(visitor: Visitor, query: str) -> None:
    assert visitor.get(f"{FIREWALL}?{query}").status == 422


# --- A chunk ---


def test_a_policy_is_changed_by_its_form_and_told_in_its_history(visitor: Visitor, ours: Tenant, made: Marked) -> None:
    page = visitor.get(chunk_page(made, marked.OPEN))
    assert "Nobody has changed this chunk's policy" in page.text
    saved = visitor.submit(
        page,
        "/policy",
        sensitivity="restricted",
        expires_at="2030-01-02T03:04",
        roles="some",
        role_names="editor\r\nreviewer",
        purposes="some",
        purpose_names=["audit_review"],
    )
    assert (saved.status, saved.soup.find(class_="notice").get_text()) == (200, "The policy was saved.")
    policy = ours.get(f"/v1/memory/chunks/{made.chunks[marked.OPEN]}/policy").json["policy"]
    assert (policy["sensitivity"], policy["expires_at"]) == ("restricted", "2030-01-02T03:04:00Z")
    assert (policy["permitted_roles"], policy["allowed_purposes"]) == (["editor", "reviewer"], ["audit_review"])
    [row] = table(saved, "Changes of this chunk's policy and of its source's, the newest first")
    assert (row["Who"], row["What"]) == ("an unnamed admin", "chunk.policy")
    none = "allowed_purposes: none set expires_at: none set permitted_roles: none set sensitivity: public"
    assert row["From"] == none
    assert row["To"].startswith(
        "allowed_purposes: audit_review expires_at: 2030-01-02T03:04:00Z permitted_roles: editor"
    )
    rows.sql(ours.deployment, "update admin_audit set correlation_id = '0af76519-16cd-43dd-8448-eb211c80319c'")
    [row] = table(
        visitor.get(chunk_page(made, marked.OPEN)),
        "Changes of this chunk's policy and of its source's, the newest first",
    )
    assert row["Request"] == "0af76519"


def test_the_form_shows_what_was_said_and_changes_only_what_is_changed_in_it(
    visitor: Visitor, ours: Tenant, made: Marked
) -> None:
    path = f"/v1/memory/chunks/{made.chunks['zqeditors']}/policy"
    ours.post(path, {"expires_at": "2031-05-06T07:08:09.123456Z", "allowed_purposes": []})
    _, fields = (page := visitor.get(chunk_page(made, "zqeditors"))).form("/policy")
    assert (fields["roles"], fields["role_names"], fields["purposes"]) == ("some", "editor", "some")
    assert (fields["expires_at"], fields["purpose_names"]) == ("2031-05-06T07:08:09", [])
    visitor.submit(page, "/policy", sensitivity="internal")
    policy = ours.get(path).json["own"]
    assert policy["expires_at"] == "2031-05-06T07:08:09.123456Z", "what the form can't show is not cut off"
    assert (policy["sensitivity"], policy["permitted_roles"], policy["allowed_purposes"]) == (
        "internal",
        ["editor"],
        [],
    )


def test_raising_the_tier_alone_closes_the_purposes_as_by_the_api(visitor: Visitor, ours: Tenant, made: Marked) -> None:
    visitor.submit(visitor.get(chunk_page(made, marked.OPEN)), "/policy", sensitivity="confidential")
    policy = ours.get(f"/v1/memory/chunks/{made.chunks[marked.OPEN]}/policy").json["policy"]
    assert policy["allowed_purposes"] == ["audit_review", "operational"]


def test_a_form_that_is_late_saves_nothing_and_says_so(visitor: Visitor, ours: Tenant, made: Marked) -> None:
    page = visitor.get(chunk_page(made, marked.OPEN))
    path = f"/v1/memory/chunks/{made.chunks[marked.OPEN]}/policy"
    ours.post(path, {"sensitivity": "confidential"})
    late = visitor.submit(page, "/policy", sensitivity="public")
    assert late.status == 412
    assert "Nothing was saved: somebody else has changed this policy" in late.soup.find(class_="alert").get_text()
    assert ours.get(path).json["policy"]["sensitivity"] == "confidential"
    assert late.form("/policy")[1]["sensitivity"] == "confidential", "the form shows what counts now"
    again = visitor.submit(late, "/policy", sensitivity="restricted")
    assert again.status == 200
    assert ours.get(path).json["policy"]["sensitivity"] == "restricted"
    unmatched = visitor.submit(again, "/policy", sensitivity="public", digest="*")
    assert unmatched.status == 412


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"sensitivity": "cosmic"}, "sensitivity: must be one of"),
        ({"expires_at": "tomorrow"}, "expires_at: must be null or an RFC 3339 instant"),
        ({"roles": "some", "role_names": "x" * 101}, "permitted_roles: holds strings of 1 to 100"),
        ({"purposes": "some", "purpose_names": ["world_peace"]}, "allowed_purposes: 'world_peace' is none of"),
    ],
)
def test_a_value_that_breaks_a_rule_is_named_and_what_was_filled_in_stays(
    visitor: Visitor, ours: Tenant, made: Marked, answers: dict[str, Any], said: str
) -> None:
    before = tables.dump(ours.deployment)
    refused = visitor.submit(visitor.get(chunk_page(made, marked.OPEN)), "/policy", **answers)
    assert refused.status == 422
    assert said in refused.soup.find(class_="alert").get_text()
    assert tables.dump(ours.deployment) == before
    if "role_names" in answers:
        assert refused.form("/policy")[1]["role_names"] == answers["role_names"]


def test_a_form_that_changes_nothing_uses_up_no_mutation(visitor: Visitor, ours: Tenant, made: Marked) -> None:
    page = visitor.get(chunk_page(made, marked.OPEN))
    before = tables.dump(ours.deployment)
    assert "says what is said already" in visitor.submit(page, "/policy").text
    assert tables.dump(ours.deployment) == before


@pytest.mark.parametrize(
    ("word", "query", "said"),
    [
        ("zqeditors", "role=guest&purpose=operational", "read by editor, and the role “guest” is not among them"),
        ("zqeditors", "role=&purpose=operational", "a reader without a role is not among them"),
        ("zqnobody", "role=editor&purpose=operational", "read by nobody"),
        ("zqexpired", "purpose=operational", "It expired at 2026-01-01T00:00:00Z"),
        ("zqtraining", "purpose=audit_review", "read for training_data, and “audit_review” is not"),
        ("zqrestricted", "purpose=operational", "restricted: only a reader with an operator's token"),
        ("zqunknowntier", "purpose=operational", "restricted: only a reader with an operator's token"),
        ("zqrefuted", "purpose=operational&operator=yes", "marked the text as refuted"),
        ("zqsource", "purpose=operational", "restricted: only a reader with an operator's token"),
    ],
)
def test_why_a_chunk_is_blocked_is_told_in_words_and_recorded_nowhere(
    visitor: Visitor, ours: Tenant, made: Marked, word: str, query: str, said: str
) -> None:
    before = tables.dump(ours.deployment)
    page = visitor.get(f"{chunk_page(made, word)}?{query}")
    assert page.status == 200
    assert said in page.text
    assert "It is blocked" in page.text
    assert "no longer" not in page.text
    assert tables.dump(ours.deployment) == before


def test_what_lets_a_reader_in_is_told_too(visitor: Visitor, made: Marked) -> None:
    page = visitor.get(f"{chunk_page(made, 'zqrestricted')}?role=&purpose=operational&operator=yes")
    assert "It is allowed. The chunk is served, with a proof." in page.text
    soft = visitor.get(f"{chunk_page(made, 'zqrestricted')}?purpose=operational")
    assert "mode in force is advisory: the chunk is served all the same, with a warning" in soft.text


def test_the_record_leads_to_the_explanation_of_its_own_reader(visitor: Visitor, ours: Tenant, made: Marked) -> None:
    rows.sql(ours.deployment, "update api_tokens set roles = '{guest}' where tenant_id = %s and class = 'api'", ours.id)
    search(ours, purpose="audit_review")
    page = visitor.get(f"{FIREWALL}?chunk_id={made.chunks['zqeditors']}")
    [link] = [link for link in page.links() if "role=guest" in link]
    explained = visitor.get(link.partition("#")[0])
    assert "the role “guest” is not among them" in explained.text
    assert explained.soup.find("option", string="audit_review").has_attr("selected")


def test_days_are_those_of_utc() -> None:
    from chalicelib.services.audit import first_day
    from chalicelib.ui.firewall import last_days

    now = datetime(2026, 3, 1, 0, 0, 1, tzinfo=UTC)
    days = last_days(first_day(now), now.date())
    assert (days[0], days[-1], len(days)) == (date(2026, 1, 31), date(2026, 3, 1), 30)
