"""Whatever is fetched, asked of providers, operated or tidied: nothing of it is in the log, and no address either."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from chalicelib import bootstrap
from chalicelib.fetching import ssrf
from chalicelib.keys import Keyring
from chalicelib.queueing.messages import body_of
from chalicelib.services import scheduling
from chalicelib.workers import ops
from chalicelib.workers import refresh as worker
from tests.api.furniture import furnish, write_version
from tests.cases.ssrf_world import World
from tests.knowledge import ORIGIN, household, make, serving_app
from tests.postgres import TestServer
from tests.scripted_provider import Says, ScriptedProvider, answer, result
from tests.security.ear import PRIVATE, PUBLIC, TEXT, Ear, listening, marked_deployment, marked_tenant  # noqa: F401 - fixtures
from tests.tenants import Deployment, Tenant


@pytest.mark.parametrize(
    ("addresses", "response", "result"),
    [
        ([PUBLIC], b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", "new_version"),
        ([PUBLIC], b"HTTP/1.1 500 zqphraseqz\r\nServer: zqbannerqz\r\nContent-Length: 8\r\n\r\nzqbodyqz", "http_5xx"),
        ([PUBLIC], b"HTTP/1.1 302 Found\r\nLocation: http://10.91.82.73/zqtargetqz\r\n\r\n", "refused"),
        ([PUBLIC], b"HTTP/1.1 302 Found\r\nLocation: http://zqtargetqz:zqpassqz@x.example/\r\n\r\n", "refused"),
        ([PUBLIC], b"SSH-2.0-zqbannerqz\r\n\r\n", "unreachable"),
        ([PUBLIC], b"HTTP/1.1 200 OK\r\nzqheaderqz zqheaderqz\r\n\r\n", "unreachable"),
        ([PUBLIC], b"HTTP/1.1 200 OK\r\nContent-Type: image/zqtypeqz\r\nContent-Length: 0\r\n\r\n", "unsupported_type"),
        ([PUBLIC, PRIVATE], b"", "refused"),
        ([PRIVATE], b"", "refused"),
    ],
)
def test_nothing_of_a_page_or_its_address_is_logged(
    ours: Tenant,
    shared: Deployment,
    ear: Ear,
    monkeypatch: pytest.MonkeyPatch,
    addresses: list[str],
    response: bytes,
    result: str,
) -> None:
    page = response % (len(TEXT), TEXT.encode()) if b"%s" in response else response
    world = World({"zqhostqz.example.com": addresses}, lambda _: [page], lambda *_: None)
    try:
        refresh(shared, ours, fetch=guarded(shared, world), monkeypatch=monkeypatch)
    finally:
        world.close()
    assert ours.get("/v1/kb/sources").json["items"][0]["last_status"] == result
    ear.heard_nothing_of(PUBLIC, PRIVATE, but="refreshed")


def test_nothing_of_a_name_that_leads_nowhere_is_logged(
    ours: Tenant, shared: Deployment, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    for answers, refusals in (({}, {}), ({"zqhostqz.example.com": [PUBLIC]}, {PUBLIC: "ECONNREFUSED"})):
        world = World(dict(answers), lambda _: [], lambda *_: None, refusals=dict(refusals))
        try:
            refresh(shared, ours, fetch=guarded(shared, world), monkeypatch=monkeypatch)
        finally:
            world.close()
    ear.heard_nothing_of(PUBLIC, but="unreachable:connect")


def guarded(deployment: Deployment, world: World) -> Any:
    """The guard itself, in a world of its own."""
    return partial(
        ssrf.fetch, policy=deployment.worker.fetch_policy, resolver=world.resolver, connector=world.connector
    )


def refresh(deployment: Deployment, tenant: Tenant, *, monkeypatch: pytest.MonkeyPatch, **more: Any) -> None:
    """Queue a source with marks in its URL, tick, and hand the messages to the worker."""
    uri = "http://zqhostqz.example.com/zqpathqz?zqparameterqz=zqvalueqz"
    tenant.post(f"/v1/kb/sources/{tenant.add(uri)['id']}/queue", {"when": "now"})
    scheduling.tick(deployment.worker, now=datetime.now(UTC))
    with monkeypatch.context() as patch:
        patch.setattr(bootstrap, "outside", lambda: replace(deployment.worker, **more))
        for message in deployment.queue.messages:
            record = {"messageId": "m-1", "body": body_of(message.event_id), "attributes": {"SentTimestamp": "1"}}
            worker.handle([record])
    deployment.queue.messages.clear()


def test_nothing_of_a_fault_of_the_worker_is_logged(
    ours: Tenant, shared: Deployment, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError(f"zqfaultqz at {PUBLIC}")

    refresh(shared, ours, fetch=fail, monkeypatch=monkeypatch)
    monkeypatch.setattr(bootstrap, "outside", lambda: shared.worker)
    for body in ("zqmessageqz", '{"event_id": "zqmessageqz"}', '{"zqmessageqz": 1}'):
        assert worker.handle([{"messageId": "m-2", "body": body}])["batchItemFailures"]
    ear.heard_nothing_of(PUBLIC, but="a message failed")


def test_nothing_of_what_providers_are_asked_or_answer_is_logged(server: TestServer, ear: Ear) -> None:
    deployment = make(server)
    providers = [
        ScriptedProvider(behave)
        for behave in (
            answer(result("zqdocumentqz", title="zqtitleqz", snippet="zqsnippetqz")),
            answer(result("zqdocumentqz", audience="zqaudienceqz")),
            Says(body=b'{"zqjsonqz": "zqjsonqz'),
            Says(500, b"zqbodyqz", {"Content-Type": "zqtypeqz", "Server": "zqserverqz"}),
            Says(reset=True),
        )
    ]
    with serving_app(deployment):
        house = household(deployment, "zqhouseqz")
        secrets = [house.register(one, name=f"zqprovider{n}qz")["secret"] for n, one in enumerate(providers)]
        secrets += [house.agent, house.assistant, house.widget, house.tenant.api_token, house.tenant.admin_token]
        assert "zqsnippetqz" in str(house.ask("zqquestionqz", conversationId="zqconversationqz").json)
        assert "zqsnippetqz" in str(house.visit("zqquestionqz", origin=ORIGIN).json)
        for provider in house.providers():
            house.act(provider, "test", {"query": "zqquestionqz"})
            house.act(provider, "refresh-capabilities")
            house.act(provider, "rotate-secret", {"overlap_seconds": 60})
        signed = [value for one in providers for asked in one.asked for value in asked.headers.values()]
    for one in providers:
        one.close()
    deployment.close()
    server.drop(deployment.database_name)
    ear.heard_nothing_of(*secrets, *(value for value in signed if len(value) > 30), but="a provider failed")


def test_nothing_of_an_operation_is_logged(shared: Deployment, ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = shared.build("larder_owner")
    monkeypatch.setattr(bootstrap, "outside", lambda: owner)
    made = ops.run({"command": "tenant_create", "name": "zqtenantqz", "operator": "zqoperatorqz"})["result"]
    token = ops.run({"command": "token_create", "tenant": "zqtenantqz", "class": "api", "label": "zqlabelqz"})
    assert token["ok"], token
    for command in ("tenant_create", "tenant_delete", "token_create", "token_revoke", "zqcommandqz"):
        ops.run({"command": command, "name": "zqtenantqz", "tenant": "zqtenantqz", "id": "zqidqz", "x": "zqargumentqz"})
    monkeypatch.setattr(bootstrap, "outside", lambda: shared.outside)
    refused = ops.run({"command": "tenant_create", "name": "zqothertenantqz"})
    assert refused["code"] == "internal_error"
    owner.database.close()
    hidden = [made["api_token"], made["admin_token"], *(str(value) for value in token["result"].values())]
    ear.heard_nothing_of(*(value for value in hidden if len(value) > 30), but="an operation failed")


def test_nothing_of_a_tick_with_its_housekeeping_is_logged(ours: Tenant, shared: Deployment, ear: Ear) -> None:
    furnish(ours)
    source = UUID(ours.add("https://zqhostqz.example.com/")["id"])
    write_version(ours, source, 1, TEXT, datetime.now(UTC) - timedelta(hours=1), None)
    assert ours.post("/v1/kb/search", {"query": "zqpagetextqz"}).json["hits"], "there is a decision to seal"
    hour = datetime.now(UTC).replace(minute=scheduling.HOUSEKEEPING_MINUTE) + timedelta(days=2)
    scheduling.tick(replace(shared.worker, keys=Keyring("/zqfileqz")), now=hour)
    ear.heard_nothing_of(ours.name, but="chains of decisions were not sealed")
