"""What the doctor looks at below the tenants: database, schema, vectors, model, keys, queue, schedule, clock, guard."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from chalicelib.services.doctor_finding import Finding, Look
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage import migrate

LEAST_VECTOR = (0, 8)
TICK_LATE = timedelta(minutes=3)
SKEW_WARNS, SKEW_FAILS = timedelta(seconds=2), timedelta(seconds=30)


def _database(outside: Outside, who: Principal, now: datetime) -> Finding:
    with outside.database.transaction() as tx:
        version = tx.value("doctor.version")
    return Finding("ok", f"Postgres {version} answers.", {"version": version})


def _migrations(outside: Outside, who: Principal, now: datetime) -> Finding:
    pending = migrate.pending(outside.settings.database_url, outside.settings.database_tls)
    if pending:
        return Finding(
            "failing", f"{len(pending)} migrations are not applied: larder ops migrate.", {"pending": pending}
        )
    return Finding("ok", f"All {len(migrate.files())} migrations are applied.", {"pending": []})


def _vectors(outside: Outside, who: Principal, now: datetime) -> Finding:
    with outside.database.transaction() as tx:
        row = tx.row("doctor.vector")
    if row is None:
        return Finding("failing", "The extension pgvector is missing.")
    if tuple(int(part) for part in row["version"].split(".")[:2]) < LEAST_VECTOR:
        return Finding("failing", f"pgvector is {row['version']}; 0.8 is the least that works.", row)
    if not row["index_valid"]:
        return Finding("failing", "The index over the vectors is missing or invalid: REINDEX it.", row)
    return Finding("ok", f"pgvector {row['version']}, and its index is valid.", row)


def _model(outside: Outside, who: Principal, now: datetime) -> Finding:
    with outside.database.transaction() as tx:
        row = tx.row("doctor.vector")
    stored = row["dimension"] if row else None
    [vector] = outside.embedder.embed(["The doctor looks whether the model answers."])
    facts = {"model": outside.embedder.model_id, "dimension": len(vector), "stored_dimension": stored}
    if len(vector) != stored:
        return Finding("failing", f"The model makes {len(vector)} numbers, the database keeps {stored}.", facts)
    return Finding("ok", f"{outside.embedder.model_id} answers with {stored} numbers.", facts)


def _keys(outside: Outside, who: Principal, now: datetime) -> Finding:
    key = outside.keys.newest.id
    return Finding("ok", f"The keys can be read; {key} signs.", {"key_id": key})


def _scheduler(outside: Outside) -> dict[str, Any]:
    with outside.database.transaction() as tx:
        return tx.row("scheduler.state") or dict.fromkeys(
            ("last_tick_at", "queue_depth", "dead_letters", "measured_at")
        )


def _schedule(outside: Outside, who: Principal, now: datetime) -> Finding:
    return schedule_of(_scheduler(outside), now)


def schedule_of(state: Mapping[str, Any], now: datetime) -> Finding:
    """How the schedule does, by what its ticks wrote down."""
    last = state["last_tick_at"]
    if last is None:
        return Finding("warning", "The schedule has not ticked yet.", {"last_tick_at": None})
    facts = {"last_tick_at": last.isoformat()}
    if now - last > TICK_LATE:
        return Finding("failing", f"The last tick was {_minutes(now - last)} ago: nothing is dispatched.", facts)
    return Finding("ok", "The schedule ticks.", facts)


def _queue(outside: Outside, who: Principal, now: datetime) -> Finding:
    return queue_of(_scheduler(outside))


def queue_of(state: Mapping[str, Any]) -> Finding:
    """Whether the last tick reached the queue. The API has no business with it, and no right to it."""
    facts = {"depth": state["queue_depth"]}
    if state["measured_at"] is None:
        return Finding("warning", "No tick has looked at the queue yet.", facts)
    if state["queue_depth"] is None:
        return Finding("failing", "The last tick could not reach the queue.", facts)
    return Finding("ok", f"Messages in the queue at the last tick: {state['queue_depth']}.", facts)


def _dead_letters(outside: Outside, who: Principal, now: datetime) -> Finding:
    dead = _scheduler(outside)["dead_letters"]
    if dead is None:
        return Finding("warning", "How many dead letters there are is not known.", {"depth": None})
    if dead:
        return Finding("warning", f"Messages that failed for good and are dead letters: {dead}.", {"depth": dead})
    return Finding("ok", "There are no dead letters.", {"depth": 0})


def _clock(outside: Outside, who: Principal, now: datetime) -> Finding:
    with outside.database.transaction() as tx:
        skew = abs(tx.value("doctor.clock") - now)
    facts = {"skew_seconds": round(skew.total_seconds(), 3)}
    sentence = f"Our clock and the database's are {skew.total_seconds():.1f} s apart."
    return Finding("failing" if skew > SKEW_FAILS else "warning" if skew > SKEW_WARNS else "ok", sentence, facts)


def _guard(outside: Outside, who: Principal, now: datetime) -> Finding:
    domains, private = outside.settings.allowed_domains, outside.settings.allow_private_networks
    facts = {"allowlist": list(domains), "private_networks": private}
    if private:
        return Finding("warning", "Private networks are open to the fetch: for development alone.", facts)
    if not domains:
        return Finding("warning", "KB_ALLOWLIST_DOMAINS is empty: every public domain may be fetched.", facts)
    return Finding("ok", f"{len(domains)} domains may be fetched.", facts)


def _minutes(span: timedelta) -> str:
    return f"{span // timedelta(minutes=1)} min"


CHECKS: tuple[tuple[str, Look], ...] = (
    ("database", _database),
    ("clock", _clock),  # early, since the request's time is what it is compared with
    ("migrations", _migrations),
    ("pgvector", _vectors),
    ("embedding_model", _model),
    ("keys", _keys),
    ("schedule", _schedule),
    ("queue", _queue),
    ("dead_letters", _dead_letters),
    ("guard", _guard),
)
