"""The firewall over HTTP against a small model of spec 2: random policies, tokens and modes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib import bootstrap
from tests.api import tables
from tests.postgres import TestServer
from tests.security import marked
from tests.tenants import Answer, Deployment, Tenant

BODIES = [marked.sentence(f"zq{name}") for name in ("alpha", "bravo", "charlie", "delta")]
SOON, PAST = (datetime.now(UTC) + timedelta(days=days) for days in (9, -9))


@dataclass(frozen=True)
class Said:
    """What is said of a source or a chunk."""

    sensitivity: str
    expires_at: datetime | None = None
    permitted_roles: list[str] | None = None
    allowed_purposes: list[str] | None = None
    content_class: str = ""
    validation_status: str = ""


@dataclass(frozen=True)
class World:
    """One way that things may stand, and one request."""

    source: Said
    chunks: list[Said | None]
    roles: list[str]
    purposes: list[str] | None
    operator: bool
    tenant_mode: str | None
    mode: str
    floor: str
    role: str | None
    purpose: str | None


# ---- The model: what the spec says, in few words --------------------------------------------------------------------


def allowed_request(world: World) -> bool:
    """Whether the token may ask so (spec 2.1)."""
    role_held = world.role is None or world.role in world.roles
    return role_held and (world.purposes is None or (world.purpose or "operational") in world.purposes)


def mode_of(world: World) -> int:
    """0 off, 1 advisory, 2 enforce (spec 2.2); words that are none count as advisory."""
    rank = {"off": 0, "advisory": 1, "enforce": 2}
    words = [word.strip().lower() for word in (world.tenant_mode or "", world.mode) if word.strip()]
    floor = world.floor.strip().lower()
    return max(rank.get(words[0] if words else "advisory", 1), rank.get(floor, 1) if floor else 0)


def verdict(world: World, said: list[Said]) -> str:
    """The code for a chunk of which ``said`` counts, all of it (spec 2.2)."""
    role = world.role or (world.roles[0] if len(world.roles) == 1 else "")
    purpose = world.purpose or "operational"
    if any(one.expires_at == PAST for one in said):
        return "block_expired"
    if refuted(said):
        return "block_role_not_permitted"
    if any(one.permitted_roles is not None and role not in one.permitted_roles for one in said):
        return "block_role_not_permitted"
    if any(one.allowed_purposes is not None and purpose not in one.allowed_purposes for one in said):
        return "block_purpose_not_allowed"
    open_tiers = ("", "public", "internal", "confidential")
    closed = any(one.sensitivity not in open_tiers or one.content_class == "credentials" for one in said)
    return "block_sensitivity_tier" if closed and not world.operator else "allow"


def refuted(said: list[Said]) -> bool:
    """Then nobody reads it, in any mode."""
    return any(one.validation_status == "refuted" for one in said)


def expected(world: World) -> dict[str, str | None]:
    """What is served, each with the code of its warning or None."""
    served: dict[str, str | None] = {}
    for body, own in zip(BODIES, world.chunks, strict=True):
        said = [world.source, *([own] if own else [])]
        code = verdict(world, said)
        if code == "allow" or (not refuted(said) and mode_of(world) < 2):
            served[body] = code if code != "allow" and mode_of(world) == 1 else None
    return served


# ---- The worlds -----------------------------------------------------------------------------------------------------

# Every value that blocks alone is rare, or what comes later in the order of the checks would never be seen.
ROLES = st.sampled_from([["reader"], ["editor"], ["reader", "editor"], ["Reader"], []])
PURPOSES = st.sampled_from(
    [["operational"], ["operational", "audit_review"], ["training_data", "operational"], ["compliance_export"], []]
)
TIERS = st.sampled_from(["public", "internal", "confidential", "internal", "restricted", "cosmic"])
EXPIRIES = st.sampled_from([None, None, None, SOON, SOON, PAST])
MAYBE_ROLES, MAYBE_PURPOSES = (st.none() | st.none() | some for some in (ROLES, PURPOSES))
SOURCES = st.builds(Said, TIERS, EXPIRIES, MAYBE_ROLES, MAYBE_PURPOSES)
CHUNKS = st.builds(
    Said,
    st.just("") | TIERS,
    EXPIRIES,
    MAYBE_ROLES,
    MAYBE_PURPOSES,
    st.sampled_from(["", "", "", "credentials"]),
    st.sampled_from(["", "", "confirmed", "unverified", "refuted"]),
)
MODES = st.sampled_from(["", "off", "advisory", "enforce", " Enforce ", "strict", "OFF"])
WORLDS = st.builds(
    World,
    SOURCES | st.just(Said("public")),
    st.lists(st.none() | CHUNKS, min_size=len(BODIES), max_size=len(BODIES)),
    ROLES,
    st.none() | PURPOSES,
    st.booleans(),
    st.none() | MODES.filter(bool),
    MODES,
    MODES,
    st.none() | st.sampled_from(["reader", "editor"]),
    st.none() | st.sampled_from(["operational", "training_data", "audit_review"]),
)


@dataclass
class Stage:
    """One tenant with one page of a few chunks, and a stranger with the same."""

    deployment: Deployment
    tenant: Tenant
    source: UUID

    def set(self, world: World) -> None:
        """Let the world be so."""
        for body, own in zip(BODIES, world.chunks, strict=True):
            marked.set_policy(self.tenant, self.source, body, **(vars(own) if own else {"sensitivity": ""}))
        with tables.superuser(self.deployment) as connection:
            if not any(world.chunks):
                connection.execute("delete from chunk_policies")
            connection.execute(
                "update kb_sources set sensitivity = %s, expires_at = %s, permitted_roles = %s, allowed_purposes = %s",
                [
                    value
                    for name, value in vars(world.source).items()
                    if name not in ("content_class", "validation_status")
                ],
            )
            connection.execute("update tenants set firewall_mode = %s", (world.tenant_mode,))
            connection.execute("update api_tokens set roles = %s, purposes = %s", (world.roles, world.purposes))
            connection.execute(
                "update api_tokens set operator_name = %s where class = 'admin'", ("R" if world.operator else None,)
            )
            connection.execute("truncate policy_evaluations, evaluation_segments")
        configured = replace(self.deployment.outside.settings, firewall_mode=world.mode, firewall_floor=world.floor)
        self.deployment.outside = replace(self.deployment.outside, settings=configured)

    def search(self, world: World) -> Answer:
        asked = {"query": marked.WORD, "limit": 50, "role": world.role, "purpose": world.purpose}
        return self.tenant.post("/v1/kb/search", {name: value for name, value in asked.items() if value is not None})

    def text(self, world: World) -> Answer:
        asked = [f"{name}={value}" for name, value in (("role", world.role), ("purpose", world.purpose)) if value]
        return self.tenant.get(f"/v1/kb/sources/{self.source}/text?{'&'.join(asked)}")

    def recorded(self) -> list[tuple[Any, ...]]:
        with tables.superuser(self.deployment) as connection:
            return connection.execute("select decision, kind, mode from policy_evaluations").fetchall()


@pytest.fixture(scope="module")
def stage(server: TestServer) -> Iterator[Stage]:
    deployment = Deployment(server, server.create())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "outside", lambda: deployment.outside)
        ours, stranger = deployment.tenant("ours"), deployment.tenant("stranger")
        sources = [UUID(tenant.add("https://page.example/")["id"]) for tenant in (ours, stranger)]
        begin = datetime.now(UTC) - timedelta(days=1)
        for tenant, source in zip((ours, stranger), sources, strict=True):
            marked.write_version(tenant, source, 1, begin, None)
            for index, body in enumerate(BODIES):
                marked.write_chunk(tenant, source, index, body, begin, None)
        marked.write_chunk(stranger, sources[1], 9, marked.sentence(marked.FOREIGN), begin, None)
        yield Stage(deployment, ours, sources[0])
    deployment.close()
    server.drop(deployment.database_name)


@given(WORLDS)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_leaves_is_what_the_model_lets_out(stage: Stage, world: World) -> None:
    stage.set(world)
    found, text = stage.search(world), stage.text(world)
    if not allowed_request(world):
        assert (found.status, text.status) == (403, 403)
        assert stage.recorded() == []
        return
    assert (found.status, text.status) == (200, 200), (found.json, text.json)
    served = expected(world)
    warned = {hit["text"]: (hit["policy_warning"] or "").partition(":")[0] or None for hit in found.json["hits"]}
    assert warned == served
    assert "".join(body if body in served else "[withheld by policy]\n" for body in BODIES) == text.json["text"]
    assert text.json["withheld"] == len(BODIES) - len(served)
    codes = [verdict(world, [world.source, *([own] if own else [])]) for own in world.chunks]
    mode = ("off", "advisory", "enforce")[mode_of(world)]
    kinds = [(code, "allow" if code == "allow" else "block", mode) for code in codes]
    assert sorted(stage.recorded()) == sorted(kinds * 2)
