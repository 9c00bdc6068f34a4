"""A refresh never loosens (spec 2.1): real edits of a page with guarded texts, through the whole refresh.

What is held here: a chunk that shares 24 characters in a row, blanks folded, with a text of which somebody said who may
read it, lets nobody read it whom that text keeps out. A chunk that stood beside the text when this was said and has
not changed since keeps its own policy.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.domain.evaluation import Request, evaluate
from chalicelib.domain.policy import Policy
from chalicelib.services import enforcement, policies
from chalicelib.storage.sources import Source
from tests.integration import rows
from tests.integration.cycle import Cycle
from tests.postgres import TestServer
from tests.tenants import Deployment, Tenant

RUN = 24
BEGIN = datetime(2026, 11, 30, 12, tzinfo=UTC)
PARAGRAPHS = 9

SAID: tuple[dict[str, Any], ...] = (
    {"sensitivity": "restricted"},
    {"permitted_roles": ["editor"]},
    {"permitted_roles": []},
    {"allowed_purposes": ["audit_review"]},
    {"expires_at": (BEGIN + timedelta(days=300)).isoformat()},
    {"status": "refuted"},
)

REQUESTS = [
    (Request("t", role, purpose, operator), when)
    for role, purpose, operator, when in product(
        ("", "editor"), ("operational", "audit_review"), ("", "Robin"), (BEGIN, BEGIN + timedelta(days=600))
    )
]


def readers(policy: Policy) -> set[int]:
    """Which of the requests are allowed: what a policy is for, whatever its fields say."""
    return {
        number
        for number, (request, when) in enumerate(REQUESTS)
        if evaluate(policy, Request(policy.tenant_id, request.role, request.purpose, request.operator), when).allowed
    }


def runs(text: str) -> set[str]:
    folded = "".join(character if character.isalnum() else " " for character in text.lower())
    folded = " ".join(folded.split())
    return {folded[at : at + RUN] for at in range(len(folded) - RUN + 1)}


# ---- Edits ----------------------------------------------------------------------------------------------------------

Page = list[str]
Edit = Callable[[Page, int, random.Random], Page]


def paragraph(rng: random.Random, words: int = 70) -> str:
    letters = "abcdefghijklmnoprstuvw"
    made = ["".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(words)]
    sentences = [" ".join(made[at : at + 12]).capitalize() + "." for at in range(0, words, 12)]
    return " ".join(sentences)


def edit_word(page: Page, at: int, rng: random.Random) -> Page:
    words = page[at].split(" ")
    words[rng.randrange(len(words))] = "changed"
    return [*page[:at], " ".join(words), *page[at + 1 :]]


def move(page: Page, at: int, rng: random.Random) -> Page:
    rest = page[:at] + page[at + 1 :]
    to = rng.randrange(len(rest) + 1)
    return [*rest[:to], page[at], *rest[to:]]


def split(page: Page, at: int, rng: random.Random) -> Page:
    sentences = page[at].split(". ")
    middle = max(1, len(sentences) // 2)
    halves = ". ".join(sentences[:middle]) + ".", ". ".join(sentences[middle:])
    return [*page[:at], halves[0], paragraph(rng), halves[1], *page[at + 1 :]]


def merge(page: Page, at: int, rng: random.Random) -> Page:
    if at + 1 == len(page):
        return page
    return [*page[:at], f"{page[at]} {page[at + 1]}", *page[at + 2 :]]


def delete(page: Page, at: int, rng: random.Random) -> Page:
    return page[:at] + page[at + 1 :] if len(page) > PARAGRAPHS - 3 else page


def duplicate(page: Page, at: int, rng: random.Random) -> Page:
    to = rng.randrange(len(page) + 1)
    return [*page[:to], page[at], *page[to:]]


def quote(page: Page, at: int, rng: random.Random) -> Page:
    """A sentence of it in another paragraph's middle."""
    sentence, to = rng.choice(page[at].split(". ")), rng.randrange(len(page))
    half = page[to].split(". ")
    return [*page[:to], ". ".join([*half[:1], sentence, *half[1:]]), *page[to + 1 :]]


def move_and_edit(page: Page, at: int, rng: random.Random) -> Page:
    moved = edit_word(page, at, rng)
    return move(moved, at, rng)


def insert_above(page: Page, at: int, rng: random.Random) -> Page:
    return [paragraph(rng, rng.randint(8, 120)), *page]


EDITS: tuple[Edit, ...] = (edit_word, move, split, merge, delete, duplicate, quote, move_and_edit, insert_above)


# ---- The stage ------------------------------------------------------------------------------------------------------


@dataclass
class Guarded:
    """A text of which something was said.

    ``beside``: chunks that stood beside it then and still do. ``later``: texts of which something was said since. The
    policy of both is their own.
    """

    text: str
    readers: set[int]
    beside: set[str]
    later: set[str] = field(default_factory=set)


@dataclass
class Stage:
    """A page of one source, its editions, and what was said of its texts."""

    cycle: Cycle
    tenant: Tenant
    source: Source
    rng: random.Random
    page: Page
    editions: list[Page] = field(default_factory=list)
    guarded: list[Guarded] = field(default_factory=list)

    def publish(self) -> None:
        """The site shows the page as it is now; it is fetched."""
        self.editions.append(self.page)
        self.cycle.later(hours=1)
        self.cycle.web.page(self.source.uri, "\n".join(self.page))
        result = self.cycle.refresh(self.tenant, self.source)
        assert result in ("new_version", "unchanged"), result

    def chunks(self) -> list[dict[str, Any]]:
        """The current chunks with the policy that counts."""
        found = rows.sql(self.cycle.deployment, CURRENT, self.source.id)
        return [{**row, "readers": readers(enforcement.policy_of(row))} for row in found]

    def say(self, chunk_id: UUID, said: dict[str, Any]) -> None:
        """An admin says something of a chunk that is there."""
        who, outside = rows.principal(self.tenant), self.cycle.deployment.outside
        self.cycle.later(minutes=1)
        if "status" in said:
            policies.validate(outside, who, chunk_id, said["status"], "", None, self.cycle.now)
        else:
            policies.set_on_chunk(outside, who, chunk_id, said, None, self.cycle.now)
        now = self.chunks()
        [chunk] = [one for one in now if one["chunk_id"] == chunk_id]
        self.guarded = [one for one in self.guarded if one.text != chunk["text"]]
        for one in self.guarded:
            one.later.add(chunk["content_hash"])
        self.guarded.append(Guarded(chunk["text"], chunk["readers"], {one["content_hash"] for one in now}))

    def check(self) -> None:
        """Nothing that descends from a guarded text is read by somebody whom it keeps out."""
        now = self.chunks()
        for one in self.guarded:
            one.beside &= {chunk["content_hash"] for chunk in now}
            theirs = runs(one.text)
            for chunk in now:
                if chunk["text"] == one.text:
                    assert chunk["readers"] <= one.readers, "the text itself"
                elif chunk["content_hash"] not in one.beside | one.later and runs(chunk["text"]) & theirs:
                    assert chunk["readers"] <= one.readers, chunk["text"]


CURRENT = """
select c.chunk_id, c.content_hash, substr(c.text, c.overlap + 1) as text, s.uri as source_uri, s.tenant_id,
       s.sensitivity, s.expires_at, s.permitted_roles, s.allowed_purposes, s.provenance, s.producer, s.trust,
       p.source_id is not null as chunk_has_policy, p.sensitivity as chunk_sensitivity,
       p.expires_at as chunk_expires_at, p.permitted_roles as chunk_permitted_roles,
       p.allowed_purposes as chunk_allowed_purposes, p.content_class, p.validation_status
  from kb_chunks c join kb_sources s on s.id = c.source_id
  left join chunk_policies p on p.source_id = c.source_id and p.content_hash = c.content_hash
 where c.source_id = %s and upper_inf(c.system_time) order by c.chunk_index
"""


@pytest.fixture(scope="module")
def cycle(server: TestServer) -> Iterator[Cycle]:
    deployment = Deployment(server, server.create())
    yield Cycle(deployment, BEGIN)
    deployment.close()
    server.drop(deployment.database_name)


@pytest.fixture(scope="module")
def acme(cycle: Cycle) -> Tenant:
    return cycle.deployment.tenant("acme", "scale")


def stage_of(cycle: Cycle, acme: Tenant, seed: int) -> Stage:
    rng = random.Random(seed)
    source = rows.add(cycle.deployment, acme, f"http://site.example.com/{rng.random()}", cycle.now)
    stage = Stage(cycle, acme, source, rng, [paragraph(rng, rng.randint(40, 110)) for _ in range(PARAGRAPHS)])
    stage.publish()
    return stage


def paragraph_of(stage: Stage, text: str) -> int:
    """The paragraph that shares most with a text; edits go where it hurts."""
    theirs = runs(text)
    return max(range(len(stage.page)), key=lambda at: len(runs(stage.page[at]) & theirs))


@given(st.integers(0, 2**32), st.lists(st.sampled_from(EDITS), min_size=2, max_size=5))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_descends_from_a_guarded_text_is_guarded(cycle: Cycle, acme: Tenant, seed: int, edits: list[Edit]) -> None:
    stage = stage_of(cycle, acme, seed)
    rng = stage.rng
    for chunk in rng.sample(stage.chunks(), 2):
        stage.say(chunk["chunk_id"], rng.choice(SAID))
    for edit in edits:
        target = paragraph_of(stage, rng.choice(stage.guarded).text)
        stage.page = edit(stage.page, target, rng)
        if rng.random() < 0.2:
            stage.page = rng.choice(stage.editions)  # and back to what it once was
        stage.publish()
        stage.check()
        if rng.random() < 0.3:
            stage.say(rng.choice(stage.chunks())["chunk_id"], rng.choice(SAID))
