"""Checks of the answer to a right question: its form, its time, its number of results, what stands in them."""

from __future__ import annotations

import re

from chalicelib.knowledge import contract
from chalicelib.knowledge.conformance.address import leads_out
from chalicelib.knowledge.conformance.rules import Broken, Unjudged, check, expect, results, some_results
from chalicelib.knowledge.conformance.subject import Subject

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@check
def minimum(subject: Subject) -> None:
    """A signed question gets an answer of the contract, with the mandatory fields alone."""
    results(subject.ask())


@check
def latency(subject: Subject) -> None:
    """The answer comes within the budget."""
    answer = subject.ask()
    expect(answer, 200, "a right question")
    if answer.seconds > subject.budget:
        raise Broken(f"the answer took {answer.seconds:.1f} s, the budget is {subject.budget:g} s")


@check
def limit(subject: Subject) -> None:
    """As many results as were asked for, or fewer; ten where nothing was said."""
    most_found = 0
    for asked in (1, 2, contract.MAX_LIMIT, None):
        most = contract.DEFAULT_LIMIT if asked is None else asked
        answer = subject.ask(subject.question(limit=asked))
        results(answer, most=contract.MAX_LIMIT * 100)
        if len(answer.json["results"]) > most:
            raise Broken(f"limit {asked}: {len(answer.json['results'])} results came")
        most_found = max(most_found, len(answer.json["results"]))
    if most_found < 2:
        raise Unjudged("no limit had anything to cut: give a query that finds two results or more")


@check
def text_only(subject: Subject) -> None:
    """Title and snippet are plain text: no control characters. Text may speak of markup, so that is not judged."""
    for result in some_results(subject.ask()):
        for name, text in (("title", result.title), ("snippet", result.snippet)):
            if _CONTROL.search(text):
                raise Broken(f"a {name} holds control characters")


@check
def labels(subject: Subject) -> None:
    """Every result says its audience; of a customer_safe registration every one is public."""
    answer = subject.ask()
    some_results(answer)
    for result in answer.json["results"]:
        audience = result.get("audience")
        if audience not in ("public", "internal"):
            raise Broken(f"a result has the audience {str(audience)[:60]!r}")
        if subject.profile == "customer_safe" and audience != "public":
            raise Broken("a customer_safe provider sends an internal result")


@check
def optional_fields(subject: Subject) -> None:
    """What is optional is right where it is there: a malformed field would count as absent."""
    answer = subject.ask()
    read = results(answer)
    for raw, result in zip(answer.json["results"], read, strict=True):
        for name, value in result.model_dump(by_alias=True).items():
            if value is None and raw.get(name) is not None:
                raise Broken(f"{name} is malformed")


@check
def links(subject: Subject) -> None:
    """A link is https, without user info, and leads into the public web; any other would be dropped."""
    for result in results(subject.ask()):
        if result.url is not None and not leads_out(result.url):
            raise Broken("a url is not https, has user info, or leads to no public host")


@check
def any_script(subject: Subject) -> None:
    """A query in any script, as long as a query may be."""
    for query in ("Paßwort zurücksetzen – wie?", "パスワード", "\U0001f36f" * contract.MAX_QUERY):
        expect(subject.ask(subject.question(query=query)), 200, "a query of other characters")


@check
def control_characters(subject: Subject) -> None:
    """A query is somebody's text and may hold anything: control characters find nothing, and break nothing."""
    for character in ("\x00", "\x07", "\x1b", "\x7f", "\x85", "\r\n", "\u2028", "\u202e", "\ufffe"):
        query = f"{subject.query[:1_000]}{character}x"
        expect(subject.ask(subject.question(query=query)), 200, f"a query with {character!a} in it")
