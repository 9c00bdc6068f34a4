"""The client against the app on a real socket."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from chalicelib.client import ApiProblem, Client
from chalicelib.client.ops import OpsFunction
from chalicelib.client.problem import OpsProblem
from examples.serve import ExampleSite
from tests.api.live_app import live_deployment, live_site, live_url, work_off  # noqa: F401 - fixtures
from tests.tenants import Deployment, Tenant

_numbers = itertools.count()

MORE = "Whoever takes something from the cellar writes it on the list beside the door, with the date and two initials."


@pytest.fixture
def acme(live: Deployment) -> Tenant:
    return live.tenant(f"acme-{next(_numbers)}")


@pytest.fixture
def client(url: str, acme: Tenant) -> Client:
    return Client(url, acme.api_token, acme.admin_token)


def test_the_open_routes_need_no_token(url: str, live: Deployment) -> None:
    stranger = Client(f"{url}/")
    assert stranger.healthz() == stranger.livez() == {"status": "ok"}
    work_off(live)
    assert {check["name"] for check in stranger.readyz()["checks"]} == {"database", "schema", "queue", "schedule"}
    assert stranger.openapi()["openapi"].startswith("3.")
    with pytest.raises(ApiProblem) as raised:
        stranger.show_status()
    assert (raised.value.status, raised.value.code) == (401, "unauthorized")


def test_a_client_without_the_admin_token_reads_and_changes_nothing(url: str, acme: Tenant) -> None:
    reader = Client(url, acme.api_token)
    assert reader.show_status()["enabled"] is True
    with pytest.raises(ApiProblem) as raised:
        reader.change_settings(nightly_job_cap=3)
    assert (raised.value.status, raised.value.code) == (403, "admin_token_required")
    assert reader.show_settings()["nightly_job_cap"] == 50


def test_settings_change_as_asked_and_a_bad_one_names_its_field(client: Client) -> None:
    changed = client.change_settings(
        night_start="22:00", night_end="04:30", timezone="Asia/Tokyo", nightly_job_cap=9, enabled=True
    )
    assert changed == client.show_settings()
    assert changed["night_end"] == "04:30"
    with pytest.raises(ApiProblem) as raised:
        client.change_settings(timezone="Atlantis/Capital")
    assert (raised.value.status, raised.value.extra["field"]) == (422, "timezone")


def test_a_source_is_added_shown_updated_and_switched(client: Client) -> None:
    added = client.put_source("https://example.com/a", name="A", refresh_ttl_seconds=300, keep_hidden_text=True)
    assert (added["stale"], added["stale_reason"]) == (True, "never_fetched")
    assert client.show_source(added["id"])["name"] == "A"
    assert client.put_source("https://example.com/a", name="B")["id"] == added["id"]
    assert client.toggle_source(added["id"])["active"] is False
    assert client.toggle_source(added["id"], True)["active"] is True
    with pytest.raises(ApiProblem) as raised:
        client.show_source(str(uuid4()))
    assert raised.value.status == 404


def test_a_batch_has_a_result_for_each_and_every_page_is_read(client: Client) -> None:
    wanted = [{"uri": f"https://example.com/{number}"} for number in range(100)]
    for start in (0, 100, 200):
        batch = [{"uri": f"{one['uri']}-{start}"} for one in wanted]
        assert [result["status"] for result in client.put_sources(batch)["results"]] == [201] * 100
    mixed = client.put_sources([{"uri": "https://example.com/0-0"}, {"uri": "gopher://example.com/"}])["results"]
    assert [result["status"] for result in mixed] == [200, 422]
    found = [source["uri"] for source in client.iter_sources()]
    assert len(found) == len(set(found)) == 300
    assert len(client.list_sources(limit=7)["items"]) == 7


def test_a_suggestion_becomes_an_event_and_an_event_can_be_cancelled(client: Client) -> None:
    client.put_sources([{"uri": f"https://example.com/{number}"} for number in range(5)])
    first, second, third, *rest = [suggestion["id"] for suggestion in client.iter_suggestions()]
    assert client.snooze_suggestion(first, 2)["state"] == "snoozed"
    assert client.dismiss_suggestion(second)["state"] == "dismissed"
    event = client.approve_suggestion(third)["event"]
    assert event is not None
    assert datetime.fromisoformat(event["available_at"]) > datetime.now(UTC)
    assert [result["status"] for result in client.approve_suggestions([rest[0], str(uuid4())])["results"]] == [202, 404]
    assert [result["suggestion_id"] for result in client.approve_suggestions()["results"]] == rest[1:]
    assert client.list_suggestions()["items"] == []
    assert client.cancel_event(event["event_id"])["state"] == "cancelled"
    assert {one["event_id"] for one in client.iter_events(state="cancelled")} == {event["event_id"]}
    assert len(list(client.iter_events())) == 3
    with pytest.raises(ApiProblem) as raised:
        client.approve_suggestion(third)
    assert (raised.value.status, raised.value.code) == (409, "suggestion_not_open")


def test_queueing_twice_is_one_event_that_comes_forward(client: Client) -> None:
    source = client.put_source("https://example.com/")
    night, now = client.queue_source(source["id"], "night"), client.queue_source(source["id"], "now")
    assert (night["event_id"], night["when"], now["when"]) == (now["event_id"], "night", "now")
    assert [one["event_id"] for one in client.list_events(source_id=source["id"])["items"]] == [now["event_id"]]
    client.cancel_event(now["event_id"])  # another test works off what is due


def test_a_source_without_a_version_has_no_text_and_nothing_to_find(client: Client) -> None:
    source = client.put_source("https://example.com/")
    assert list(client.iter_versions(source["id"])) == []
    assert client.list_versions(source["id"])["next_cursor"] is None
    assert client.search_kb("honey", mode="keyword", source_ids=[source["id"]])["hits"] == []
    for ask in (client.show_text, client.show_diff):
        with pytest.raises(ApiProblem) as raised:
            ask(source["id"])
        assert (raised.value.status, raised.value.code) == (404, "no_version")


def test_the_firewalls_mode_policies_and_record_are_read_and_changed(client: Client) -> None:
    assert client.set_mode("advisory") == {"mode": "advisory", "effective": "advisory"}
    assert client.set_mode(None)["mode"] is None
    assert client.show_mode()["mode"] is None
    source = client.put_source("https://example.com/")
    before = client.show_source_policy(source["id"])
    etag = f'"{before["policy_digest"]}"'
    changed = client.set_source_policy(source["id"], {"permitted_roles": ["support"], "published": True}, if_match=etag)
    assert (changed["published"], changed["policy"]["permitted_roles"]) == (True, ["support"])
    with pytest.raises(ApiProblem) as raised:
        client.set_source_policy(source["id"], {"permitted_roles": None}, if_match=etag)
    assert raised.value.status == 412
    assert list(client.iter_evaluations()) == []
    assert "".join(client.export_evaluations()).startswith("id,")
    assert client.verify_evaluations()["ok"] is True


def test_a_chunk_that_is_not_there_has_no_policy(client: Client) -> None:
    with pytest.raises(ApiProblem) as raised:
        client.show_chunk_policy(str(uuid4()))
    assert (raised.value.status, raised.value.code) == (404, "not_found")


def test_a_hit_carries_a_proof_and_its_chunk_can_be_judged(client: Client, live: Deployment, site: ExampleSite) -> None:
    source = client.put_source(f"{site.url}/prices.html", name="prices")
    client.queue_source(source["id"], "now")
    assert work_off(live) == ["new_version"]
    [hit] = client.search_kb("heather honey")["hits"]
    assert client.verify_proof(hit["proof"]) == {"valid": True}
    assert client.verify_proof({**hit["proof"], "decision": "block_expired"}) == {"valid": False}
    assert [one["chunk_id"] for one in client.iter_evaluations(chunk_id=hit["chunk_id"])] == [hit["chunk_id"]]
    pack = client.context_pack("heather honey", 2000)
    assert (pack["manifest"], pack["left_out"] is None) == ([], False)
    refuted = client.validate_chunk(hit["chunk_id"], "refuted", "the shop has closed")
    assert client.show_chunk_policy(hit["chunk_id"]) == refuted
    assert client.search_kb("heather honey")["hits"] == []
    client.validate_chunk(hit["chunk_id"], "unverified")
    assert client.set_chunk_policy(hit["chunk_id"], {"sensitivity": "internal"})["own"] is not None
    assert client.show_text(source["id"])["withheld"] == 0


def test_a_note_is_remembered_or_kept_aside_and_decided_on(client: Client) -> None:
    noted = client.remember_note(f"The key of the cellar hangs behind the flour. {MORE}", title="Key")
    assert noted["outcome"] == "stored"
    bell = f"# Bell\n\nRing it twice for the cellar. {MORE}".encode()
    assert client.remember_document(bell, "text/markdown")["outcome"] == "stored"
    assert client.change_deny_patterns(add=["project heather"]) == {"patterns": ["project heather"]}
    assert client.list_deny_patterns() == {"patterns": ["project heather"]}
    first, second = (client.remember_note(f"All about project heather, part {part}. {MORE}") for part in "AB")
    assert [held["id"] for held in client.iter_quarantine()] == [first["quarantine_id"], second["quarantine_id"]]
    assert client.drop_quarantined(str(first["quarantine_id"])) == {}
    assert client.release_quarantined(str(second["quarantine_id"]))["state"] == "pending"
    assert client.list_quarantine()["items"] == []
    assert client.change_deny_patterns(remove=["project heather"]) == {"patterns": []}
    with pytest.raises(ApiProblem) as raised:
        client.forget_chunk(str(uuid4()))
    assert raised.value.status == 404
    for event in client.iter_events(state="pending"):
        client.cancel_event(event["event_id"])  # another test works off what is due


def test_operations_are_done_or_refused_with_a_code(url: str) -> None:
    function = OpsFunction("larder-ops", endpoint_url=url, emulated=True)
    name = f"made-{uuid4()}"
    made = function.run("tenant_create", name=name, plan="team", operator=None)
    assert Client(url, made["api_token"]).show_status()["enabled"] is True
    assert name in [tenant["name"] for tenant in function.run("tenant_list")]
    for command, arguments, code in (
        ("tenant_create", {"name": name}, "tenant_exists"),
        ("tenant_delete", {"name": "nobody"}, "not_found"),
        ("format_disk", {}, "invalid_field"),
    ):
        with pytest.raises(OpsProblem) as raised:
            function.run(command, **arguments)
        assert raised.value.code == code


def test_an_emulator_never_sees_the_users_own_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "the-users-own")
    credentials = OpsFunction("x", "http://127.0.0.1:9", emulated=True)._client()._request_signer._credentials  # type: ignore[attr-defined]
    assert credentials.access_key == "test"
