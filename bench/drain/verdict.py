"""What must be true when all is drained: an event has one outcome, a version one event, a text is the page's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.drain.site import Site
from tests.integration import rows
from tests.tenants import Deployment

_OPEN = "select id, state from kb_events where state in ('pending', 'dispatched', 'running')"
_WITHOUT_OUTCOME = "select id, state from kb_events where outcome is null or finished_at is null"
_EVENTS_A_SOURCE = """
select s.uri, count(e.id) as events from kb_sources s left join kb_events e on e.source_id = s.id
 group by s.uri having count(e.id) <> %s
"""
_VERSION_WITHOUT_EVENT = """
select v.source_id, v.version from kb_versions v left join kb_events e on e.id = v.event_id
 where e.state is distinct from 'done' or e.outcome is distinct from 'new_version'
"""
_EVENT_WITHOUT_VERSION = """
select e.id from kb_events e left join kb_versions v on v.event_id = e.id
 where e.outcome = 'new_version' and v.event_id is null
"""
_GAPS = """
select source_id, version from (
  select source_id, version, lower(system_time) as starts,
         lag(version, 1, 0) over w as before, lag(upper(system_time)) over w as ended
    from kb_versions window w as (partition by source_id order by version)) v
 where version <> before + 1 or (ended is not null and ended <> starts)
"""
_NOT_ONE_CURRENT = """
select source_id from kb_versions group by source_id having count(*) filter (where upper_inf(system_time)) <> 1
"""
_CHUNKS_OUTSIDE = """
select c.source_id, c.chunk_index from kb_chunks c
 where not exists (select from kb_versions v where v.source_id = c.source_id and v.system_time && c.system_time)
"""
_TEXTS = """
select s.uri, e.outcome, c.text from kb_sources s
  join lateral (select outcome from kb_events e where e.source_id = s.id order by created_at desc limit 1) e on true
  left join lateral (select string_agg(substr(k.text, k.overlap + 1), '' order by k.chunk_index) as text
                       from kb_chunks k where k.source_id = s.id and upper_inf(k.system_time)) c on true
"""


def faults(deployment: Deployment, site: Site, rounds: int) -> Iterator[str]:
    """Everything that is not as it must be, a line each."""
    for what, found in (
        ("events are still open", rows.sql(deployment, _OPEN)),
        ("events ended without an outcome", rows.sql(deployment, _WITHOUT_OUTCOME)),
        (f"sources have not {rounds} events", rows.sql(deployment, _EVENTS_A_SOURCE, rounds)),
        ("versions have no event that wrote them", rows.sql(deployment, _VERSION_WITHOUT_EVENT)),
        ("events wrote no version that they claim", rows.sql(deployment, _EVENT_WITHOUT_VERSION)),
        ("versions overlap or leave a gap", rows.sql(deployment, _GAPS)),
        ("sources have no current version or two", rows.sql(deployment, _NOT_ONE_CURRENT)),
        ("chunks belong to no version", rows.sql(deployment, _CHUNKS_OUTSIDE)),
        ("texts are not the page's", _wrong_texts(deployment, site)),
    ):
        if found:
            yield f"{len(found)} {what}: {found[:3]}"


def _wrong_texts(deployment: Deployment, site: Site) -> list[dict[str, Any]]:
    current = rows.sql(deployment, _TEXTS)
    return [
        row
        for row in current
        if row["outcome"] in ("new_version", "unchanged") and row["text"] != site.text(row["uri"])
    ]
