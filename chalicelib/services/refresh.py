"""A refresh in three moves: begin (lease), gather (the world: no transaction, no connection held), finish (one write).

``now`` is an argument of each move, because minutes may lie between them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from chalicelib.domain import chunking, secrets
from chalicelib.domain.content_class import content_class
from chalicelib.domain.doubtful import find_doubt
from chalicelib.domain.freshness import Validators, updated_validators, usable_validators
from chalicelib.domain.ingest_gates import Deposit, Screening, screen
from chalicelib.domain.night_window import current_night, next_start
from chalicelib.domain.outcome import Outcome
from chalicelib.domain.policy import CREDENTIALS
from chalicelib.domain.retry import parse_retry_after
from chalicelib.embedding.model import EmbeddingFailed
from chalicelib.errors import LarderError
from chalicelib.fetching import extract as extraction
from chalicelib.fetching import ssrf
from chalicelib.fetching.errors import FetchError
from chalicelib.services import deposits, embeddings, inheritance, nights, robots
from chalicelib.services.chunk_plan import ChunkPlan, plan
from chalicelib.services.clock import require_not_ahead
from chalicelib.services.outside import Outside
from chalicelib.storage import events, held_texts, hosts, sources, tenants, versions
from chalicelib.storage.events import Event
from chalicelib.storage.held_texts import HeldText
from chalicelib.storage.sources import Source
from chalicelib.storage.tenants import Tenant
from chalicelib.storage.versions import OpenChunk

PIPELINE = (
    f"extractor {extraction.EXTRACTOR_VERSION}, chunker {chunking.CHUNKER_VERSION}, "
    f"secrets {secrets.SECRET_RULES_VERSION}"
)
"""When one of these is raised the next refresh is unconditional and looks at the text anew (spec 1.7)."""

FETCH_LEASE = timedelta(seconds=30)  # a host is taken for the fetch's 20 s and some room


@dataclass(frozen=True, slots=True)
class Job:
    """A leased event with all that is needed to do it."""

    event: Event
    token: UUID
    source: Source
    tenant: Tenant


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The page says what it said. ``check``: new values of the source's columns."""

    check: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Changed:
    """The page says something new. ``version``: columns of ``kb_versions``.

    ``descents``: pairs of hashes, of a text to come and of one with a policy that it descends from, worked out from the
    policies as of ``policy_epoch``. ``credentials``: hashes of the texts to come that are of this class.
    """

    check: dict[str, Any]
    version: dict[str, Any]
    base_version: int | None
    plan: ChunkPlan
    vectors: dict[str, str]
    descents: list[tuple[str, str]]
    policy_epoch: datetime | None
    credentials: list[str]


@dataclass(frozen=True, slots=True)
class Doubtful:
    """The page says something that a person should see first."""

    held: HeldText


@dataclass(frozen=True, slots=True)
class Denied:
    """The page holds what the tenant's deny patterns keep out."""

    screening: Screening
    title: str | None


@dataclass(frozen=True, slots=True)
class Failed:
    """Nothing to keep. ``detail`` is fit for the tenant; ``cause`` is for the operator's log alone."""

    outcome: Outcome
    detail: str
    cause: str
    retry_after: timedelta | None = None


class RobotsRefused(LarderError):
    """The site does not want to be fetched by us."""


Gathered = Unchanged | Changed | Doubtful | Denied | Failed


def begin(outside: Outside, event_id: UUID, *, now: datetime) -> Job | None:
    """Lease the event; None if there is nothing to do for this message: done, taken, gone, or not its time.

    An event that may not start now (window closed, tenant off) goes back to waiting. None starts outside its window
    (spec 1.7). Raises ClockAhead.
    """
    token = uuid4()
    until = now + timedelta(seconds=outside.settings.lease_seconds)
    with outside.database.transaction() as tx:
        require_not_ahead(outside, tx, now)
        event = events.lease(tx, event_id, token=token, now=now, until=until)
        source = sources.get(tx, event.source_id) if event else None
        tenant = tenants.get(tx, event.tenant_id) if event else None
        if event is None or source is None or tenant is None:
            return None
        if not tenant.enabled or not outside.settings.enable_kb:
            events.put_back(tx, event.id, token, event.available_at)
        elif not source.active:
            events.finish(tx, event.id, "skipped", Outcome.SKIPPED_INACTIVE, None, now)
        elif event.night and current_night(nights.settings_of(tenant), now) is None:
            events.put_back(tx, event.id, token, next_start(nights.settings_of(tenant), now))
        else:
            return Job(event, token, source, tenant)
    return None


def take_host(outside: Outside, job: Job, *, now: datetime) -> datetime | None:
    """Take the source's host for one fetch; None if it is ours, else when to ask again. A review needs no host."""
    if job.event.kind == events.PUBLISH:
        return None
    with outside.database.transaction() as tx:
        return hosts.lease(tx, _host(job), token=job.token, now=now, until=now + FETCH_LEASE)


def postpone(outside: Outside, job: Job, *, until: datetime) -> None:
    """Give the event back unused: its host is busy or asked for peace until then."""
    with outside.database.transaction() as tx:
        events.put_back(tx, job.event.id, job.token, until)


def gather(outside: Outside, job: Job, *, now: datetime) -> Gathered:
    """Fetch, read, judge, cut and embed. Raises nothing that the world can cause: that is a Failed."""
    try:
        if job.event.kind == events.PUBLISH:
            return _reviewed(outside, job, now)
        return _read(outside, job, _fetched(outside, job, now), now)
    except FetchError as error:
        return Failed(
            Outcome(error.reason.status),
            _FETCH_DETAIL.get(error.reason.status, "the page could not be fetched"),
            str(error.reason),
            parse_retry_after(error.retry_after, now=now),
        )
    except RobotsRefused:
        return Failed(Outcome.REFUSED, "the site's robots.txt does not permit it", "refused:robots")
    except extraction.ExtractionError as error:
        return Failed(Outcome(error.status), str(error.detail or error.status), error.status)
    except chunking.TooManyChunks as error:
        return Failed(Outcome.TOO_LARGE, "the text is longer than a source may be", str(error))
    except EmbeddingFailed as error:
        return Failed(Outcome.EMBEDDING_FAILED, "the text could not be embedded", str(error))


_FETCH_DETAIL = {
    "refused": "the address may not be fetched",
    "unreachable": "the page could not be reached",
    "timeout": "the server took too long",
    "http_403": "the server wants a login or forbids the page",
    "http_404": "the page is not there",
    "http_429": "the server asks for fewer requests",
    "http_5xx": "the server failed",
    "http_4xx": "the server refused the request",
    "too_large": "the page is larger than may be fetched",
    "unsupported_type": "the page is of a type that is not read",
    "empty": "the page has no readable text",
}


def _fetched(outside: Outside, job: Job, now: datetime) -> ssrf.FetchResult:
    """One guarded fetch; the host is free again afterwards.

    The host whose server asked for peace is closed for as long as it asked: after a redirect that is another one, and
    the one that we came from stays open.
    """
    asked_by: tuple[str, datetime] | None = None
    try:
        if outside.settings.respect_robots and not robots.permits(outside, job.source.uri):
            raise RobotsRefused
        return outside.fetch(job.source.uri, validators=_validators(job.source, now), no_cache=not job.event.night)
    except FetchError as error:
        wait = parse_retry_after(error.retry_after, now=now)
        asked_by = (error.host or _host(job), now + wait) if wait else None
        raise
    finally:
        with outside.database.transaction() as tx:
            hosts.release(tx, _host(job), token=job.token, now=now)
            if asked_by is not None:
                hosts.close(tx, asked_by[0], now=now, not_before=asked_by[1])


def _validators(source: Source, now: datetime) -> ssrf.Validators | None:
    usable = usable_validators(
        source.etag,
        source.last_modified,
        now=now,
        last_unconditional_at=source.last_unconditional_at,
        has_current=source.current_version is not None,
        pipeline_changed=source.pipeline != PIPELINE,
    )
    return ssrf.Validators(*usable) if any(usable) else None


def _read(outside: Outside, job: Job, page: ssrf.FetchResult, now: datetime) -> Gathered:
    """From a page to what it changes."""
    source = job.source
    check = _check(source, page, now)
    # The same bytes through the same pipeline are the same text: not even parsed.
    same_bytes = page.status == 304 or (source.body_hash == check["body_hash"] and source.pipeline == PIPELINE)
    if same_bytes and source.current_version is not None:
        return Unchanged(check)
    found = extraction.extract(page.body, page.headers.get("content-type"), keep_hidden=source.keep_hidden_text)
    with outside.database.transaction(source.tenant_id) as tx:
        patterns = deposits.deny_patterns(tx, source.tenant_id)
    screening = screen(found.text, Deposit.PAGE, patterns, beside=[found.title, found.description])
    if screening.outcome == "refuse":
        return Failed(Outcome.MOSTLY_SECRET, "more than half of the text is credentials", screening.reason)
    held = _held(job, page.final_url, found, screening, now)
    if screening.outcome == "quarantine":
        return Denied(screening, held.title)
    with outside.database.transaction(source.tenant_id) as tx:
        current = versions.current(tx, source.id)
        open_chunks = versions.open_chunks(tx, source.id)
    if current is not None and current.content_hash == chunking.content_hash(held.text):
        return Unchanged(check)
    doubt = find_doubt(
        held.text,
        title=held.title,
        previous_text="".join(chunk.text[chunk.overlap :] for chunk in open_chunks) if current else None,
        source_url=source.uri,
        final_url=page.final_url,
    )
    if doubt is not None:
        return Doubtful(replace(held, reason=doubt, base_version=source.current_version))
    return _changed(outside, source, held, open_chunks, check, now)


def _held(job: Job, final_url: str, found: extraction.Extracted, screening: Screening, now: datetime) -> HeldText:
    """The page's text as it may be kept: its secrets were redacted over the whole of it, before it is cut."""
    return HeldText(
        tenant_id=job.source.tenant_id,
        source_id=job.source.id,
        reason="",
        base_version=None,
        text=screening.text,
        title=_redacted(found.title),
        language=found.language,
        description=_redacted(found.description),
        canonical_url=_redacted(found.canonical_url),
        final_url=secrets.redact(final_url).text,
        invisible_removed=found.invisible_removed,
        secrets_redacted=len(screening.findings),
        extractor_version=extraction.EXTRACTOR_VERSION,
        secret_rules_version=secrets.SECRET_RULES_VERSION,
        fetched_at=now,
    )


def _redacted(text: str | None) -> str | None:
    return None if text is None else secrets.redact(text).text


def _changed(
    outside: Outside, source: Source, held: HeldText, open_chunks: list[OpenChunk], check: dict[str, Any], now: datetime
) -> Changed:
    chunks = chunking.chunk(held.text, fits=outside.embedder.fits)
    with outside.database.transaction(source.tenant_id) as tx:
        guarded = inheritance.guarded(tx, source.id)
    descents = inheritance.parents(open_chunks, chunks, guarded)
    steps = plan(open_chunks, chunks, chunking.chunk_ids(source.id, chunks))
    version = {
        "content_hash": chunking.content_hash(held.text),
        "title": held.title,
        "language": held.language,
        "description": held.description,
        "canonical_url": held.canonical_url,
        "final_url": held.final_url,
        "character_count": len(held.text),
        "chunk_count": len(chunks),
        "invisible_removed": held.invisible_removed,
        "secrets_redacted": held.secrets_redacted,
        "extractor_version": held.extractor_version,
        "chunker_version": chunking.CHUNKER_VERSION,
        "secret_rules_version": held.secret_rules_version,
        "fetched_at": held.fetched_at.isoformat(),
    }
    vectors = embeddings.embed(outside, steps.to_embed(), now)
    secret = [chunking.content_hash(chunk.body) for chunk in chunks if content_class(chunk.body) == CREDENTIALS]
    return Changed(check, version, source.current_version, steps, vectors, descents, guarded.epoch, secret)


def _reviewed(outside: Outside, job: Job, now: datetime) -> Gathered:
    """Exactly the text that a person has seen, and no validator: the next check asks for the whole page."""
    with outside.database.transaction(job.source.tenant_id) as tx:
        held = held_texts.get(tx, job.event.held_text_id) if job.event.held_text_id else None
        open_chunks = versions.open_chunks(tx, job.source.id)
    if held is None:
        return Failed(Outcome.INTERNAL_ERROR, "the text to publish is no longer there", "held text missing")
    check = {"etag": None, "last_modified": None, "body_hash": None}
    changed = _changed(outside, job.source, held, open_chunks, check, now)
    return replace(changed, base_version=held.base_version)


def _check(source: Source, page: ssrf.FetchResult, now: datetime) -> dict[str, Any]:
    """The source's columns after a check that succeeded; saved with the write, never before."""
    not_modified = page.status == 304
    etag, last_modified = updated_validators(
        Validators(source.etag, source.last_modified),
        Validators(page.headers.get("etag"), page.headers.get("last-modified")),
        not_modified=not_modified,
        now=now,
    )
    check: dict[str, Any] = {"etag": etag, "last_modified": last_modified, "redirect_to": page.permanent_redirect_to}
    if not not_modified:
        kind = page.headers.get("content-type") or ""
        check["body_hash"] = hashlib.sha256(kind.encode() + b"\0" + page.body).hexdigest()
        check["pipeline"] = PIPELINE
        if _validators(source, now) is None:
            check["last_unconditional_at"] = now.isoformat()
    return check


def _host(job: Job) -> str:
    return ssrf.parse_url(job.source.uri).host
