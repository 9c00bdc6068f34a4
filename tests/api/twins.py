"""Texts that say nearly the same, as refreshes and depositors would have left them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from chalicelib.domain.chunking import content_hash
from tests.api.tables import superuser
from tests.integration import rows
from tests.security import marked
from tests.tenants import Tenant

NOW = datetime.now(UTC)
WORDS = (
    "The office in Delft opens at nine and closes at five on weekdays; on the first Saturday of a month it opens "
    "at ten, and whoever comes by bicycle finds a stand behind the gate, next to the old lime tree by the canal"
)


def text(ending: str) -> str:
    """One that differs from the others by its last word: a cosine of about 0.98 by the words."""
    return f"{WORDS}, says {ending}.\n"


def page(tenant: Tenant, name: str, texts: Sequence[str], *, days_ago: float = 9) -> UUID:
    """A source that says these texts."""
    source = UUID(tenant.add(f"https://{name}.example/", name=name)["id"])
    begin = NOW - timedelta(days=days_ago)
    marked.write_version(tenant, source, 1, begin, None)
    for index, body in enumerate(texts):
        write(tenant, source, index, body, begin)
    return source


def write(tenant: Tenant, source: UUID, index: int, body: str, begin: datetime) -> UUID:
    chunk = marked.write_chunk(tenant, source, index, body, begin, None)
    with superuser(tenant.deployment) as connection:
        connection.execute("update kb_chunks set embedding_model = 'words' where chunk_id = %s", (chunk,))
    return chunk


def close(tenant: Tenant, source: UUID, body: str, at: datetime) -> None:
    """The page says this no longer."""
    with superuser(tenant.deployment) as connection:
        done = connection.execute(
            "update kb_chunks set system_time = tstzrange(lower(system_time), %s) where source_id = %s"
            " and content_hash = %s and upper_inf(system_time)",
            (at, source, content_hash(body)),
        )
        assert done.rowcount == 1


def scan(tenant: Tenant) -> int:
    """All pages; how many proposals they brought."""
    after, proposed = None, 0
    while True:
        answer = tenant.post("/v1/memory/consolidation", {"after": after} if after else None)
        assert answer.status == 200, answer.json
        proposed += answer.json["proposed"]
        after = answer.json["next_after"]
        if after is None:
            return proposed


def proposals(tenant: Tenant, state: str = "open") -> list[dict[str, Any]]:
    answer = tenant.get(f"/v1/memory/consolidation?state={state}&limit=200")
    assert answer.status == 200, answer.json
    return list(answer.json["items"])


def found(tenant: Tenant, mode: str = "hybrid", **more: Any) -> set[str]:
    """The last words of what a search finds."""
    answer = tenant.post("/v1/kb/search", {"query": WORDS[:100], "limit": 50, "mode": mode, **more})
    assert answer.status == 200, answer.json
    return {hit["text"].strip().rstrip(".").rpartition(" ")[2] for hit in answer.json["hits"]}


def decide(tenant: Tenant, proposal: dict[str, Any], word: str) -> Any:
    return tenant.post(f"/v1/memory/consolidation/{proposal['id']}/{word}")


def state_of(tenant: Tenant, proposal: dict[str, Any]) -> str:
    [row] = rows.sql(tenant.deployment, "select state from consolidation_proposals where id = %s", proposal["id"])
    return str(row["state"])
