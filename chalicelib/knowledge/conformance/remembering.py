"""Checks of the nonces: each is good once, also among many, and at the same instant."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from chalicelib.knowledge import signing
from chalicelib.knowledge.conformance.rules import Broken, check, expect
from chalicelib.knowledge.conformance.subject import Subject

AT_ONCE, ROUNDS = 6, 4  # a small server's queue of connections holds as many


@check
def repeated_nonce(subject: Subject) -> None:
    """A nonce is good once, also under another time and for another question."""
    nonce = signing.new_nonce()
    expect(subject.ask(nonce=nonce), 200, "a new nonce")
    expect(subject.ask(nonce=nonce), 401, "the same nonce again")
    expect(subject.ask(nonce=nonce, skew=60), 401, "the same nonce under another time")
    expect(subject.ask(subject.question(limit=2), nonce=nonce), 401, "the same nonce for another question")


@check
def nonce_after_wrong_signature(subject: Subject) -> None:
    """A wrong signature does not use its nonce up, or anybody could."""
    nonce = signing.new_nonce()
    subject.ask(nonce=nonce, keys=["another secret"])
    expect(subject.ask(nonce=nonce), 200, "a nonce that a wrong signature came with")


@check
def nonce_at_once(subject: Subject) -> None:
    """Of requests with one nonce that come at the same instant, one is answered."""
    for _ in range(ROUNDS):
        nonce = signing.new_nonce()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            answers = list(pool.map(lambda _, nonce=nonce: subject.ask(nonce=nonce), range(AT_ONCE)))
        answered = sum(one.status == 200 for one in answers)
        if answered != 1:
            raise Broken(f"one nonce {AT_ONCE} times at once: {answered} were answered")


@check
def nonce_among_many(subject: Subject) -> None:
    """A nonce is remembered for its whole time, however many come after it."""
    nonce = signing.new_nonce()
    expect(subject.ask(nonce=nonce), 200, "a new nonce")
    for _ in range(subject.nonces):
        expect(subject.ask(subject.question(limit=1)), 200, "a right question")
    expect(subject.ask(nonce=nonce), 401, f"the same nonce after {subject.nonces} others")
