"""A tenant whose every chunk has a policy of another kind and a word that stands nowhere else."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from pgvector import Vector
from psycopg.types.range import TimestamptzRange

from chalicelib.domain.chunking import content_hash
from tests.any_row import make_row
from tests.api.tables import superuser
from tests.tenants import Tenant

WORD = "procedure"  # in every text, so that one search finds them all
OPEN = "zqopen"
FOREIGN = "zqforeign"

POLICIES: dict[str, dict[str, Any]] = {
    "zqrestricted": {"sensitivity": "restricted"},
    "zqunknowntier": {"sensitivity": "cosmic"},
    "zqcredentials": {"content_class": "credentials"},
    "zqrefuted": {"validation_status": "refuted"},
    "zqrefutedandexpired": {"validation_status": "refuted", "expires_at": datetime(2026, 1, 1, tzinfo=UTC)},
    "zqexpired": {"expires_at": datetime(2026, 1, 1, tzinfo=UTC)},
    "zqnobody": {"permitted_roles": []},
    "zqeditors": {"permitted_roles": ["editor"]},
    "zqpurposeless": {"allowed_purposes": []},
    "zqtraining": {"allowed_purposes": ["training_data"]},
    "zqleft": {"sensitivity": "restricted"},
}
"""What is said of each chunk. ``zqleft`` is in the first version alone; ``zqsource`` is guarded by its source."""

GUARDED = (*POLICIES, "zqsource")
FOR_OPERATORS = ("zqrestricted", "zqunknowntier", "zqcredentials", "zqleft", "zqsource")
IN_NO_MODE = ("zqrefuted", "zqrefutedandexpired", FOREIGN)
BESIDE = ("zqtheirs[a-z]+", "zqheld", "zqquarantined", "zqtitle", "zqdescription", "zqquery", "zqwritten")
MARKS = "|".join((*BESIDE, OPEN, FOREIGN, *sorted(GUARDED, key=len, reverse=True)))
"""Whole words, longer ones first: a fresh token can hold two letters by chance, and hardly six."""


def words_in(text: str) -> set[str]:
    """The marked words in what somebody got to see."""
    return set(re.findall(MARKS, text))


@dataclass
class Marked:
    """Ids of what was made: sources, and chunks by their word."""

    tenant: Tenant
    page: UUID
    secret: UUID
    first_version_at: datetime
    chunks: dict[str, UUID] = field(default_factory=dict)


def mark(tenant: Tenant) -> Marked:
    """A page of two versions with one chunk a policy, and a source that is restricted as a whole."""
    now = datetime.now(UTC)
    begin, change = now - timedelta(days=20), now - timedelta(days=10)
    page, secret = (UUID(tenant.add(f"https://{name}.example/")["id"]) for name in ("page", "secret"))
    made = Marked(tenant, page, secret, begin + timedelta(days=1))
    write_version(tenant, page, 1, begin, change)
    write_version(tenant, page, 2, change, None)
    made.chunks["then"] = write_chunk(tenant, page, 0, sentence(OPEN, "as it was"), begin, change)
    made.chunks[OPEN] = write_chunk(tenant, page, 0, sentence(OPEN, "as it is"), change, None)
    for index, (word, policy) in enumerate(POLICIES.items(), start=1):
        end = change if word == "zqleft" else None
        # Each repeats the end of the one before, as a cut text does.
        before = sentence(list(POLICIES)[index - 2])[-60:] if index > 1 else ""
        made.chunks[word] = write_chunk(tenant, page, index, sentence(word), begin, end, overlapping=before)
        set_policy(tenant, page, sentence(word), **policy)
    # An open chunk that repeats the end of one that is guarded.
    after = sentence("zqrestricted")[-60:]
    write_chunk(tenant, page, len(POLICIES) + 1, sentence(OPEN, "at last"), begin, None, overlapping=after)
    write_version(tenant, secret, 1, begin, None)
    made.chunks["zqsource"] = write_chunk(tenant, secret, 0, sentence("zqsource"), begin, None)
    with superuser(tenant.deployment) as connection:
        connection.execute("update kb_sources set sensitivity = 'restricted' where id = %s", (secret,))
    return made


def sentence(word: str, more: str = "as ever") -> str:
    return f"The {WORD} of {word} is {more}; whoever has read of {word} knows the {WORD} and its end: {word}.\n"


def write_version(tenant: Tenant, source: UUID, number: int, begin: datetime, end: datetime | None) -> None:
    with superuser(tenant.deployment) as connection:
        make_row(
            connection,
            "kb_versions",
            tenant_id=tenant.id,
            source_id=source,
            system_time=TimestamptzRange(begin, end),
            version=number,
            fetched_at=begin,
        )
        connection.execute(
            "update kb_sources set current_version = %s, last_checked_at = %s where id = %s", (number, begin, source)
        )


def write_chunk(
    tenant: Tenant, source: UUID, index: int, body: str, begin: datetime, end: datetime | None, overlapping: str = ""
) -> UUID:
    chunk, text = uuid4(), overlapping + body
    with superuser(tenant.deployment) as connection:
        make_row(
            connection,
            "kb_chunks",
            tenant_id=tenant.id,
            source_id=source,
            system_time=TimestamptzRange(begin, end),
            chunk_id=chunk,
            chunk_index=index,
            overlap=len(overlapping),
            text=text,
            content_hash=content_hash(body),
            embedding=Vector(tenant.deployment.embedder.embed([text])[0]).to_text(),
        )
    return chunk


def set_policy(tenant: Tenant, source: UUID, body: str, **policy: Any) -> None:
    """What is said of a text of this source, as it would be stored; nothing of it is checked."""
    with superuser(tenant.deployment) as connection:
        digest = content_hash(body)
        connection.execute("delete from chunk_policies where source_id = %s and content_hash = %s", (source, digest))
        make_row(connection, "chunk_policies", tenant_id=tenant.id, source_id=source, content_hash=digest, **policy)
