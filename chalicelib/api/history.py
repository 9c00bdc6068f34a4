"""What a source said, and when: ``…/versions``, ``…/text``, ``…/diff``."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from chalicelib.api import fields
from chalicelib.api.reading import reading_of
from chalicelib.api.resource import Answer, Call, Nothing, Output, Query, Resource
from chalicelib.services import history as service
from chalicelib.storage.versions import Version

history = Resource("history")


class VersionQuery(Query):
    """Which page: versions below ``cursor``, newest first."""

    limit: fields.PageLimit = 50
    cursor: fields.VersionNumber | None = None


class TextQuery(Query):
    """As of when; left out, now."""

    at: fields.Instant | None = None
    role: fields.Name | None = None
    purpose: fields.Purpose | None = None


class DiffQuery(Query):
    """Two version numbers; left out, the last and the one before."""

    from_: Annotated[fields.VersionNumber | None, Field(alias="from")] = None
    to: fields.VersionNumber | None = None
    role: fields.Name | None = None
    purpose: fields.Purpose | None = None


class VersionOut(Output):
    """A version: current from ``valid_from`` until, exclusively, ``valid_to``."""

    source_id: UUID
    version: int
    valid_from: datetime
    valid_to: datetime | None
    content_hash: str
    title: str | None
    language: str | None
    description: str | None
    canonical_url: str | None
    final_url: str
    character_count: int
    chunk_count: int
    invisible_removed: int
    secrets_redacted: int
    fetched_at: datetime


class VersionPage(Output):
    """A page of versions, newest first."""

    items: list[VersionOut]
    next_cursor: int | None


class TextOut(Output):
    """The text of a version; ``withheld`` chunks of it are a placeholder, warnings are the firewall's."""

    at: datetime
    version: VersionOut
    text: str
    withheld: int
    policy_warnings: list[str]


class ChangeOut(Output):
    """Lines in a row that are equal, gone or new."""

    op: Literal["equal", "delete", "insert"]
    lines: list[str]


class HunkOut(Output):
    """Changes that stand close together."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    changes: list[ChangeOut]


class DiffOut(Output):
    """What lies between two versions, as hunks and as unified text; ``coarse``: a part was replaced whole.

    ``withheld`` chunks of the two are placeholders, which are compared as such; warnings are the firewall's.
    """

    from_version: VersionOut
    to_version: VersionOut
    withheld: int
    policy_warnings: list[str]
    inserted: int
    deleted: int
    coarse: bool
    hunks: list[HunkOut]
    unified: str


def shown(version: Version) -> VersionOut:
    """The version as callers see it."""
    columns = {name: getattr(version, name) for name in VersionOut.model_fields if hasattr(version, name)}
    begin = version.system_time.lower
    assert begin is not None, "every version begins somewhere"
    return VersionOut(**columns, valid_from=begin, valid_to=version.system_time.upper)


@history.route(
    "GET",
    "/v1/kb/sources/{source_id}/versions",
    action="kb.versions.read",
    access="read",
    query=VersionQuery,
    answers={200: VersionPage},
)
def list_versions(call: Call[Nothing, VersionQuery]) -> Answer:
    """List the versions of a source, newest first."""
    limit = call.query.limit
    reading = reading_of(call, None, None)
    rows = service.list_page(
        call.outside,
        call.who,
        reading,
        call.ids["source_id"],
        before=call.query.cursor,
        limit=limit + 1,
        now=call.now,
    )
    following = rows[limit - 1].version if len(rows) > limit else None
    return Answer(VersionPage(items=[shown(row) for row in rows[:limit]], next_cursor=following))


@history.route(
    "GET",
    "/v1/kb/sources/{source_id}/text",
    action="kb.text.read",
    access="read",
    query=TextQuery,
    answers={200: TextOut},
)
def show_text(call: Call[Nothing, TextQuery]) -> Answer:
    """Show what a source said at an instant."""
    instant = call.query.at or call.now
    reading = reading_of(call, call.query.role, call.query.purpose)
    found = service.text_at(call.outside, call.who, reading, call.ids["source_id"], instant, call.now)
    return Answer(
        TextOut(
            at=instant,
            version=shown(found.version),
            text=found.text,
            withheld=found.withheld,
            policy_warnings=found.warnings,
        )
    )


@history.route(
    "GET",
    "/v1/kb/sources/{source_id}/diff",
    action="kb.text.read",
    access="read",
    query=DiffQuery,
    answers={200: DiffOut},
)
def show_diff(call: Call[Nothing, DiffQuery]) -> Answer:
    """Show what changed between two versions."""
    query = call.query
    reading = reading_of(call, query.role, query.purpose)
    older, newer, found = service.compare(
        call.outside, call.who, reading, call.ids["source_id"], query.from_, query.to, call.now
    )
    names = (f"version {older.version.version}", f"version {newer.version.version}")
    return Answer(
        DiffOut(
            from_version=shown(older.version),
            to_version=shown(newer.version),
            withheld=older.withheld + newer.withheld,
            policy_warnings=[*dict.fromkeys([*older.warnings, *newer.warnings])],
            inserted=found.inserted,
            deleted=found.deleted,
            coarse=found.coarse,
            hunks=[HunkOut.model_validate(hunk) for hunk in found.hunks],
            unified=found.unified(*names),
        )
    )
