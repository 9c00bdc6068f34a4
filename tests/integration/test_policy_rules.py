"""Postgres and the domain agree on whether two texts are under the same rules (spec 2.6)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import psycopg
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain import policy
from chalicelib.services.enforcement import policy_of
from tests.postgres import TestServer

NAMES = st.none() | st.lists(st.sampled_from(["a", "b", "c"]), max_size=3)
ENDS = st.none() | st.sampled_from([datetime(2031, 1, 1, tzinfo=UTC), datetime(2031, 1, 1, 0, 0, 0, 1, tzinfo=UTC)])
TIERS = st.sampled_from(["", "public", "internal", "confidential", "restricted", "secret"])
SOURCE = {"sensitivity": TIERS, "expires_at": ENDS, "permitted_roles": NAMES, "allowed_purposes": NAMES}
OWN = {
    "chunk_sensitivity": TIERS,
    "chunk_expires_at": ENDS,
    "chunk_permitted_roles": NAMES,
    "chunk_allowed_purposes": NAMES,
    "content_class": st.sampled_from(["", "credentials", "code"]),
    "validation_status": st.sampled_from(["", "confirmed", "unverified", "refuted"]),
}
ORIGIN = {"tenant_id": "t", "provenance": "x", "producer": "", "source_uri": "", "trust": 50}
with_own = st.fixed_dictionaries({**SOURCE, **OWN, "chunk_has_policy": st.just(True)})
without = st.fixed_dictionaries({**SOURCE, **dict.fromkeys(OWN, st.none()), "chunk_has_policy": st.just(False)})
said = with_own | without


def test_rules_are_the_same_in_sql_exactly_where_the_domain_says_so(server: TestServer, database: str) -> None:
    with psycopg.connect(server.url(database, "postgres")) as connection:

        def rules(row: dict[str, Any]) -> Any:
            casts = "%s, %s::timestamptz, %s::text[], %s::text[]"
            values = [row[name] for name in (*SOURCE, *OWN)]
            found = connection.execute(f"select policy_rules_v1({casts}, {casts}, %s, %s)".encode(), values).fetchone()
            assert found is not None
            return found[0]

        @given(said, said)
        @settings(max_examples=400, deadline=None)
        def agree(one: dict[str, Any], other: dict[str, Any]) -> None:
            digests = [policy.rules_digest(policy_of({**ORIGIN, **row})) for row in (one, other)]
            assert (rules(one) == rules(other)) == (digests[0] == digests[1])

        agree()
