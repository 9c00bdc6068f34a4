from __future__ import annotations

import inspect
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, get_type_hints, is_typeddict
from urllib.parse import parse_qs, urlsplit

import pytest

from chalicelib.api import resources
from chalicelib.api.openapi import document
from chalicelib.client import Client, answers, knowledge_answers, memory_answers
from tests.integration.client.canned_server import as_json, serving


def test_every_route_has_a_method_of_its_operation_id() -> None:
    paths = document(resources())["paths"]
    operations = {operation["operationId"] for path in paths.values() for operation in path.values()}
    missing = operations - {name for name, _ in inspect.getmembers(Client, inspect.isfunction)}
    assert not missing, "chalicelib/client has no method for these routes"


TYPES = {
    name: kind
    for name, kind in (vars(answers) | vars(memory_answers) | vars(knowledge_answers)).items()
    if is_typeddict(kind)
}
MODELS = {
    "Results": ("BatchOut", "BulkOut"),
    "BatchResult": ("BatchResult",),
    "BulkResult": ("BulkResult",),
    "Extract": ("ManifestEntry",),
    "Forgotten": ("ForgetOut",),
    "FirewallMode": ("ModeOut",),
    "Page": ("SourcePage", "SuggestionPage", "EventPage", "VersionPage", "EvaluationPage", "HeldPage"),
    "AgentResult": ("AgentResult",),
    "ConsumerList": ("ConsumerList",),
    "ConsumerWithToken": ("ConsumerWithToken",),
    "CustomerResult": ("CustomerResult", "WidgetResult"),
    "ProviderHealth": ("ProviderHealth",),
    "ProviderList": ("ProviderList",),
    "ProviderStatus": ("ProviderStatus",),
    "Retrieve": ("RetrieveResponse",),
    "Capabilities": ("Capabilities",),
    "ProviderWithSecret": ("ProviderWithSecret",),
    "Removed": ("Removed",),
    "TrialResult": ("TrialResult",),
    "ProofVerdict": ("ProofVerdict",),
    "Verification": ("VerifyOut",),
}


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    found: dict[str, Any] = document(resources())["components"]["schemas"]
    return found


@pytest.mark.parametrize("name", TYPES)
def test_every_member_that_the_client_promises_is_documented(schemas: dict[str, Any], name: str) -> None:
    for model in MODELS.get(name, (f"{name}Out",)):
        assert set(get_type_hints(TYPES[name])) <= set(schemas[model]["properties"]), model


def test_a_list_is_read_page_after_page_until_there_is_no_cursor() -> None:
    pages: list[tuple[list[int], str | None]] = [([1, 2], "c/1+="), ([], "c2"), ([3], None)]
    with serving(*(as_json({"items": items, "next_cursor": cursor}) for items, cursor in pages)) as server:
        found: list[Any] = list(Client(server.url).iter_events(state="done"))
    assert found == [1, 2, 3]
    queries = [parse_qs(urlsplit(one.path).query) for one in server.asked]
    assert [query.get("cursor") for query in queries] == [None, ["c/1+="], ["c2"]]
    assert all(query["limit"] == ["200"] and query["state"] == ["done"] for query in queries)


def test_a_page_is_asked_for_only_when_it_is_needed() -> None:
    with serving(as_json({"items": [1, 2], "next_cursor": 2})) as server:
        items: Iterator[Any] = Client(server.url).iter_versions("6c0f0e63-0000-4000-8000-000000000000")
        assert (next(items), next(items)) == (1, 2)
        assert len(server.asked) == 1


def test_instants_carry_their_offset_and_what_is_none_is_left_out() -> None:
    with serving(as_json({"hits": []})) as server:
        client = Client(server.url)
        client.search_kb("honey", at=datetime(2026, 11, 30, 2, tzinfo=UTC))
        client.show_text("x", datetime(2026, 11, 30, 2, tzinfo=UTC))
        client.show_diff("x", 1)
    assert server.asked[0].json == {"query": "honey", "at": "2026-11-30T02:00:00+00:00"}
    assert parse_qs(urlsplit(server.asked[1].path).query) == {"at": ["2026-11-30T02:00:00+00:00"]}
    assert parse_qs(urlsplit(server.asked[2].path).query) == {"from": ["1"]}


def test_an_id_stays_one_segment_of_the_path() -> None:
    with serving(as_json({})) as server:
        Client(server.url).show_source("../settings?x#y")
    assert server.asked[0].path == "/v1/kb/sources/..%2Fsettings%3Fx%23y"


@pytest.mark.parametrize("ident", ["", ".", ".."])
def test_an_id_that_would_lead_to_another_route_is_refused(ident: str) -> None:
    with pytest.raises(ValueError, match="is no id"):
        Client("https://example.com").cancel_event(ident)
