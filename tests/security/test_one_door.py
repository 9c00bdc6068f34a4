"""Whatever shows a chunk's text to anybody goes through the firewall (spec 2): nothing in the code goes around it, and
no route lets a word out that it withholds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from chalicelib import bootstrap
from chalicelib.api.resource import Route
from chalicelib.services import tokens
from tests.any_row import make_row
from tests.api import contract, tables
from tests.api.furniture import furnish, hold_text, propose
from tests.postgres import TestServer
from tests.security import marked
from tests.security.marked import FOR_OPERATORS, FOREIGN, GUARDED, IN_NO_MODE, OPEN, POLICIES, WORD, Marked
from tests.tenants import Answer, Deployment

PACKAGE = Path(__file__).parents[2] / "chalicelib"
STATEMENTS = {
    f"{file.stem}.{name}": text
    for file in (PACKAGE / "storage" / "sql").glob("*.sql")
    for name, text in re.findall(r"^-- name: (\w+)\n(.*?)(?=^-- name: |\Z)", file.read_text(), re.M | re.S)
}

JUDGED = {
    "search.current": "services/search.py",
    "search.as_of": "services/search.py",
    "search.ranked": "services/search.py",
    "chunks.at": "storage/versions.py",  # for services/history.py
    "consolidation.texts": "services/passages.py",  # for services/consolidation.py, summaries.py, and the worker
    "consolidation.written": "services/summaries.py",
    "held_texts.get": "storage/held_texts.py",  # for services/reviews.py, and the worker, which shows nothing
}
"""Statements whose rows are judged by ``enforcement.admit`` before anything of them is shown."""

UNSHOWN = {
    "chunks.open_of_source": ("storage/versions.py", "the refresh compares the new text with it"),
    "policies.guarded": ("services/inheritance.py", "the refresh looks for texts that inherit a policy"),
    "memory.quarantine_sizes": ("services/quarantine.py", "sizes, and ids"),
    "memory.quarantined": ("services/quarantine.py", "no chunk: an admin reads, redacted, what a gate stopped"),
    "doctor.damage": ("services/doctor_memory.py", "counts, and ids"),
    "doctor.held_without": ("services/memory_rag.py", "a yes or no about a probe"),
    "consolidation.standing": ("services/near_duplicates.py", "ids, lengths and policies"),
    "memory.quarantined_for_update": ("services/quarantine.py", "the same, to decide"),
}
"""Statements that bring texts to somebody who shows none of them, or none that ever was a chunk."""

ANSWERS_A_WORD = ("finish_refresh_v1", "finish_refresh_v2")
GIVES_A_HASH = ("finite_chunks_v1", "superseded_v1", "superseded_v2")
"""Functions of the database that have text in their answer, which is none of a chunk."""

TEXT_TABLES = r"\b(kb_chunks|kb_held_texts|quarantine|consolidation_proposals)\b"


def gives_text(statement: str) -> bool:
    """Whether a row of the answer may hold text of one of the tables that have any."""
    plain = re.sub(r"--.*|::text\b|'[^']*'", "", statement)
    if re.match(r"\s*(insert|update|delete)\b", plain):
        plain = plain.partition("returning")[2] and f"{plain.partition('returning')[2]} {plain}"
        answer = plain.partition("\n")[0]
        return bool(re.search(TEXT_TABLES, plain) and re.search(r"\btext\b|(?<!\()\*", answer))
    return bool(re.search(TEXT_TABLES, plain) and re.search(r"\btext\b|(?<!\()\*", plain))


def test_every_statement_that_gives_text_is_known() -> None:
    found = {name for name, statement in STATEMENTS.items() if gives_text(statement)}
    assert found == {*JUDGED, *UNSHOWN}, "a new one is judged by enforcement.admit, or has a reason why not"


@pytest.mark.parametrize("name", [*JUDGED, *UNSHOWN])
def test_such_a_statement_is_used_in_one_place(name: str) -> None:
    place = JUDGED[name] if name in JUDGED else UNSHOWN[name][0]
    used = [
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if f'"{name}"' in file.read_text(encoding="utf-8")
    ]
    assert used == ([place] if place else [])


def test_who_reads_chunks_for_others_asks_the_firewall() -> None:
    callers = {
        str(file.relative_to(PACKAGE)): file.read_text()
        for file in PACKAGE.rglob("*.py")
        if re.search(r"versions\.chunks_at\(|held_texts\.get\(|\"search\.(current|as_of|ranked)\"", file.read_text())
    }
    assert callers.pop("services/refresh.py"), "the worker publishes what a person has approved, and shows nothing"
    assert set(callers) == {"services/history.py", "services/reviews.py", "services/search.py"}
    assert all(re.search(r"enforcement\.admit\(|history\.join\(", text) for text in callers.values())


def test_who_reads_the_texts_of_a_proposal_asks_the_firewall_too() -> None:
    callers = {
        str(file.relative_to(PACKAGE)): file.read_text()
        for file in PACKAGE.rglob("*.py")
        if re.search(r"\bpassages\.read\(|services\.passages import .*\bread\b", file.read_text())
    }
    assert callers.pop("services/summary_writing.py"), "the worker sends what was judged when an operator asked for it"
    assert set(callers) == {"services/consolidation.py", "services/summaries.py"}
    assert all("enforcement.admit(" in text for text in callers.values())


def test_sql_stands_in_sql_files_alone() -> None:
    own = {"storage/connection.py", "storage/migrate.py"}
    reach = [
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if re.search(r"\.execute\(|import psycopg\b.*connect|\bkb_chunks\b|\bchunk_policies\b", file.read_text())
    ]
    assert set(reach) <= own


def test_no_function_or_view_of_the_database_gives_text_to_the_edge(server: TestServer, database: str) -> None:
    with psycopg.connect(server.url(database, "postgres")) as connection:
        functions = connection.execute(
            """
            select proname, pg_get_function_result(oid) from pg_proc
             where pronamespace = 'public'::regnamespace and has_function_privilege('larder_app', oid, 'execute')
               and prosrc || coalesce(pg_get_function_sqlbody(oid), '') ~ %s
            """,
            (r"\m(kb_chunks|kb_held_texts|quarantine|consolidation_proposals)\M",),
        ).fetchall()
        views = connection.execute(
            "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('v', 'm')"
        ).fetchall()
    told = {name: result for name, result in functions if "text" in result}
    assert set(told) <= {*ANSWERS_A_WORD, *GIVES_A_HASH}, told
    assert {name for name, _ in functions} >= {"search_words_v1", "erase_chunk_v1"}
    assert views == []


# ---- The walk ----------------------------------------------------------------------------------------------------

SHOWS_TEXT = {"search_kb", "context_pack", "show_text", "show_diff"}
SHOWN_TO_ADMINS = {"list_quarantine": {"zqquarantined"}, "show_review": {"zqheld"}, "show_proposal": {"zqwritten"}}
"""What was never a chunk, and is read by who decides about it."""
"""The routes through which text leaves. A route that lets the open text out and isn't here fails the walk: it needs
requests of its own in ``requests_of``."""


@dataclass
class Readers:
    """Who asks, by name: the headers that they send."""

    made: Marked
    proposals: list[UUID]
    ids: dict[str, Any]
    headers: dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def deployment(server: TestServer) -> Iterator[Deployment]:
    deployment = Deployment(server, server.create(), {"ENABLE_KB_RETRIEVAL": "true"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "outside", lambda: deployment.outside)
        yield deployment
    deployment.close()
    server.drop(deployment.database_name)


@pytest.fixture(scope="module")
def readers(deployment: Deployment) -> Readers:
    tenant, stranger = deployment.tenant("marked"), deployment.tenant("stranger")
    ids: dict[str, Any] = dict(furnish(tenant))
    made = marked.mark(tenant)
    theirs = marked.mark(stranger)
    marked.write_chunk(stranger, theirs.page, 99, marked.sentence(FOREIGN), made.first_version_at, None)
    review = hold_text(tenant, made.page, now=datetime.now(UTC))
    with tables.superuser(deployment) as connection:
        held = uuid4()
        known = {"deposit": "note", "gate": "deny_pattern", "text": "zqquarantined", "state": "held"}
        make_row(connection, "quarantine", id=held, tenant_id=tenant.id, **known)
        guarded = "\n".join(marked.sentence(word) for word in (*GUARDED, FOREIGN) if word != "zqsource")
        news = "".join(f"Zebra number {number} of the zqheld herd grazes by the river.\n" for number in range(60))
        connection.execute("update kb_held_texts set text = %s, title = 'zqtitle'", (f"{guarded}\n{news}",))
        connection.execute(
            "update kb_chunks set text = replace(text, 'zq', 'zqtheirs') where tenant_id = %s", (stranger.id,)
        )
    with deployment.owner.transaction() as tx:
        operator = tokens.mint(tx, tenant.id, tokens.Minted("admin", operator="Robin"), datetime.now(UTC))
    bearer = {"Authorization": f"Bearer {tenant.api_token}"}
    return Readers(
        made,
        proposals(made),
        {**ids, "source_id": made.page, "held_id": held, "review_id": review},
        {
            "reader": bearer,
            "admin": {**bearer, "X-Admin-Token": tenant.admin_token},
            "operator": {**bearer, "X-Admin-Token": operator},
        },
    )


def proposals(made: Marked) -> list[UUID]:
    """About the open text and each of the others: one to keep one of the two, and what a model wrote of both."""
    texts = (marked.sentence(OPEN, "as it is"), *(marked.sentence(word) for word in POLICIES))
    idents = [made.chunks[word] for word in (OPEN, *POLICIES)]
    pages, of_both = (made.page, made.page), {"kind": "written", "state": "open"}
    found = [propose(made.tenant, pages, idents[:1] * 2, texts[:1] * 2, **of_both, text="Of both: zqwritten.")]
    for ident, body in zip(idents[1:], texts[1:], strict=True):
        two = (pages, (idents[0], ident), (texts[0], body))
        found += [propose(made.tenant, *two), propose(made.tenant, *two, **of_both, text=body)]
    return found


def requests_of(route: Route, readers: Readers) -> Iterator[tuple[str, Any]]:
    """Paths and bodies: for routes that show text every way to ask, for the others one right request an id."""
    made = readers.made
    then = made.first_version_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    match route.handler.__name__:
        case "search_kb":
            for mode in ("hybrid", "vector", "keyword"):
                yield route.path, {"query": WORD, "limit": 50, "mode": mode}
                yield route.path, {"query": WORD, "limit": 50, "mode": mode, "at": then}
                yield route.path, {"query": WORD, "mode": mode, "source_ids": [str(made.secret)]}
            for word in GUARDED:
                yield route.path, {"query": word, "limit": 1}
        case "context_pack":
            yield route.path, {"query": WORD, "max_chars": 100_000}
        case "show_proposal":
            for proposal in readers.proposals:
                yield route.path.format(proposal_id=proposal), None
        case "show_review":
            yield route.path.format(suggestion_id=readers.ids["review_id"]), None
        case "show_text" | "show_diff" as name:
            queries = ("", f"?at={then}") if name == "show_text" else ("?from=1&to=2", "?from=2&to=1")
            for source in (made.page, made.secret):
                for query in queries if source == made.page or name == "show_text" else ():
                    yield route.path.format(source_id=source) + query, None
        case _:
            for chunk in made.chunks.values() if "{chunk_id}" in route.path else [uuid4()]:
                ids = {name: uuid4() for name in re.findall(r"{(\w+)}", route.path)}
                path = route.path.format(**{**ids, **readers.ids, "chunk_id": chunk})
                yield path + contract.query_for(route), contract.body_for(route)


def words_in(answer: Answer) -> set[str]:
    assert answer.status != 500, answer.json
    return marked.words_in(json.dumps([answer.headers, answer.json]))


def walk(deployment: Deployment, readers: Readers, who: str, routes: list[Route]) -> dict[str, set[str]]:
    """The marked words that left, by route."""
    left: dict[str, set[str]] = {}
    for route in routes:
        for path, body in requests_of(route, readers):
            words = words_in(deployment.request(route.method, path, readers.headers[who], body))
            left.setdefault(route.handler.__name__, set()).update(words)
    return left


def set_mode(deployment: Deployment, mode: str) -> None:
    with tables.superuser(deployment) as connection:
        connection.execute("update tenants set firewall_mode = %s", (mode,))


READS = [route for route in contract.routes() if not contract.mutates(route)]
WRITES = [route for route in contract.routes() if contract.mutates(route)]


@pytest.mark.parametrize("who", ["reader", "admin", "operator"])
def test_in_enforce_mode_no_route_lets_blocked_text_out(deployment: Deployment, readers: Readers, who: str) -> None:
    set_mode(deployment, "enforce")
    left = walk(deployment, readers, who, READS)
    may = {OPEN, *(FOR_OPERATORS if who == "operator" else ())}
    showing = SHOWS_TEXT | ({"show_review", "show_proposal"} if who != "reader" else set())
    for name, words in left.items():
        expected = SHOWN_TO_ADMINS.get(name, set()) if who != "reader" else set()
        assert words - may == expected, name
        assert bool(words & may) == (name in showing), f"{name}: does it show text? then it belongs into SHOWS_TEXT"
    if who == "operator":
        assert all("zqrestricted" in left[name] for name in (SHOWS_TEXT | {"show_proposal"}) - {"show_diff"})


@pytest.mark.parametrize("mode", ["off", "advisory"])
def test_in_no_mode_another_tenants_text_or_a_refuted_one_gets_out(
    deployment: Deployment, readers: Readers, mode: str
) -> None:
    set_mode(deployment, mode)
    left = walk(deployment, readers, "reader", READS)
    for name, words in left.items():
        assert not words & {*IN_NO_MODE, "zqheld"}, name
        assert not any(word.startswith("zqtheirs") for word in words), name
    for name in SHOWS_TEXT - {"show_diff"}:
        assert left[name] >= {*GUARDED} - {*IN_NO_MODE, "zqleft"}, f"{name}: the walk would not see an open door"
    assert "zqleft" in left["search_kb"] & left["show_text"] & left["show_diff"]


@pytest.mark.parametrize("mode", ["off", "advisory"])
def test_a_review_shows_in_no_mode_what_is_refuted(deployment: Deployment, readers: Readers, mode: str) -> None:
    set_mode(deployment, mode)
    [review] = [route for route in READS if route.handler.__name__ == "show_review"]
    words = walk(deployment, readers, "admin", [review])["show_review"]
    assert "zqheld" in words
    assert not words & {*IN_NO_MODE}


@pytest.mark.parametrize("mode", ["off", "advisory"])
def test_a_proposal_shows_in_no_mode_what_is_refuted(deployment: Deployment, readers: Readers, mode: str) -> None:
    set_mode(deployment, mode)
    [shown] = [route for route in READS if route.handler.__name__ == "show_proposal"]
    words = walk(deployment, readers, "admin", [shown])["show_proposal"]
    assert words >= {"zqwritten", *GUARDED} - {*IN_NO_MODE, "zqsource"}
    assert not words & {*IN_NO_MODE}


def test_no_change_answers_with_text(deployment: Deployment, readers: Readers) -> None:
    set_mode(deployment, "enforce")
    for name, words in walk(deployment, readers, "admin", WRITES).items():
        assert not words, name
