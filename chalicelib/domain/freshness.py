"""The freshness clock of a source, and which validators a conditional request may carry (spec 1.1 and 1.7)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from chalicelib.domain.http_date import parse_http_date
from chalicelib.domain.outcome import Outcome

MIN_TTL = 300
DEFAULT_TTL = 7 * 24 * 3600
MAX_TTL = 365 * 24 * 3600
"""Time to live of a source, in seconds: smallest, default, largest."""

UNCONDITIONAL_EVERY = timedelta(days=7)
"""So often a check goes without validators, against servers whose validators never change."""

StaleReason = Literal["never_fetched", "ttl_expired", "last_refresh_failed"]


@dataclass(frozen=True)
class Staleness:
    """Whether a source is past its TTL, why it is suggested, and for how long it has been stale (never negative)."""

    stale: bool
    reason: StaleReason | None
    stale_for_seconds: int


def stale_at(last_checked_at: datetime | None, ttl_seconds: int) -> datetime | None:
    """Return the instant from which the source is stale; None if it was never fetched: it is stale at once."""
    return None if last_checked_at is None else last_checked_at + timedelta(seconds=ttl_seconds)


def staleness(
    last_checked_at: datetime | None,
    last_status: str | None,
    ttl_seconds: int,
    now: datetime,
    *,
    created_at: datetime | None = None,
) -> Staleness:
    """Judge a source at ``now``.

    ``last_status`` is the outcome of the last attempt; a failure never makes a fresh source stale, it becomes the
    reason of a stale one. A source never fetched is stale since ``created_at``.
    """
    since = stale_at(last_checked_at, ttl_seconds)
    if since is not None and now < since:
        return Staleness(stale=False, reason=None, stale_for_seconds=0)
    begin = since or created_at or now
    reason: StaleReason = "never_fetched" if since is None else "ttl_expired"
    if _failed(last_status):
        reason = "last_refresh_failed"
    return Staleness(stale=True, reason=reason, stale_for_seconds=max(0, (now - begin) // timedelta(seconds=1)))


def _failed(last_status: str | None) -> bool:
    """A word that is no outcome (a row of another release) counts as a failure."""
    if last_status is None:
        return False
    return last_status not in frozenset(Outcome) or Outcome(last_status).is_failure


class Validators(NamedTuple):
    """The ``ETag`` and ``Last-Modified`` of an answer, byte for byte as the server sent them; None for none."""

    etag: str | None = None
    last_modified: str | None = None


def usable_validators(
    etag: str | None,
    last_modified: str | None,
    *,
    now: datetime,
    last_unconditional_at: datetime | None,
    has_current: bool,
    pipeline_changed: bool = False,
    uri_changed: bool = False,
) -> Validators:
    """Return what goes into ``If-None-Match`` and ``If-Modified-Since``; both None asks for the whole page.

    None are sent without a current version to keep, after an edit of the uri, after a change of the pipeline
    (extractor, chunker, secret rules) and once in seven days. A clock that went backwards counts as "long ago".
    """
    since_unconditional = None if last_unconditional_at is None else now - last_unconditional_at
    recent = since_unconditional is not None and timedelta(0) <= since_unconditional < UNCONDITIONAL_EVERY
    if not has_current or pipeline_changed or uri_changed or not recent:
        return Validators()
    return Validators(_sendable(etag), _not_future(last_modified, now))


def updated_validators(stored: Validators, received: Validators, *, not_modified: bool, now: datetime) -> Validators:
    """Return what to store after a check that succeeded.

    A 200 describes its own body, so its validators replace the stored ones, also by none. A 304 describes the stored
    body: each validator that it carries is updated on its own, the other stays (RFC 9110, 15.4.5). Empty and future
    ones count as none.
    """
    fresh = Validators(_sendable(received.etag), _not_future(received.last_modified, now))
    if not not_modified:
        return fresh
    return Validators(fresh.etag or stored.etag, fresh.last_modified or stored.last_modified)


def _sendable(value: str | None) -> str | None:
    """Return the value unless it is blank or could not stand in a header line (control characters, beyond one byte)."""
    if value is None or not value.strip() or re.search(r"[^\t\x20-\x7e\x80-\xff]", value):
        return None
    return value


def _not_future(last_modified: str | None, now: datetime) -> str | None:
    value = _sendable(last_modified)
    instant = None if value is None else parse_http_date(value, now=now)
    return None if instant is not None and instant > now else value
