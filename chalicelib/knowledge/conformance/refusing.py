"""Checks of what is refused, what must not be, and of the words for it."""

from __future__ import annotations

from typing import Any

from chalicelib.knowledge import contract, signing
from chalicelib.knowledge.conformance.rules import Broken, check, expect, expect_refusal
from chalicelib.knowledge.conformance.subject import Subject


@check
def version(subject: Subject) -> None:
    """Another version of the contract is refused, not answered."""
    for other in ("2", "1.0", None):
        expect_refusal(subject.ask(headers={signing.VERSION_HEADER: other}), f"version {other}")


@check
def malformed_body(subject: Subject) -> None:
    """What is no JSON object is refused. Behind a gateway, bytes that are no UTF-8 may arrive as others."""
    for body in (b"{", b"[]", b"null", b'"x"', b"", b"[" * 5_000):
        expect(subject.ask(body), 400, f"the body {body[:8]!r}")
    expect_refusal(subject.ask(b'{"query":"\xff"}'), "a body that is no UTF-8")


@check
def wrong_types(subject: Subject) -> None:
    """A query that is missing, empty, too long or no text; a limit that is none."""
    wrong: list[dict[str, Any]] = [{"query": None}, {"query": ""}, {"query": 1}, {"query": ["x"]}]
    wrong += [{"query": "x" * (contract.MAX_QUERY + 1)}]
    wrong += [{"limit": value} for value in (0, -1, contract.MAX_LIMIT + 1, "10", 1.5, True)]
    for changes in wrong:
        expect(subject.ask(subject.question(**changes)), 400, f"the fields {str(changes)[:40]}")


@check
def content_type(subject: Subject) -> None:
    """A body that is called something else is refused."""
    expect_refusal(subject.ask(headers={"Content-Type": "text/plain"}), "text/plain")


@check
def oversized(subject: Subject) -> None:
    """A body far beyond any question may be answered, refused or cut off; the provider lives on."""
    answer = subject.ask(subject.question(padding="x" * 3_000_000))
    if answer.status not in (0, 200):
        expect_refusal(answer, "a body of 3 MB")
    expect(subject.ask(), 200, "a right question after a body of 3 MB")


@check
def unknown_fields(subject: Subject) -> None:
    """Fields that this version does not know are ignored."""
    expect(subject.ask(subject.question(colour="blue", context={"colour": "blue"})), 200, "unknown fields")


@check
def errors(subject: Subject) -> None:
    """An error is problem+json (RFC 9457) with one of the contract's codes, and the right one."""
    nonce = signing.new_nonce()
    subject.ask(nonce=nonce)
    for code, answer in (
        ("unauthorized", subject.ask(keys=["another secret"])),
        ("stale_timestamp", subject.ask(skew=-310)),
        ("replayed_nonce", subject.ask(nonce=nonce)),
        ("unsupported_version", subject.ask(headers={signing.VERSION_HEADER: "2"})),
        ("invalid_request", subject.ask(b"{")),
    ):
        if answer.status == 0:
            raise Broken(f"{code}: no answer")
        if answer.status < 400:
            continue  # another check says so
        kind = answer.headers.get("content-type", "").partition(";")[0].strip()
        if kind.lower() != "application/problem+json":
            raise Broken(f"{code}: the content type is {kind[:60]!r}")
        said = answer.json.get("code") if isinstance(answer.json, dict) else None
        if said != code:
            raise Broken(f"{code}: the code is {str(said)[:60]!r}")
