"""What a source said, and when: versions, the text as of an instant, the difference between two."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from chalicelib.domain.diff import Diff, diff
from chalicelib.errors import NotFound
from chalicelib.services.outside import Outside
from chalicelib.services.sources import require
from chalicelib.services.tokens import Principal
from chalicelib.storage import versions
from chalicelib.storage.connection import Transaction
from chalicelib.storage.versions import Version


@dataclass(frozen=True, slots=True)
class TextAt:
    """A version and its text."""

    version: Version
    text: str


def list_page(outside: Outside, who: Principal, source_id: UUID, *, before: int | None, limit: int) -> list[Version]:
    """One page of versions, newest first. Raises NotFound."""
    with outside.database.transaction(who.tenant_id) as tx:
        require(tx, source_id)
        return versions.page(tx, source_id, before=before, limit=limit)


def text_at(outside: Outside, who: Principal, source_id: UUID, instant: datetime) -> TextAt:
    """What the source said at ``instant``. Raises NotFound, also ``no_version`` before the first."""
    with outside.database.transaction(who.tenant_id) as tx:
        require(tx, source_id)
        version = versions.at(tx, source_id, instant)
        if version is None:
            raise NotFound("the source had no version then", code="no_version")
        return _text(tx, version)


def compare(
    outside: Outside, who: Principal, source_id: UUID, older: int | None, newer: int | None
) -> tuple[TextAt, TextAt, Diff]:
    """Two versions and what lies between; by default the current one and the one before. Raises NotFound."""
    with outside.database.transaction(who.tenant_id) as tx:
        require(tx, source_id)
        last = newer or _latest(tx, source_id)
        texts = [_numbered(tx, source_id, number) for number in (older or last - 1, last)]
    return texts[0], texts[1], diff(texts[0].text, texts[1].text)


def _latest(tx: Transaction, source_id: UUID) -> int:
    page = versions.page(tx, source_id, before=None, limit=1)
    if not page:
        raise NotFound("the source has no version yet", code="no_version")
    return page[0].version


def _numbered(tx: Transaction, source_id: UUID, number: int) -> TextAt:
    version = versions.get(tx, source_id, number)
    if version is None:
        raise NotFound(f"the source has no version {number}", code="no_version")
    return _text(tx, version)


def _text(tx: Transaction, version: Version) -> TextAt:
    instant = version.system_time.lower
    assert instant is not None, "every version begins somewhere"
    return TextAt(version, versions.text_at(tx, version.source_id, instant))
