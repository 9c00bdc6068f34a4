"""Larder's own provider: the contract, answered from the knowledge base (spec 3.6).

It has no private path: a registration of module ``larder``, made by the public route, and a signature by its secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg

from chalicelib.domain.evaluation import DEFAULT_PURPOSE, Request
from chalicelib.domain.firewall_mode import Mode
from chalicelib.domain.freshness import stale_at
from chalicelib.domain.locale_match import is_tag
from chalicelib.keys import KeysUnusable
from chalicelib.knowledge import contract
from chalicelib.knowledge.contract import RetrieveRequest
from chalicelib.knowledge.links import public_link
from chalicelib.knowledge.sealed import Sealed, unseal
from chalicelib.knowledge.verification import Proven, Refusal, verify
from chalicelib.services import search
from chalicelib.services.enforcement import Reading
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage import providers
from chalicelib.storage.providers import Provider
from chalicelib.storage.reach import Within

CAPABILITIES = ("scoring",)


def retrieve(
    outside: Outside, ident: UUID, headers: Mapping[str, str], body: bytes, trace_id: str, now: datetime
) -> dict[str, Any]:
    """The answer to a signed question. Raises Refusal; a registration that is not served looks like a wrong signature.

    ``headers`` have lower-case names. Nothing is searched for a request that is refused.
    """
    if len(body) > contract.MAX_REQUEST_BYTES:
        raise Refusal(400, "invalid_request", "request too large")
    try:
        provider, is_on = _registration(outside, ident)
        keys = _keys(outside, provider, now) if provider else []
        proven = verify(headers, body, keys, now=int(now.timestamp()))
        if provider is None:
            raise Refusal(401, "unauthorized", "no such registration")
        _require_on(is_on)
        _take_nonce(outside, provider, proven)
    except (psycopg.Error, KeysUnusable):
        raise Refusal(503, "unavailable", "can't be checked now") from None
    try:
        request = contract.parse_request(body, headers.get("content-type"))
    except contract.ContractFailure as error:
        raise Refusal(400, "invalid_request", str(error)) from None
    return _answer(outside, provider, request, trace_id, now)


def capabilities(outside: Outside, ident: UUID) -> dict[str, Any]:
    """What this provider declares. Not signed: it is the same for every registration. Raises Refusal."""
    provider, is_on = _registration(outside, ident)
    if provider is None:
        raise Refusal(401, "unauthorized", "no such registration")
    _require_on(is_on)
    return {"contractVersion": contract.VERSION, "capabilities": list(CAPABILITIES)}


def _registration(outside: Outside, ident: UUID) -> tuple[Provider | None, bool]:
    """The registration, if it is Larder's own and no admin has disabled it; and whether its tenant is on.

    One that was disabled for its failures is served: that says how it was asked, and its admin may want to try it.
    """
    with outside.database.transaction() as tx:
        found = tx.row("providers.own", id=ident)
    if found is None:
        return None, False
    with outside.database.transaction(found["tenant_id"]) as tx:
        provider = providers.get(tx, ident)
    served = provider if provider is not None and provider.status != "disabled" else None
    return served, bool(outside.settings.enable_kb and found["tenant_enabled"])


def _require_on(is_on: bool) -> None:
    """Told to whom a signature vouches for. Raises Refusal."""
    if not is_on:
        raise Refusal(503, "unavailable", "switched off")


def _keys(outside: Outside, provider: Provider, now: datetime) -> list[str]:
    sealed = provider.registration.secrets_at(now)
    return [unseal(outside.keys, provider.id, Sealed(*one)) for one in sealed]


def _take_nonce(outside: Outside, provider: Provider, proven: Proven) -> None:
    """Spend the nonce. Of all replicas one succeeds; without the store nobody does."""
    keep_until = datetime.fromtimestamp(proven.keep_until, UTC)
    own = {"id": provider.id, "tenant_id": provider.tenant_id}
    with outside.database.transaction(provider.tenant_id) as tx:
        if not tx.value("providers.take_nonce", **own, nonce=proven.nonce, keep_until=keep_until):
            raise Refusal(401, "replayed_nonce", "nonce seen before")


def _answer(
    outside: Outside, provider: Provider, request: RetrieveRequest, trace_id: str, now: datetime
) -> dict[str, Any]:
    """Search in what this registration may reach, under the firewall, which is enforced whatever the mode."""
    published = provider.exposure_profile == "customer_safe"
    inside = replace(outside, database=Within(outside.database, "public" if published else "internal"))
    tenant = provider.tenant_id
    with inside.database.transaction(tenant) as tx:
        sources = [row["id"] for row in tx.rows("own_provider.sources", tenant_id=tenant, published=published)]
    if not sources:
        return _envelope([])
    reading = Reading(
        Request(tenant_id=str(tenant), role="", purpose=DEFAULT_PURPOSE, operator=""),
        Mode.ENFORCE,
        trace_id,
        always_enforce=True,
    )
    question = search.Question(_searchable(request.query), request.limit, "hybrid", source_ids=sources)
    who = Principal(tenant_id=tenant, token_id=provider.id, tenant_enabled=True)
    hits = search.search(inside, who, reading, question, now).hits
    with inside.database.transaction(tenant) as tx:
        rows = tx.rows("own_provider.details", ids=[hit.candidate.source_id for hit in hits])
    details = {row["id"]: row for row in rows}
    results = [
        _result(hit, details[hit.candidate.source_id], published) for hit in hits if hit.candidate.source_id in details
    ]
    return _envelope([one for one in results if one["audience"] == "public" or not published])


def _searchable(query: str) -> str:
    """A query may hold anything; control characters mean nothing to a search, and Postgres takes no NUL."""
    return "".join(character if character.isprintable() else " " for character in query)


def _envelope(results: list[dict[str, Any]]) -> dict[str, Any]:
    return {"contractVersion": contract.VERSION, "results": results}


def _result(hit: search.Hit, details: Mapping[str, Any], published: bool) -> dict[str, Any]:
    """A hit in the words of the contract; what it does not have is left out."""
    one = hit.candidate
    due = stale_at(details["last_checked_at"], details["refresh_ttl_seconds"])
    language = details["language"] or ""
    result = {
        "documentId": str(one.source_id),
        "title": (one.title or one.source_name)[:512],
        "snippet": one.text,
        "audience": "public" if published and one.policy.tier == "public" else "internal",
        "revision": None if one.version is None else str(one.version),
        "chunkId": str(one.chunk_id),
        "url": public_link(one.source_uri) if details["type"] == "url" else None,
        "locale": language if is_tag(language) else None,
        "score": one.score,
        "freshness": "stale" if one.stale else "current",
        "reviewDueAt": None if due is None else due.astimezone(UTC).isoformat(),
    }
    return {name: value for name, value in result.items() if value is not None}
