"""The checks, one rule of the contract each. A check raises Broken, or Unjudged where nothing can be said."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from chalicelib.errors import LarderError
from chalicelib.knowledge import contract, signing
from chalicelib.knowledge.conformance.subject import Answer, Subject
from chalicelib.knowledge.contract import ContractFailure, WireResult

Check = Callable[[Subject], None]
CHECKS: dict[str, Check] = {}
"""Every check by its name, in the order in which they run."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MARKUP = re.compile(r"\s*<([a-z][a-z0-9]*)\b[^>]*>.*</\1>\s*", re.IGNORECASE | re.DOTALL)


class Broken(LarderError):
    """The provider breaks the rule; ``str()`` says how."""


class Unjudged(LarderError):
    """Nothing can be said, and why."""


def check(function: Check) -> Check:
    """Register a check under its function's name."""
    CHECKS[function.__name__] = function
    return function


# --- the answer


@check
def minimum(subject: Subject) -> None:
    """A signed question gets an answer of the contract, with the mandatory fields alone."""
    _results(subject.ask())


@check
def latency(subject: Subject) -> None:
    """The answer comes within the budget."""
    answer = subject.ask()
    if answer.seconds > subject.budget:
        raise Broken(f"the answer took {answer.seconds:.1f} s, the budget is {subject.budget:g} s")


@check
def limit(subject: Subject) -> None:
    """As many results as were asked for, or fewer; ten where nothing was said."""
    for asked in (1, 2, contract.MAX_LIMIT, None):
        most = contract.DEFAULT_LIMIT if asked is None else asked
        answer = subject.ask(subject.question(limit=asked))
        _results(answer, most=contract.MAX_LIMIT * 100)
        if len(answer.json["results"]) > most:
            raise Broken(f"limit {asked}: {len(answer.json['results'])} results came")


@check
def text_only(subject: Subject) -> None:
    """Title and snippet are plain text: no control characters, no snippet that is a piece of HTML."""
    for result in _some(subject):
        for name, text in (("title", result.title), ("snippet", result.snippet)):
            if _CONTROL.search(text):
                raise Broken(f"a {name} holds control characters")
            if _MARKUP.fullmatch(text):
                raise Broken(f"a {name} is HTML; it is shown as text, tags and all")


@check
def labels(subject: Subject) -> None:
    """Every result says its audience; of a customer_safe registration every one is public."""
    raw = subject.ask()
    if not _results(raw):
        raise Unjudged("nothing was found: give a query that finds something")
    for result in raw.json["results"]:
        audience = result.get("audience")
        if audience not in ("public", "internal"):
            raise Broken(f"a result has the audience {audience!r}")
        if subject.profile == "customer_safe" and audience != "public":
            raise Broken("a customer_safe provider sends an internal result")


@check
def optional_fields(subject: Subject) -> None:
    """What is optional is right where it is there: a malformed field would count as absent."""
    raw = subject.ask()
    for sent, read in zip(raw.json["results"] if _results(raw) else [], _results(raw), strict=False):
        for name, value in read.model_dump(by_alias=True).items():
            if value is None and sent.get(name) is not None:
                raise Broken(f"{name} is malformed")


# --- the signature


@check
def raw_bytes(subject: Subject) -> None:
    """The signature is over the bytes as they came: odd spaces are fine, and other bytes of the same JSON are not."""
    odd = f' {{"limit" : 3,\n\t"query":{json.dumps(subject.query + " – ü")} }} '.encode()
    _expect(subject.ask(odd), 200, "odd spaces and escapes")
    _expect(subject.ask(b" " + subject.question(), signed_body=subject.question()), 401, "one more space")


@check
def non_ascii(subject: Subject) -> None:
    """A query in any script, as long as a query may be."""
    for query in ("Paßwort zurücksetzen – wie?", "パスワード", "\U0001f36f" * contract.MAX_QUERY):
        _expect(subject.ask(subject.question(query=query)), 200, "a query of other characters")


@check
def unsigned(subject: Subject) -> None:
    """Without a signature nothing is answered."""
    _expect(subject.ask(headers={signing.SIGNATURE_HEADER: None}), 401, "no signature header")
    _expect(subject.ask(headers={signing.SIGNATURE_HEADER: ""}), 401, "an empty signature header")


@check
def wrong_signature(subject: Subject) -> None:
    """Another secret, half a signature, an empty one: none of them is right."""
    _expect(subject.ask(keys=["another secret"]), 401, "another secret")
    _expect(subject.ask(keys=[""]), 401, "an empty secret")
    _expect(subject.ask(signature=lambda header: header[:-32]), 401, "half a signature")
    _expect(subject.ask(signature=lambda header: header[:-64]), 401, "an empty signature")


@check
def header_order(subject: Subject) -> None:
    """The header is read by its keys, with or without spaces."""
    _expect(subject.ask(signature=lambda header: ",".join(reversed(header.split(", ")))), 200, "another order")


@check
def malformed_header(subject: Subject) -> None:
    """A header that two readers could take differently is refused as such."""
    for why, write in _malformed():
        _expect(subject.ask(signature=write), 400, why)


@check
def request_id(subject: Subject) -> None:
    """The unsigned copy of the nonce must be the nonce."""
    _expect(subject.ask(headers={signing.REQUEST_HEADER: "another-one"}), 400, "another request id")


@check
def skewed_timestamp(subject: Subject) -> None:
    """Five minutes either way, no more."""
    for skew in (-290, 290):
        _expect(subject.ask(skew=skew), 200, f"{skew} seconds off")
    for skew in (-310, 310, -86_400):
        _expect(subject.ask(skew=skew), 401, f"{skew} seconds off")


@check
def repeated_nonce(subject: Subject) -> None:
    """A nonce is good once, also under another time."""
    nonce = signing.new_nonce()
    _expect(subject.ask(nonce=nonce), 200, "a new nonce")
    _expect(subject.ask(nonce=nonce), 401, "the same nonce again")
    _expect(subject.ask(nonce=nonce, skew=60), 401, "the same nonce under another time")


@check
def nonce_after_wrong_signature(subject: Subject) -> None:
    """A wrong signature does not use its nonce up, or anybody could."""
    nonce = signing.new_nonce()
    subject.ask(nonce=nonce, keys=["another secret"])
    _expect(subject.ask(nonce=nonce), 200, "a nonce that a wrong signature came with")


@check
def rotation(subject: Subject) -> None:
    """Two signatures while a secret is rotated: any match is enough. With a previous secret, it alone is, too."""
    for keys in (["another secret", subject.secret], [subject.secret, "another secret"]):
        _expect(subject.ask(keys=keys), 200, "two signatures, one of them right")
    if subject.previous_secret is not None:
        _expect(subject.ask(keys=[subject.previous_secret]), 200, "the previous secret inside its overlap")


# --- what is refused


@check
def version(subject: Subject) -> None:
    """Another version of the contract is refused, not answered."""
    for other in ("2", "1.0", None):
        _refused(subject.ask(headers={signing.VERSION_HEADER: other}), f"version {other}")


@check
def malformed_body(subject: Subject) -> None:
    """What is no JSON object is refused. Behind a gateway, bytes that are no UTF-8 may arrive as others."""
    for body in (b"{", b"[]", b"null", b'"x"', b"", b"[" * 5_000):
        _expect(subject.ask(body), 400, f"the body {body[:8]!r}")
    _refused(subject.ask(b'{"query":"\xff"}'), "a body that is no UTF-8")


@check
def wrong_types(subject: Subject) -> None:
    """A query that is missing, empty, too long or no text; a limit that is none."""
    wrong: list[dict[str, Any]] = [{"query": None}, {"query": ""}, {"query": 1}, {"query": ["x"]}]
    wrong += [{"query": "x" * (contract.MAX_QUERY + 1)}]
    wrong += [{"limit": value} for value in (0, -1, contract.MAX_LIMIT + 1, "10", 1.5, True)]
    for changes in wrong:
        _expect(subject.ask(subject.question(**changes)), 400, f"the fields {str(changes)[:40]}")


@check
def content_type(subject: Subject) -> None:
    """A body that is called something else is refused."""
    _refused(subject.ask(headers={"Content-Type": "text/plain"}), "text/plain")


@check
def oversized(subject: Subject) -> None:
    """A body far beyond any question is refused, or the connection closed."""
    answer = subject.ask(subject.question(padding="x" * 3_000_000))
    if answer.status != 0:
        _refused(answer, "a body of 3 MB")


@check
def unknown_fields(subject: Subject) -> None:
    """Fields that this version does not know are ignored."""
    _expect(subject.ask(subject.question(colour="blue", context={"colour": "blue"})), 200, "unknown fields")


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
        if answer.status < 400:
            continue  # another check says so
        if not answer.headers.get("content-type", "").startswith("application/problem+json"):
            raise Broken(f"{code}: the content type is {answer.headers.get('content-type')!r}")
        said = answer.json.get("code") if isinstance(answer.json, dict) else None
        if said != code:
            raise Broken(f"{code}: the code is {said!r}")


@check
def capabilities(subject: Subject) -> None:
    """What is declared can be read; a provider that declares nothing may answer 404 or not know the method."""
    answer = subject.capabilities()
    if answer.status in (404, 405, 501):
        return
    _expect(answer, 200, "GET /capabilities")
    try:
        contract.parse_capabilities(answer.body, answer.headers.get("content-type"))
    except ContractFailure as error:
        raise Broken(f"GET /capabilities: {error}") from None


def _results(answer: Answer, *, most: int = contract.DEFAULT_LIMIT) -> list[WireResult]:
    """The results of a right answer."""
    _expect(answer, 200, "a right question")
    if len(answer.body) > contract.MAX_RESPONSE_BYTES:
        raise Broken("the answer is larger than 1 MiB")
    try:
        return contract.parse_response(answer.body, answer.headers.get("content-type"), limit=most)
    except ContractFailure as error:
        raise Broken(str(error)) from None


def _some(subject: Subject) -> list[WireResult]:
    found = _results(subject.ask())
    if not found:
        raise Unjudged("nothing was found: give a query that finds something")
    return found


def _expect(answer: Answer, status: int, why: str) -> None:
    if answer.status != status:
        raise Broken(f"{why}: expected {status}, was {answer.status or 'no answer'}")


def _refused(answer: Answer, why: str) -> None:
    if not 400 <= answer.status < 500:
        raise Broken(f"{why}: expected a refusal, was {answer.status or 'no answer'}")


def _malformed() -> Iterator[tuple[str, Callable[[str], str]]]:
    """Ways to spoil a right signature header."""
    yield "a header that is no list of key=value", lambda header: "nonsense"
    yield "two timestamps", lambda header: f"t=1, {header}"
    yield "no timestamp", lambda header: header.partition(", ")[2]
    yield "a timestamp in milliseconds", lambda header: header.replace(",", "000,", 1)
    yield "a negative timestamp", lambda header: header.replace("t=", "t=-", 1)
    yield "a nonce with a dot", lambda header: re.sub(r"n=[^,]+", "n=with.a-dot", header)
    yield "a nonce that is too short", lambda header: re.sub(r"n=[^,]+", "n=short", header)
    yield "five signatures", lambda header: header + f", v1={'0' * 64}" * 4
