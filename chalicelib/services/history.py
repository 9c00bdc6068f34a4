"""What a source said, and when: versions, the text as of an instant, the difference between two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from chalicelib.domain.diff import Diff, diff
from chalicelib.domain.policy import Policy
from chalicelib.errors import NotFound
from chalicelib.services import enforcement
from chalicelib.services.enforcement import Reading
from chalicelib.services.outside import Outside
from chalicelib.services.sources import require
from chalicelib.services.tokens import Principal
from chalicelib.storage import versions
from chalicelib.storage.connection import Transaction
from chalicelib.storage.versions import Version


@dataclass(frozen=True, slots=True)
class Readable:
    """A text in which ``withheld`` chunks are a placeholder; warnings are of advisory mode."""

    text: str
    withheld: int
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class TextAt(Readable):
    """A version's text, as far as it may be read."""

    version: Version


@dataclass(frozen=True, slots=True)
class Part:
    """A chunk of a version, as the firewall judges it."""

    chunk_id: UUID
    source_id: UUID
    version: int | None
    policy: Policy
    index: int
    text: str


def list_page(
    outside: Outside,
    who: Principal,
    reading: Reading,
    source_id: UUID,
    *,
    before: int | None,
    limit: int,
    now: datetime,
) -> list[Version]:
    """One page of versions, newest first. Raises NotFound."""
    with outside.database.transaction(who.tenant_id) as tx:
        require(tx, source_id)
        described = enforcement.may_describe(tx, reading, source_id, now)
        return [_described(one, described) for one in versions.page(tx, source_id, before=before, limit=limit)]


def text_at(
    outside: Outside, who: Principal, reading: Reading, source_id: UUID, instant: datetime, now: datetime
) -> TextAt:
    """What the source said at ``instant``. Raises NotFound, also ``no_version`` before the first."""
    with outside.database.transaction(who.tenant_id) as tx:
        require(tx, source_id)
        version = versions.at(tx, source_id, instant)
        if version is None:
            raise NotFound("the source had no version then", code="no_version")
        return text_of(outside, tx, reading, version, now)


def compare(
    outside: Outside,
    who: Principal,
    reading: Reading,
    source_id: UUID,
    older: int | None,
    newer: int | None,
    now: datetime,
) -> tuple[TextAt, TextAt, Diff]:
    """Two versions and what lies between; by default the current one and the one before.

    Raises NotFound, also ``no_version`` where there are not two.
    """
    with outside.database.transaction(who.tenant_id) as tx:
        require(tx, source_id)
        last = newer or _latest(tx, source_id)
        if older is None and last == 1:
            told = "there is none before the first version" if newer else "the source has only one version yet"
            raise NotFound(told, code="no_version")
        numbered = [_numbered(tx, source_id, number) for number in (older or last - 1, last)]
        texts = [text_of(outside, tx, reading, version, now) for version in numbered]
    return texts[0], texts[1], diff(texts[0].text, texts[1].text)


def _latest(tx: Transaction, source_id: UUID) -> int:
    page = versions.page(tx, source_id, before=None, limit=1)
    if not page:
        raise NotFound("the source has no version yet", code="no_version")
    return page[0].version


def _numbered(tx: Transaction, source_id: UUID, number: int) -> Version:
    version = versions.get(tx, source_id, number)
    if version is None:
        raise NotFound(f"the source has no version {number}", code="no_version")
    return version


def text_of(outside: Outside, tx: Transaction, reading: Reading, version: Version, now: datetime) -> TextAt:
    """The version's text, as far as it may be read."""
    parts = [
        Part(
            row["chunk_id"],
            row["source_id"],
            row["version"],
            enforcement.policy_of(row),
            row["chunk_index"],
            row["text"],
        )
        for row in versions.chunks_at(tx, version)
    ]
    found = join(outside, tx, reading, parts, now)
    version = _described(version, enforcement.may_describe(tx, reading, version.source_id, now))
    return TextAt(found.text, found.withheld, found.warnings, version)


def join(outside: Outside, tx: Transaction, reading: Reading, parts: Sequence[Part], now: datetime) -> Readable:
    """The text of the parts in their order, each judged; the decisions are written down."""
    served = {one.row.index: one for one in enforcement.admit(outside, tx, reading, parts, wanted=None, now=now)}
    text = "".join(part.text if part.index in served else _placeholder(part.text) for part in parts)
    warnings = sorted({one.warning for one in served.values() if one.warning})
    return Readable(text, len(parts) - len(served), warnings)


def _placeholder(text: str) -> str:
    """The line breaks around a withheld chunk stay, so that a diff is still by lines."""
    return enforcement.WITHHELD + ("\n" if text.endswith("\n") else "")


def _described(version: Version, described: bool) -> Version:
    return version if described else replace(version, title=None, description=None)
