"""Checks of the signature: over which bytes, by which secret, in which header, at which time."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator

from chalicelib.knowledge import signing
from chalicelib.knowledge.conformance.rules import check, expect, expect_refusal
from chalicelib.knowledge.conformance.subject import Subject

CLOCKS = 2  # seconds by which the clocks of the two sides may differ


@check
def raw_bytes(subject: Subject) -> None:
    """The signature is over the bytes as they came: odd spaces are fine, and other bytes of the same JSON are not."""
    odd = f' {{"limit" : 3,\n\t"query":{json.dumps(subject.query[:1_000] + " – ü")} }} '.encode()
    expect(subject.ask(odd), 200, "odd spaces and escapes")
    expect(subject.ask(b" " + subject.question(), signed_body=subject.question()), 401, "one more space")


@check
def unsigned(subject: Subject) -> None:
    """Without a signature nothing is answered."""
    expect(subject.ask(headers={signing.SIGNATURE_HEADER: None}), 401, "no signature header")
    expect(subject.ask(headers={signing.SIGNATURE_HEADER: ""}), 401, "an empty signature header")


@check
def wrong_signature(subject: Subject) -> None:
    """Another secret, half a signature, an empty one: none of them is right."""
    expect(subject.ask(keys=["another secret"]), 401, "another secret")
    expect(subject.ask(keys=[""]), 401, "an empty secret")
    expect(subject.ask(signature=lambda header: header[:-32]), 401, "half a signature")
    expect(subject.ask(signature=lambda header: header[:-64]), 401, "an empty signature")


@check
def longer_signature(subject: Subject) -> None:
    """A signature is all of its value: one with something behind it is another."""
    for more in ("0", "00", "zz", ";x", "0" * 64):
        expect_refusal(subject.ask(signature=f"{{}}{more}".format), "more behind a signature")


@check
def header_order(subject: Subject) -> None:
    """The header is read by its keys, with or without spaces."""
    expect(subject.ask(signature=lambda header: ",".join(reversed(header.split(", ")))), 200, "another order")


@check
def malformed_header(subject: Subject) -> None:
    """A header that two readers could take differently is refused as such."""
    for why, write in _malformed():
        expect(subject.ask(signature=write), 400, why)


@check
def nonce_form(subject: Subject) -> None:
    """A nonce has 8 to 64 characters of A-Z a-z 0-9 _ -; any other is refused, however well it is signed."""
    for length in (8, 64):
        expect(subject.ask(nonce=_nonce(length)), 200, f"a nonce of {length} characters")
    for length in (7, 65, 200):
        expect(subject.ask(nonce=_nonce(length)), 400, f"a nonce of {length} characters")
    for character in (".", "+", "/", "~"):
        expect(subject.ask(nonce=_nonce(12) + character + "a"), 400, f"a nonce with {character!r} in it")


@check
def skewed_timestamp(subject: Subject) -> None:
    """Five minutes either way, no more. The clocks of the two sides may differ by two seconds."""
    slack = CLOCKS + math.ceil(subject.ask().seconds)  # on its way a request grows older
    for skew in (slack - signing.SKEW_SECONDS, signing.SKEW_SECONDS - slack):
        expect(subject.ask(skew=skew), 200, f"{skew} seconds off")
    for skew in (-signing.SKEW_SECONDS - slack, signing.SKEW_SECONDS + slack, -86_400):
        expect(subject.ask(skew=skew), 401, f"{skew} seconds off")


@check
def rotation(subject: Subject) -> None:
    """Two signatures while a secret is rotated: any match is enough. With a previous secret, it alone is, too."""
    for keys in (["another secret", subject.secret], [subject.secret, "another secret"]):
        expect(subject.ask(keys=keys), 200, "two signatures, one of them right")
    if subject.previous_secret is not None:
        expect(subject.ask(keys=[subject.previous_secret]), 200, "the previous secret inside its overlap")


@check
def four_signatures(subject: Subject) -> None:
    """Up to four signatures are read, whichever of them is right."""
    for place in range(2, signing.MAX_SIGNATURES):
        keys = [f"another secret {number}" for number in range(signing.MAX_SIGNATURES)]
        keys[place] = subject.secret
        expect(subject.ask(keys=keys), 200, f"four signatures, number {place + 1} of them right")


def _nonce(length: int) -> str:
    """A new nonce of any length; the shortest have 48 random bits."""
    return (signing.new_nonce() * (length // 22 + 1))[:length]


def _malformed() -> Iterator[tuple[str, Callable[[str], str]]]:
    """Ways to spoil a right signature header."""
    yield "a header that is no list of key=value", lambda header: "nonsense"
    yield "two timestamps, the second right", lambda header: f"t=1, {header}"
    yield "two timestamps, the first right", lambda header: f"{header}, t=1"
    yield "two nonces, the second right", lambda header: f"n={_nonce(12)}, {header}"
    yield "two nonces, the first right", lambda header: f"{header}, n={_nonce(12)}"
    yield "no timestamp", lambda header: header.partition(", ")[2]
    yield "no nonce", lambda header: re.sub(r" n=[^,]+,", "", header)
    yield "a timestamp in milliseconds", lambda header: header.replace(",", "000,", 1)
    yield "a negative timestamp", lambda header: header.replace("t=", "t=-", 1)
    yield "a nonce with a dot", lambda header: re.sub(r"n=[^,]+", "n=with.a-dot", header)
    yield "five signatures", lambda header: header + f", v1={'0' * 64}" * 4
