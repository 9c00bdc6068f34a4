"""A text that was forgotten stands nowhere any more: every column of every table is looked at."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.domain.ingest_gates import Deposit
from chalicelib.services import deposits, policies, quarantine
from tests.any_row import ensure_row
from tests.api import tables
from tests.integration import rows
from tests.integration.cycle import Cycle
from tests.tenants import Deployment, Tenant

MARK = "zinnob"  # also of the stem in what is searched by words
SECRET = (
    "The zinnober lamp stands in the north cellar behind the boiler. Whoever looks for the zinnober lamp asks Marta "
    "first, because nobody else knows where its switch is hidden."
)
FILLER = [
    f"Paragraph {number} tells of the {word} that stands in room {number} and of the people who look after it every "
    f"day, in the morning and once more before the shop is closed, whatever the weather is like in {word}."
    for number, word in enumerate(["stove", "clock", "ladder", "bench", "window", "carpet", "mirror", "basket"] * 2)
]
URL = "http://docs.example.com/lamp"
NOTE = f"{SECRET} The rest of this note is about something else."


def told(deployment: Deployment) -> dict[str, list[str]]:
    """The rows that have the mark, by table."""
    found = {table: [row for row in rows if MARK in row] for table, rows in tables.dump(deployment).items()}
    return {table: rows for table, rows in found.items() if rows}


@pytest.fixture
def acme(deployment: Deployment) -> Tenant:
    return deployment.tenant("acme")


@pytest.fixture
def cycle(deployment: Deployment) -> Cycle:
    return Cycle(deployment, datetime.now(UTC))


def refresh(cycle: Cycle, acme: Tenant, source: Any, paragraphs: list[str]) -> str:
    cycle.later(minutes=10)
    cycle.web.page(URL, "\n".join(paragraphs))
    return cycle.refresh(acme, source)


def forget_all(cycle: Cycle, acme: Tenant) -> None:
    """Every chunk that has the mark in its own part, as an admin forgets it."""
    named = rows.sql(
        cycle.deployment, "select distinct chunk_id from kb_chunks where substr(text, overlap + 1) ~ %s", MARK
    )
    assert named
    for row in named:
        policies.forget(cycle.deployment.outside, rows.principal(acme), row["chunk_id"], "", cycle.now)


def test_what_was_forgotten_of_a_page_stands_nowhere_and_does_not_come_back(
    deployment: Deployment, cycle: Cycle, acme: Tenant
) -> None:
    source = rows.add(deployment, acme, URL, cycle.now)
    first = [*FILLER[:8], SECRET, *FILLER[8:]]
    assert refresh(cycle, acme, source, first) == "new_version"
    assert refresh(cycle, acme, source, [*first[:-1], "Another last paragraph."]) == "new_version"
    who = rows.principal(acme)
    quarantine.change_deny_patterns(deployment.outside, who, add=["FORBIDDEN"], remove=[], now=cycle.now)
    # The text is cut elsewhere there, and one sentence of it has changed.
    recut = [*FILLER[:3], "FORBIDDEN", SECRET.replace("Marta", "Peter"), FILLER[15]]
    assert refresh(cycle, acme, source, recut) == "quarantined"
    assert refresh(cycle, acme, source, [SECRET.partition(". ")[0] + "."]) == "needs_review"
    with tables.superuser(deployment) as connection:
        ensure_row(connection, "knowledge_cache", acme.id)
        kept = '[{"snippet": "Behind the zinnober lamp."}]'
        connection.execute("update knowledge_cache set results = %s, expires_at = now() + interval '1 minute'", (kept,))
    assert {"kb_chunks", "kb_held_texts", "quarantine", "knowledge_cache"} <= set(told(deployment))
    forget_all(cycle, acme)
    assert told(deployment) == {}
    [asked] = rows.sql(deployment, "select * from kb_suggestions where kind = 'review_change'")
    assert asked["held_text_id"] is None
    quarantine.change_deny_patterns(deployment.outside, who, add=[], remove=["FORBIDDEN"], now=cycle.now)
    assert refresh(cycle, acme, source, [*first, "One more."]) == "new_version"
    assert told(deployment) == {}


def deposit(cycle: Cycle, acme: Tenant, text: str, title: str | None) -> deposits.Deposited:
    offered = deposits.offered_text(Deposit.NOTE, text, title, {})
    return deposits.deposit(
        cycle.deployment.outside, rows.principal(acme), offered, correlation_id=None, now=cycle.now
    )[0]


@pytest.mark.parametrize("title", [None, "The zinnober lamp stands in the north cellar"])
def test_what_was_forgotten_of_a_note_does_not_stay_in_quarantine_or_in_its_name(
    deployment: Deployment, cycle: Cycle, acme: Tenant, title: str | None
) -> None:
    who = rows.principal(acme)
    quarantine.change_deny_patterns(deployment.outside, who, add=["lamp"], remove=[], now=cycle.now)
    for text in (NOTE, f"{NOTE} Twice.", f"{NOTE} Again."):
        deposit(cycle, acme, text, title)
    released, dropped, _ = rows.sql(deployment, "select id from quarantine order by length(text)")
    quarantine.release(deployment.outside, who, released["id"], correlation_id=None, now=cycle.now)
    quarantine.drop(deployment.outside, who, dropped["id"], cycle.now)
    assert cycle.deliver() == "new_version"
    assert len(told(deployment)["quarantine"]) == 3
    forget_all(cycle, acme)
    assert told(deployment) == {}
    states = rows.sql(deployment, "select state from quarantine ")
    assert sorted(row["state"] for row in states) == ["dropped", "dropped", "released"]


def test_a_deposit_that_says_a_part_of_it_and_waits_is_another_text(
    deployment: Deployment, cycle: Cycle, acme: Tenant
) -> None:
    assert deposit(cycle, acme, NOTE, None).event is not None
    assert cycle.deliver() == "new_version"
    who = rows.principal(acme)
    quarantine.change_deny_patterns(deployment.outside, who, add=["lamp"], remove=[], now=cycle.now)
    deposit(cycle, acme, SECRET, None)
    other = deployment.tenant("other")
    quarantine.change_deny_patterns(deployment.outside, rows.principal(other), add=["lamp"], remove=[], now=cycle.now)
    deposit(cycle, other, NOTE, None)
    forget_all(cycle, acme)
    found = told(deployment)
    assert set(found) == {"quarantine"}
    assert len(found["quarantine"]) == 2
