"""Bad input is refused with a problem that names the field and the rule, and changes nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.api import tables
from tests.api.furniture import furnish
from tests.tenants import Answer, Deployment, Tenant


@dataclass
class Room:
    """A tenant that nothing here may change."""

    tenant: Tenant
    ids: dict[str, UUID]

    def refuses(self, method: str, path: str, body: Any = None, *, raw: bytes | None = None) -> Answer:
        """The refusal, after which every table is as it was."""
        before = tables.dump(self.tenant.deployment)
        target = path.format(**self.ids)
        answer = self.tenant.deployment.request(method, target, self.tenant._headers(), body, raw=raw)
        assert 400 <= answer.status < 500, answer
        assert tables.changed(before, tables.dump(self.tenant.deployment)) == []
        return answer


@pytest.fixture(scope="module")
def room(shared: Deployment) -> Room:
    tenant = shared.tenant("room")
    return Room(tenant, furnish(tenant))


URI = "https://example.com/new"
UNKNOWN_RULE = "must be left out: this request has no such field"
UUID_RULE, CLOCK_RULE = "must be a UUID", "must be a time of day as HH:MM, 00:00 to 23:59"
ZONE_RULE = "must be an IANA time zone name such as Europe/Berlin"


def sources(**fields: Any) -> tuple[str, dict[str, Any]]:
    return "/v1/kb/sources", {"uri": URI, **fields}


def settings(**fields: Any) -> tuple[str, dict[str, Any]]:
    return "/v1/kb/settings", fields


def search(**fields: Any) -> tuple[str, dict[str, Any]]:
    return "/v1/kb/search", {"query": "kettle", **fields}


BAD_FIELDS = [
    (*sources(refresh_ttl_seconds=299), "refresh_ttl_seconds", "must be 300 or more"),
    (*sources(refresh_ttl_seconds=31_536_001), "refresh_ttl_seconds", "must be 31536000 or less"),
    (*sources(refresh_ttl_seconds=-1), "refresh_ttl_seconds", "must be 300 or more"),
    (*sources(refresh_ttl_seconds=10**60), "refresh_ttl_seconds", "must be 31536000 or less"),
    (*sources(refresh_ttl_seconds="300"), "refresh_ttl_seconds", "must be a whole number"),
    (*sources(refresh_ttl_seconds=True), "refresh_ttl_seconds", "must be a whole number"),
    (*sources(refresh_ttl_seconds=300.0), "refresh_ttl_seconds", "must be a whole number"),
    (*sources(refresh_ttl_seconds=[300]), "refresh_ttl_seconds", "must be a whole number"),
    (*sources(name=""), "name", "must have 1 or more characters"),
    (*sources(name=" \t "), "name", "must have 1 or more characters"),
    (*sources(name="n" * 201), "name", "must have at most 200 characters"),
    (*sources(name="a\0b"), "name", "must not hold control characters"),
    (*sources(name=7), "name", "must be text"),
    (*sources(keep_hidden_text="yes"), "keep_hidden_text", "must be true or false"),
    (*sources(active=False), "active", UNKNOWN_RULE),
    (*sources(id=str(uuid4())), "id", UNKNOWN_RULE),
    ("/v1/kb/sources", {}, "uri", "must be given"),
    ("/v1/kb/sources", {"uri": None}, "uri", "must be text"),
    ("/v1/kb/sources", {"uri": [URI]}, "uri", "must be text"),
    ("/v1/kb/sources", {"uri": ""}, "uri", "must have 1 or more characters"),
    ("/v1/kb/sources", {"URI": URI}, "uri", "must be given"),
    ("/v1/kb/sources/batch", {}, "sources", "must be given"),
    ("/v1/kb/sources/batch", {"sources": []}, "sources", "must have 1 or more items"),
    ("/v1/kb/sources/batch", {"sources": {"uri": URI}}, "sources", "must be a list"),
    ("/v1/kb/sources/batch", {"sources": [{"uri": URI}] * 101}, "sources", "must have at most 100 items"),
    ("/v1/kb/sources/batch", {"sources": [{"uri": URI}, URI]}, "sources.1", "must be an object"),
    ("/v1/kb/sources/{source_id}/toggle", {"active": "false"}, "active", "must be true or false"),
    ("/v1/kb/sources/{source_id}/toggle", {"active": 0}, "active", "must be true or false"),
    ("/v1/kb/sources/{source_id}/queue", {}, "when", "must be given"),
    ("/v1/kb/sources/{source_id}/queue", {"when": "NOW"}, "when", "must be 'now' or 'night'"),
    ("/v1/kb/sources/{source_id}/queue", {"when": None}, "when", "must be 'now' or 'night'"),
    ("/v1/kb/suggestions/{suggestion_id}/snooze", {}, "days", "must be given"),
    ("/v1/kb/suggestions/{suggestion_id}/snooze", {"days": 0}, "days", "must be 1 or more"),
    ("/v1/kb/suggestions/{suggestion_id}/snooze", {"days": 366}, "days", "must be 365 or less"),
    ("/v1/kb/suggestions/{suggestion_id}/snooze", {"days": "1"}, "days", "must be a whole number"),
    ("/v1/kb/suggestions/{suggestion_id}/snooze", {"days": True}, "days", "must be a whole number"),
    (
        "/v1/kb/suggestions/{suggestion_id}/approve",
        {"when": "now"},
        "when",
        "must be left out: this request has no such field",
    ),
    ("/v1/kb/suggestions/approve", {}, "body", "must have either ids or all: true"),
    ("/v1/kb/suggestions/approve", {"all": False}, "body", "must have either ids or all: true"),
    ("/v1/kb/suggestions/approve", {"all": True, "ids": [str(uuid4())]}, "body", "must have either ids or all: true"),
    ("/v1/kb/suggestions/approve", {"ids": []}, "ids", "must have 1 or more items"),
    ("/v1/kb/suggestions/approve", {"ids": ["all"]}, "ids.0", UUID_RULE),
    ("/v1/kb/suggestions/approve", {"ids": [str(uuid4())] * 1001}, "ids", "must have at most 1000 items"),
    ("/v1/kb/suggestions/approve", {"all": "true"}, "all", "must be true or false"),
    *[
        (*settings(**{name: value}), name, CLOCK_RULE)
        for name in ("night_start", "night_end")
        for value in ("25:00", "24:00", "7:00", "٠٧:٠٠", "07:60", "07:00:00", "07:00 ", "07:00\n", " 07:00", "", "0700")
    ],
    *[(*settings(night_start=value), "night_start", CLOCK_RULE) for value in (7, 700, True, {"h": 7}, ["07:00"], 7.5)],
    *[
        (*settings(timezone=value), "timezone", ZONE_RULE)
        for value in (
            "Mars/Olympus",
            "europe/berlin",
            "EUROPE/BERLIN",
            "Europe/Berlin ",
            "Europe",
            "../../etc/passwd",
            "/etc/passwd",
            "../zoneinfo/UTC",
            "Europe/../UTC",
            "Europe/Berlin\0",
            "localtime",
            "Factory",
            "posix/UTC",
            "right/UTC",
            "+02:00",
            "UTC+2",
            "",
            "CEST",
            2,
            ["UTC"],
        )
    ],
    (*settings(nightly_job_cap=0), "nightly_job_cap", "must be 1 or more"),
    (*settings(nightly_job_cap=10_001), "nightly_job_cap", "must be 10000 or less"),
    (*settings(nightly_job_cap="50"), "nightly_job_cap", "must be a whole number"),
    (*settings(nightly_job_cap=True), "nightly_job_cap", "must be a whole number"),
    (*settings(nightly_job_cap=1e2), "nightly_job_cap", "must be a whole number"),
    (*settings(enabled="false"), "enabled", "must be true or false"),
    (*settings(enabled=1), "enabled", "must be true or false"),
    (*settings(plan="scale"), "plan", UNKNOWN_RULE),
    (*settings(mutations_per_hour=1_000_000), "mutations_per_hour", UNKNOWN_RULE),
    ("/v1/kb/search", {}, "query", "must be given"),
    (*search(query=""), "query", "must have 1 or more characters"),
    (*search(query=" \n\t "), "query", "must not be blank"),
    (*search(query="\u3000\u2003"), "query", "must not be blank"),
    (*search(query="q" * 1025), "query", "must have at most 1024 characters"),
    (*search(query="a\0b"), "query", "must not hold control characters"),
    ("/v1/memory/chunks/{chunk_id}/forget", {"why": "a\0b"}, "why", "must not hold control characters"),
    (
        "/v1/memory/chunks/{chunk_id}/validation",
        {"status": "confirmed", "why": "a\x01b"},
        "why",
        "must not hold control characters",
    ),
    ("/v1/memory/deny-patterns", {"add": ["a\0b"]}, "add.0", "must not hold control characters"),
    ("/v1/memory/deny-patterns", {"remove": ["a\0b"]}, "remove.0", "must not hold control characters"),
    (*search(limit=0), "limit", "must be 1 or more"),
    (*search(limit=51), "limit", "must be 50 or less"),
    (*search(limit="5"), "limit", "must be a whole number"),
    (*search(mode="fuzzy"), "mode", "must be 'hybrid', 'vector' or 'keyword'"),
    (*search(source_ids=[]), "source_ids", "must have 1 or more items"),
    (*search(source_ids=["x"]), "source_ids.0", UUID_RULE),
    (*search(source_ids=[str(uuid4())] * 201), "source_ids", "must have at most 200 items"),
    (*search(at=0), "at", "must be an instant as RFC 3339, with its offset, such as 2026-11-30T02:00:00Z"),
]


@pytest.mark.parametrize(("path", "body", "field", "rule"), BAD_FIELDS)
def test_a_bad_field_is_named_with_its_rule(path: str, body: Any, field: str, rule: str, room: Room) -> None:
    answer = room.refuses("POST", path, body)
    assert (answer.status, answer.json["code"]) == (422, "invalid_field")
    assert (answer.json["field"], answer.json["rule"]) == (field, rule)
    assert answer.json["detail"] == f"{field}: {rule}"


def test_one_bad_setting_among_good_ones_changes_none(room: Room) -> None:
    answer = room.refuses(
        "POST", "/v1/kb/settings", {"night_start": "01:00", "timezone": "Mars/Olympus", "enabled": False}
    )
    assert answer.json["field"] == "timezone"


BAD_QUERIES = [
    *[
        (f"/v1/kb/{name}?limit={value}", "limit")
        for name in ("sources", "events")
        for value in ("0", "201", "-1", "x", "")
    ],
    *[
        (f"/v1/kb/{name}?cursor={value}", "cursor")
        for name in ("sources", "suggestions", "events")
        for value in ("", "x", "e30", "bnVsbA", "W10", "%00", "a" * 5000, "../..", "WzEsIngiXQ", "%ED%A0%80")
    ],
    ("/v1/kb/suggestions?limit=1.5", "limit"),
    ("/v1/kb/suggestions?limit=10&limit=20", "limit"),
    ("/v1/kb/sources?cursor=a&cursor=b", "cursor"),
    ("/v1/kb/sources?LIMIT=10", "LIMIT"),
    ("/v1/kb/sources?limit%00=10", "limit\0"),
    ("/v1/kb/events?state=open", "state"),
    ("/v1/kb/events?state=", "state"),
    ("/v1/kb/events?source_id=x", "source_id"),
    ("/v1/kb/sources/{source_id}/versions?cursor=0", "cursor"),
    ("/v1/kb/sources/{source_id}/versions?cursor=99999999999999999999", "cursor"),
    ("/v1/kb/sources/{source_id}/versions?cursor=2147483648", "cursor"),
    ("/v1/kb/sources/{source_id}/diff?from=0", "from"),
    ("/v1/kb/sources/{source_id}/diff?from_=1", "from_"),
    ("/v1/kb/sources/{source_id}/diff?to=one", "to"),
    ("/v1/kb/sources/{source_id}/text?at=yesterday", "at"),
    ("/v1/kb/sources/{source_id}/text?at=2026-01-01", "at"),
    ("/v1/kb/sources/{source_id}/text?at=2026-01-01T00:00:00", "at"),
    ("/v1/kb/sources/{source_id}/text?at=2026-01-01T00:00:00+01:00", "at"),  # an unescaped plus is a blank
    ("/v1/kb/sources/{source_id}/text?at=2026-01-01T00:00:00Z&at=2026-01-01T00:00:00Z", "at"),
    ("/v1/kb/sources/{source_id}?limit=10", "limit"),
    ("/v1/kb/status?verbose=true", "verbose"),
]


@pytest.mark.parametrize(("path", "field"), BAD_QUERIES)
def test_a_bad_query_parameter_is_named(path: str, field: str, room: Room) -> None:
    answer = room.refuses("GET", path)
    assert (answer.status, answer.json["code"], answer.json["field"]) == (422, "invalid_field", field)
    assert answer.json["detail"] == f"{field}: {answer.json['rule']}"


BAD_BODIES = [
    (b'{"uri": NaN}', 400, "which has no NaN"),
    (b'{"uri": "https://a.example", "uri": "https://b.example"}', 400, "a key twice"),
    (b'{"uri": "https://a.example/\xff"}', 400, "UTF-8"),
    (b'{"uri": "https://a.example/\\ud800"}', 400, "lone surrogate"),
    (b'{"uri": "https://a.example"', 400, "must be JSON"),
    (b"uri=https%3A%2F%2Fa.example", 400, "must be JSON"),
    (b"<source/>", 400, "must be JSON"),
    (b"\x1f\x8b\x08\x00", 400, "UTF-8"),
    ('{"uri": "https://a.example"}'.encode("utf-16"), 400, "UTF-8"),
    (b'{"uri": ' + b"[" * 20_000 + b"]" * 20_000 + b"}", 400, "nested"),
    (b'{"refresh_ttl_seconds": ' + b"9" * 5_000 + b"}", 400, "a number that long"),
    (b'{"uri": "https://a.example", "name": "' + b"n" * 6_000_000 + b'"}', 413, ""),
    (b" " * 300_000, 413, ""),
]


@pytest.mark.parametrize(("raw", "status", "rule"), BAD_BODIES, ids=[repr(raw[:24]) for raw, _, _ in BAD_BODIES])
def test_a_body_that_is_no_json_object_is_refused(raw: bytes, status: int, rule: str, room: Room) -> None:
    answer = room.refuses("POST", "/v1/kb/sources", raw=raw)
    assert (answer.status, answer.json["field"]) == (status, "body")
    assert rule in answer.json.get("rule", "")


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "application/xml", "nonsense", ""])
def test_the_body_counts_and_not_what_it_is_called(kind: str, ours: Tenant) -> None:
    headers = {**ours._headers(), "Content-Type": kind}
    made = ours.deployment.request("POST", "/v1/kb/sources", headers, {"uri": URI})
    assert made.status == 201
    assert ours.deployment.request("POST", "/v1/kb/sources", headers, raw=b"uri=x").status == 400


HOSTILE_URIS = [
    ("https://user:pw@example.com/", "user name or password"),
    ("https://user@example.com/", "user name or password"),
    ("https://@example.com/", "user name or password"),
    ("file:///etc/passwd", "must start with http:// or https://"),
    ("javascript:alert(1)", ""),
    ("ftp://example.com/", "must start with http:// or https://"),
    ("gopher://example.com/", "must start with http:// or https://"),
    ("data:text/html,x", ""),
    ("//example.com/", ""),
    ("/relative", ""),
    ("example.com", ""),
    ("https://", ""),
    ("https:///path", ""),
    ("https://exa mple.com/", ""),
    ("https://example.com/a b", ""),
    (" https://example.com/", ""),
    ("https://example.com/\n", ""),
    ("https://example.com/\r\nHost: evil", ""),
    ("https://example.com/\0", ""),
    ("https://example.com\\@evil.example/", ""),
    ("https://exam\u202eple.com/", ""),
    ("https://example.com:0/", ""),
    ("https://example.com:65536/", ""),
    ("https://example.com:22/", "port"),
    ("https://example.com:http/", ""),
    ("http://localhost/", "local_name"),
    ("http://LOCALHOST./", "local_name"),
    ("http://printer.local/", "local_name"),
    ("http://intranet/", "local_name"),
    ("http://127.0.0.1/", "address"),
    ("http://127.1/", ""),
    ("http://0x7f000001/", ""),
    ("http://2130706433/", ""),
    ("http://0177.0.0.1/", ""),
    ("http://[::1]/", "address"),
    ("http://[::ffff:127.0.0.1]/", "address"),
    ("http://[fe80::1%25eth0]/", ""),
    ("http://10.0.0.1/", "address"),
    ("http://192.168.0.1/", "address"),
    ("http://169.254.169.254/latest/meta-data/", "address"),
    ("http://[fd00:ec2::254]/", "address"),
    ("http://100.100.100.200/", "address"),
    ("http://168.63.129.16/", "address"),
    ("http://metadata.google.internal/", "local_name"),
    ("http://①②⑦.0.0.1/", ""),
    ("https://example.com/" + "a" * 3_000, ""),
    ("https://" + "a" * 64 + ".example/", ""),
    ("https://" + "a." * 200 + "example/", ""),
]


@pytest.mark.parametrize(("uri", "word"), HOSTILE_URIS)
def test_a_uri_that_may_not_be_fetched_is_no_source(uri: str, word: str, room: Room) -> None:
    answer = room.refuses("POST", "/v1/kb/sources", {"uri": uri})
    assert (answer.status, answer.json["code"], answer.json["field"]) == (422, "invalid_field", "uri")
    assert word in answer.json["rule"]
    assert "pw" not in json.dumps(answer.json)


def test_a_batch_refuses_hostile_uris_one_by_one(ours: Tenant) -> None:
    uris = [uri for uri, _ in HOSTILE_URIS]
    answer = ours.post("/v1/kb/sources/batch", {"sources": [{"uri": uri} for uri in [*uris, URI]]})
    assert [result["status"] for result in answer.json["results"]] == [422] * len(uris) + [201]
    assert {result["problem"]["field"] for result in answer.json["results"][:-1]} == {"uri"}
    assert [item["uri"] for item in ours.get("/v1/kb/sources").json["items"]] == [URI]


def test_another_tenants_cursor_shows_nothing_of_theirs(ours: Tenant, theirs: Tenant) -> None:
    for tenant in (theirs, ours):
        for number in range(3):
            tenant.add(f"https://{tenant.name}.example/{number}")
    cursor = theirs.get("/v1/kb/sources?limit=1").json["next_cursor"]
    seen = ours.get(f"/v1/kb/sources?cursor={cursor}").json["items"]
    assert seen == ours.get("/v1/kb/sources").json["items"]
