"""Ways in: notes and documents through the gates, quarantine and its release, deny patterns, forgetting."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.integration import rows
from tests.integration.cycle import Cycle
from tests.tenants import Deployment, Tenant

BAD_BYTES = base64.b64encode(b"good words, then \xff bad ones " * 9).decode()
NOTE = "The boiler in the north cellar needs its filter cleaned every second Monday of the month."
DOCUMENT = (
    "# Boiler handbook\n\nThe boiler in the north cellar is serviced twice a year by two people from the plant, "
    "who log it."
)


@pytest.fixture
def cycle(deployment: Deployment, acme: Tenant) -> Cycle:
    return Cycle(deployment, datetime.now(UTC))


def work(cycle: Cycle) -> str:
    cycle.now = datetime.now(UTC)
    return cycle.deliver()


def ask(tenant: Tenant, query: str, **more: Any) -> list[dict[str, Any]]:
    answer = tenant.read_only("POST", "/v1/kb/search", {"query": query, **more})
    assert answer.status == 200, answer.json
    return list(answer.json["hits"])


def test_a_note_is_remembered_and_found_with_its_origins_policy(cycle: Cycle, acme: Tenant) -> None:
    answer = acme.post("/v1/memory/notes", {"text": NOTE, "title": "Boiler"})
    assert (answer.status, answer.json["outcome"]) == (202, "stored")
    assert work(cycle) == "new_version"
    hits = ask(acme, "boiler filter")
    assert [hit["text"] for hit in hits] == [NOTE]
    policy = acme.get(f"/v1/kb/sources/{hits[0]['source_id']}/policy").json["policy"]
    assert (policy["sensitivity"], policy["provenance"]["source"], policy["provenance"]["trust"]) == (
        "confidential", "companion_note", 60,
    )  # fmt: skip
    assert policy["allowed_purposes"] == ["audit_review", "operational"]


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [({"text": "two words"}, 422, "too_short", "text"),
     ({"text": "a\x00b c"}, 422, "damaged_text", "text"), ({"text": "\x00" * 99}, 422, "damaged_text", "text"),
     ({"text": NOTE, "sensitivity": "top"}, 422, "invalid_field", "sensitivity"),
     ({"text": ""}, 422, "invalid_field", "text"),
     ({"text": NOTE, "tenant_id": "x"}, 422, "invalid_field", "tenant_id"), ({}, 422, "invalid_field", "text")],
)  # fmt: skip
def test_a_note_that_does_not_pass_saves_nothing(
    deployment: Deployment, acme: Tenant, body: dict[str, Any], status: int, code: str, field: str
) -> None:
    answer = acme.post("/v1/memory/notes", body)
    assert (answer.status, answer.json["code"], answer.json["field"]) == (status, code, field)
    for table in ("kb_sources", "kb_held_texts", "quarantine", "mutation_windows"):
        assert rows.sql(deployment, f"select * from {table}") == []
    refused = ["refuse"] if code in ("too_short", "damaged_text") else []
    logged = rows.sql(deployment, "select outcome, reason from ingest_log")
    assert logged == [{"outcome": outcome, "reason": code} for outcome in refused], "what a gate says is written down"


@pytest.mark.parametrize(
    "body",
    [{"text": DOCUMENT, "content_type": "text/markdown"},
     {"text": f"<title>t</title><p>{DOCUMENT}</p>", "content_type": "text/html"},
     {"content_base64": base64.b64encode(DOCUMENT.encode()).decode()}],
)  # fmt: skip
def test_a_document_of_each_type_is_remembered(cycle: Cycle, acme: Tenant, body: dict[str, Any]) -> None:
    answer = acme.post("/v1/memory/documents", body)
    assert answer.status == 202, answer.json
    assert work(cycle) == "new_version"
    assert "serviced twice a year" in ask(acme, "boiler serviced")[0]["text"]


@pytest.mark.parametrize(
    ("body", "code"),
    [({"content_base64": "!!"}, "invalid_field"), ({"content_base64": BAD_BYTES}, "damaged_text"),
     ({"content_base64": base64.b64encode(b"\x89PNG\r\n").decode(), "content_type": "image/png"}, "unsupported_type"),
     ({"text": DOCUMENT, "content_base64": "eA=="}, "invalid_field"), ({"text": "short"}, "too_short"),
     ({"text": "x" * (2 * 1024 * 1024 + 1)}, "payload_too_large")],
)  # fmt: skip
def test_a_bad_document_is_refused(acme: Tenant, body: dict[str, Any], code: str) -> None:
    answer = acme.post("/v1/memory/documents", body)
    assert answer.status in (413, 422)
    assert answer.json["code"] == code


MARKED = "good words, then \ufffd bad ones " * 9
DAMAGED = {
    "a note": ("notes", {"text": f"{NOTE} \x07"}, f"{NOTE} \ufffd", 90),
    "its title": ("notes", {"text": NOTE, "title": "Boi\x01ler"}, NOTE, 3),
    "an agent's text": ("documents", {"kind": "agent_output", "text": f"\x02{DOCUMENT}"}, f"\ufffd{DOCUMENT}", 0),
    "an agent's bytes": ("documents", {"kind": "agent_output", "content_base64": BAD_BYTES}, MARKED.strip(), None),
    "an agent's page": (
        "documents",
        {"kind": "agent_output", "content_type": "text/html; charset=utf-8", "content_base64": base64.b64encode(
            b"<title>The boiler</title><p>" + b"good words, then \xff bad ones " * 9).decode()},
        MARKED.strip(),
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", DAMAGED)
def test_a_damaged_deposit_waits_with_its_bad_places_marked_and_comes_in_by_its_release(
    deployment: Deployment, cycle: Cycle, acme: Tenant, which: str
) -> None:
    way, body, text, _ = DAMAGED[which]
    answer = acme.post(f"/v1/memory/{way}", body)
    assert (answer.status, answer.json["outcome"], answer.json["gate"]) == (202, "quarantined", "text_damage")
    [held] = acme.get("/v1/memory/quarantine").json["items"]
    assert (held["text"], held["reason"]) == (text, "damaged_text")
    assert held["title"] in (None, "Boi\ufffdler", "The boiler")
    assert [row["outcome"] for row in rows.sql(deployment, "select outcome from ingest_log")] == ["quarantine"]
    assert acme.post(f"/v1/memory/quarantine/{held['id']}/release").status == 202
    assert work(cycle) == "new_version"


@pytest.mark.parametrize("which", [which for which in DAMAGED if DAMAGED[which][3] is not None])
def test_the_same_as_an_upload_is_refused_with_its_first_offset(acme: Tenant, which: str) -> None:
    _, body, _, offset = DAMAGED[which]
    answer = acme.post("/v1/memory/documents", {**body, "kind": "document"})
    assert (answer.status, answer.json["code"], answer.json["offset"]) == (422, "damaged_text", offset)
    assert acme.get("/v1/memory/quarantine").json["items"] == []


def test_what_is_held_for_its_damage_is_redacted_and_still_held_to_deny_patterns(
    deployment: Deployment, cycle: Cycle, acme: Tenant
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    acme.post("/v1/memory/deny-patterns", {"add": ["Heron"]})
    answer = acme.post("/v1/memory/notes", {"text": f"{NOTE} \x01 {token} Heron"})
    assert (answer.json["gate"], answer.json["redactions"]) == ("text_damage", 1)
    assert token not in str(rows.sql(deployment, "select * from quarantine"))
    release = f"/v1/memory/quarantine/{answer.json['quarantine_id']}/release"
    assert (acme.post(release).status, acme.post(release).json["code"]) == (422, "deny_pattern")
    acme.post("/v1/memory/deny-patterns", {"remove": ["Heron"]})
    assert acme.post(release).status == 202
    assert work(cycle) == "new_version"


@pytest.mark.parametrize(
    ("content", "content_type"), [(b"%PDF-1.7 \xff", "application/pdf"), (b"<p>good words&#1;" * 20, "text/html")]
)
def test_damage_that_no_mark_mends_is_refused(acme: Tenant, content: bytes, content_type: str) -> None:
    body = {"content_base64": base64.b64encode(content).decode(), "content_type": content_type}
    answer = acme.post("/v1/memory/documents", {**body, "kind": "agent_output"})
    assert (answer.status, answer.json["field"]) == (422, "content")


def test_a_deny_pattern_goes_in_any_spelling_of_it(acme: Tenant) -> None:
    assert acme.post("/v1/memory/deny-patterns", {"add": ["caf\u00e9"]}).json == {"patterns": ["caf\u00e9"]}
    assert acme.post("/v1/memory/deny-patterns", {"remove": ["cafe\u0301"]}).json == {"patterns": []}


def test_a_tenant_has_so_many_deny_patterns_and_no_more(acme: Tenant) -> None:
    for start in range(0, 500, 100):
        added = acme.post("/v1/memory/deny-patterns", {"add": [f"word {start + at}" for at in range(100)]})
        assert added.status == 200, added.json
    refused = acme.post("/v1/memory/deny-patterns", {"add": ["one more"]})
    assert (refused.status, refused.json["field"]) == (422, "add")
    assert "at most 500" in refused.json["detail"]
    assert len(acme.get("/v1/memory/deny-patterns").json["patterns"]) == 500
    assert acme.post("/v1/memory/deny-patterns", {"add": ["one more"], "remove": ["word 0"]}).status == 200


def test_a_denied_note_waits_redacted_and_is_stored_by_its_release(
    deployment: Deployment, cycle: Cycle, acme: Tenant
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert acme.post("/v1/memory/deny-patterns", {"add": ["Project Heron"]}).json == {"patterns": ["Project Heron"]}
    answer = acme.post("/v1/memory/notes", {"text": f"{NOTE} Ask for Project Heron. The token is {token} for now."})
    assert (answer.status, answer.json["outcome"], answer.json["gate"]) == (202, "quarantined", "deny_patterns")
    held = acme.get("/v1/memory/quarantine").json["items"]
    assert len(held) == 1
    assert "[REDACTED:github_token]" in held[0]["text"]
    assert token not in str(rows.sql(deployment, "select * from quarantine"))
    assert work(cycle) == "no_message"
    released = acme.post(f"/v1/memory/quarantine/{held[0]['id']}/release")
    assert released.status == 202, released.json
    assert work(cycle) == "new_version"
    assert "Project Heron" in ask(acme, "boiler filter")[0]["text"]
    again = acme.post(f"/v1/memory/quarantine/{held[0]['id']}/drop")
    assert (again.status, again.json["code"]) == (409, "quarantine_decided")


def test_a_denied_title_waits_redacted_too(deployment: Deployment, acme: Tenant) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    acme.post("/v1/memory/deny-patterns", {"add": ["boiler"]})
    acme.post("/v1/memory/notes", {"text": NOTE, "title": f"Token {token}"})
    assert acme.get("/v1/memory/quarantine").json["items"][0]["title"] == "Token [REDACTED:github_token]"
    assert token not in str(rows.sql(deployment, "select * from quarantine"))


def test_the_ingest_log_tells_what_the_gates_made_of_pages_and_documents(
    deployment: Deployment, cycle: Cycle, acme: Tenant
) -> None:
    url = "http://docs.example.com/"
    source = acme.add(url)
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for text, came_to in (
        (f"{DOCUMENT} The token is {token} for now.", "new_version"),
        (f"{token} {token} {token}", "mostly_secret"),
        ("\x01\x02" * 40, "damaged_text"),
    ):
        cycle.web.page(url, text)
        acme.post(f"/v1/kb/sources/{source['id']}/queue", {"when": "now"})
        assert work(cycle) == came_to
    acme.post("/v1/memory/documents", {"content_base64": BAD_BYTES})
    acme.post("/v1/memory/documents", {"content_base64": base64.b64encode(DOCUMENT.encode()).decode()})
    assert work(cycle) == "new_version"
    logged = rows.sql(deployment, "select deposit, outcome, gate, redactions from ingest_log order by at")
    assert [tuple(row.values()) for row in logged] == [
        ("page", "admit", None, 1),
        ("page", "refuse", "secret_scan", 0),
        ("page", "refuse", "text_damage", 0),
        ("document", "refuse", "text_damage", 0),
        ("document", "admit", None, 0),
    ]


def test_a_denied_page_keeps_its_old_version_and_waits(cycle: Cycle, acme: Tenant) -> None:
    url = "http://docs.example.com/"
    source = acme.add(url)
    cycle.web.page(url, DOCUMENT)
    acme.post(f"/v1/kb/sources/{source['id']}/queue", {"when": "now"})
    assert work(cycle) == "new_version"
    acme.post("/v1/memory/deny-patterns", {"add": ["Heron"]})
    cycle.web.page(url, DOCUMENT + " Heron.")
    acme.post(f"/v1/kb/sources/{source['id']}/queue", {"when": "now"})
    assert work(cycle) == "quarantined"
    assert acme.get(f"/v1/kb/sources/{source['id']}").json["current_version"] == 1
    held = acme.get("/v1/memory/quarantine").json["items"]
    acme.post(f"/v1/memory/quarantine/{held[0]['id']}/release")
    assert work(cycle) == "new_version"
    assert ask(acme, "Heron")[0]["text"].endswith("Heron.")


def test_a_dropped_text_never_comes_in(cycle: Cycle, acme: Tenant) -> None:
    acme.post("/v1/memory/deny-patterns", {"add": ["boiler"]})
    acme.post("/v1/memory/notes", {"text": NOTE})
    held = acme.get("/v1/memory/quarantine").json["items"]
    assert acme.post(f"/v1/memory/quarantine/{held[0]['id']}/drop").status == 200
    assert acme.get("/v1/memory/quarantine").json["items"] == []
    assert work(cycle) == "no_message"


def test_forgotten_text_is_gone_from_every_version_and_does_not_come_back(
    deployment: Deployment, cycle: Cycle, acme: Tenant
) -> None:
    url = "http://docs.example.com/"
    text = "\n".join(
        f"Paragraph {number} tells of machine {number}, of room {number}, and of the people who keep {number} running. "
        * 3
        for number in range(12)
    )
    source = acme.add(url)
    for edition in (text, text + "\nAn end that is new."):
        cycle.web.page(url, edition)
        acme.post(f"/v1/kb/sources/{source['id']}/queue", {"when": "now"})
        assert work(cycle) == "new_version"
    hits = sorted(ask(acme, "machine people", limit=50), key=lambda hit: hit["chunk_index"])
    victim = hits[1]
    assert acme.post(f"/v1/memory/chunks/{victim['chunk_id']}/forget", {"why": "a wish"}).json["erased"] >= 1
    cycle.web.page(url, text + "\nAn end that is newer still.")
    acme.post(f"/v1/kb/sources/{source['id']}/queue", {"when": "now"})
    assert work(cycle) == "new_version"
    assert victim["chunk_id"] not in {hit["chunk_id"] for hit in ask(acme, "machine people", limit=50)}
    stored = rows.sql(deployment, "select text from kb_chunks union all select text from kb_held_texts")
    probe = victim["text"][100:200]
    assert not any(probe in row["text"] for row in stored)
    tail = victim["text"].rstrip()[-60:]
    assert not any(tail in row["text"] for row in stored), "the next chunk repeats nothing of it"
    answer = acme.get(f"/v1/kb/sources/{source['id']}/text")
    assert answer.status == 200, answer.json
    shown = answer.json["text"]
    assert "[forgotten]" in shown
    assert probe not in shown


def test_another_tenants_quarantine_and_chunks_are_not_there(cycle: Cycle, acme: Tenant, other: Tenant) -> None:
    acme.post("/v1/memory/deny-patterns", {"add": ["boiler"]})
    held = acme.post("/v1/memory/notes", {"text": NOTE}).json["quarantine_id"]
    acme.post("/v1/memory/deny-patterns", {"remove": ["boiler"]})
    acme.post("/v1/memory/notes", {"text": NOTE})
    work(cycle)
    chunk = ask(acme, "boiler")[0]["chunk_id"]
    assert other.get("/v1/memory/quarantine").json["items"] == []
    for path in (
        f"quarantine/{held}/release",
        f"quarantine/{held}/drop",
        f"chunks/{chunk}/forget",
        f"chunks/{chunk}/policy",
    ):
        assert other.post(f"/v1/memory/{path}", {}).status == 404, path
    assert ask(other, "boiler") == []


def test_notes_do_not_use_the_quota_of_sources_and_are_not_refreshed(cycle: Cycle, acme: Tenant) -> None:
    source = acme.post("/v1/memory/notes", {"text": NOTE}).json["source_id"]
    work(cycle)
    assert acme.get("/v1/kb/status").json["sources"]["active"] == 0
    answer = acme.post(f"/v1/kb/sources/{source}/queue", {"when": "now"})
    assert (answer.status, answer.json["code"]) == (409, "not_refreshable")
    assert acme.get("/v1/kb/suggestions").json["items"] == []


def test_quarantine_shows_a_title_redacted_too(acme: Tenant) -> None:
    acme.post("/v1/memory/deny-patterns", {"add": ["Project Heron"]})
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5wX7yZ9bC2dF4hJ6"
    note = {"text": "This is about Project Heron and more.", "title": f"Token {token}"}
    assert acme.post("/v1/memory/notes", note).json["outcome"] == "quarantined"
    [held] = acme.get("/v1/memory/quarantine").json["items"]
    assert held["title"] == "Token [REDACTED:github_token]"


def test_deny_patterns_see_titles_too(acme: Tenant) -> None:
    acme.post("/v1/memory/deny-patterns", {"add": ["PROJECT ZEUS"]})
    answer = acme.post("/v1/memory/notes", {"title": "PROJECT ZEUS", "text": NOTE})
    assert (answer.json["outcome"], answer.json["gate"]) == ("quarantined", "deny_patterns")


def test_forgetting_takes_what_stands_beside_the_text_and_what_waits_in_quarantine(
    deployment: Deployment, cycle: Cycle, acme: Tenant
) -> None:
    url = "http://docs.example.com/"
    source = acme.add(url)
    cycle.web.page(url, NOTE)
    acme.post(f"/v1/kb/sources/{source['id']}/queue", {"when": "now"})
    assert work(cycle) == "new_version"
    acme.post("/v1/memory/deny-patterns", {"add": ["FORBIDDEN"]})
    cycle.web.page(url, NOTE + "\nA FORBIDDEN word.")
    acme.post(f"/v1/kb/sources/{source['id']}/queue", {"when": "now"})
    assert work(cycle) == "quarantined"
    rows.sql(deployment, "update kb_versions set title = %s", NOTE)
    chunk = ask(acme, "boiler")[0]["chunk_id"]
    assert acme.post(f"/v1/memory/chunks/{chunk}/forget").json["erased"] == 1
    for table in ("kb_chunks", "kb_versions", "quarantine", "kb_held_texts", "embedding_cache", "ingest_log"):
        assert "north cellar" not in str(rows.sql(deployment, f"select * from {table}")), table
    assert acme.get("/v1/memory/quarantine").json["items"] == []


WALLET = "\n".join(f"system{number}.example.com password=kX9v{number}QmZ7pLw2Rt5" for number in range(6))


def test_what_is_mainly_credentials_is_restricted_whatever_anybody_says(
    deployment: Deployment, cycle: Cycle, acme: Tenant
) -> None:
    acme.post("/v1/memory/firewall/mode", {"mode": "enforce"})
    body = {"text": f"{NOTE}\n{WALLET}", "sensitivity": "public", "kind": "agent_output", "allowed_purposes": None}
    assert acme.post("/v1/memory/documents", {**body, "title": "Wallet"}).json["redactions"] == 6
    assert work(cycle) == "new_version"
    assert ask(acme, "system password") == []
    [row] = rows.sql(deployment, "select chunk_id from kb_chunks")
    path = f"/v1/memory/chunks/{row['chunk_id']}/policy"
    before = acme.get(path).json
    assert (before["policy"]["content_class"], before["policy"]["sensitivity"]) == ("credentials", "restricted")
    assert before["own"]["allowed_purposes"] == ["audit_review", "operational"]
    after = acme.post(path, {"sensitivity": "public", "allowed_purposes": None}).json
    assert (after["policy"]["content_class"], after["policy"]["sensitivity"]) == ("credentials", "restricted")
    assert ask(acme, "system password") == []
    [decided] = rows.sql(deployment, "select distinct decision, policy_digest from policy_evaluations where "
                                     "policy_digest = %s", after["policy_digest"])  # fmt: skip
    assert decided["decision"] == "block_sensitivity_tier"


def test_a_page_says_anew_with_each_version_which_of_its_texts_are_credentials(
    deployment: Deployment, cycle: Cycle, acme: Tenant
) -> None:
    url = "http://docs.example.com/"
    source = acme.add(url)
    long = "\n\n".join(f"{DOCUMENT} Part {number}." for number in range(30))
    wallets = "\n".join([WALLET] * 4)
    classes = []
    for text in (long, f"{long}\n\n{wallets}", f"Preface.\n\n{long}\n\n{wallets}"):
        cycle.web.page(url, text)
        acme.post(f"/v1/kb/sources/{source['id']}/queue", {"when": "now"})
        assert work(cycle) == "new_version"
        classes.append({
            row["secret"]: row["chunks"] for row in rows.sql(
                deployment,
                "select coalesce(p.content_class, '') as secret, count(*) as chunks from kb_chunks c "
                "left join chunk_policies p using (source_id, content_hash) where upper_inf(system_time) group by 1",
            )
        })  # fmt: skip
    assert [set(found) for found in classes] == [{""}, {"", "credentials"}, {"", "credentials"}]
    written = rows.sql(deployment, "select count(*) as rows, count(distinct updated_at) as times from chunk_policies")
    assert written[0]["times"] <= 2, "what has its class keeps its row"


def hold(deployment: Deployment, tenant: Tenant, *texts: str) -> list[str]:
    """Texts in quarantine, one a second; their ids, the oldest first."""
    return [
        str(rows.sql(
            deployment,
            "insert into quarantine (tenant_id, deposit, gate, reason, text, created_at) values "
            "(%s, 'note', 'deny_patterns', 'deny_pattern', %s, now() + %s * interval '1 second') returning id",
            tenant.id, text, number,
        )[0]["id"])
        for number, text in enumerate(texts)
    ]  # fmt: skip


def pages_of_quarantine(tenant: Tenant, limit: int) -> list[list[dict[str, Any]]]:
    pages, following = [], ""
    while True:
        answer = tenant.get(f"/v1/memory/quarantine?limit={limit}{following}")
        assert answer.status == 200, answer.json
        pages.append(answer.json["items"])
        if answer.json["next_cursor"] is None:
            return pages
        following = f"&cursor={answer.json['next_cursor']}"


@pytest.mark.parametrize(
    ("texts", "limit", "sizes"),
    [
        (["short"] * 5, 2, [2, 2, 1]),
        (["short"] * 4, 2, [2, 2]),
        (['"' * 700_000] * 3, 200, [2, 1]),
        (["short", "x" * 1_500_000, "short", "short"], 200, [1, 1, 2]),
        (["x" * 600_000] * 3 + ["short"], 2, [2, 2]),
        ([], 200, [0]),
    ],
)
def test_quarantine_is_paged_by_what_an_answer_takes(
    deployment: Deployment, acme: Tenant, texts: list[str], limit: int, sizes: list[int]
) -> None:
    held = hold(deployment, acme, *texts)
    pages = pages_of_quarantine(acme, limit)
    assert [len(page) for page in pages] == sizes
    assert [one["id"] for page in pages for one in page] == held
    assert [one["text"] for page in pages for one in page] == texts


@pytest.mark.parametrize(("text", "cut"), [("x" * 2_000_000, False), ('"' * 2_000_000, True), ("🫖" * 2_000_000, True)])
def test_a_held_text_that_no_answer_takes_is_shown_without_its_end(
    deployment: Deployment, acme: Tenant, text: str, cut: bool
) -> None:
    hold(deployment, acme, "short", text, "short")
    pages = pages_of_quarantine(acme, 50)
    assert [len(page) for page in pages] == [1, 1, 1]
    [shown] = pages[1]
    assert shown["cut"] is cut
    assert text.startswith(shown["text"])
    assert (len(shown["text"]) < len(text)) is cut
