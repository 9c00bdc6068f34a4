"""Checks of what a provider declares, and of whether it does so. A broker reads it without a signature."""

from __future__ import annotations

from chalicelib.knowledge import contract
from chalicelib.knowledge.conformance.rules import Broken, Unjudged, check, expect, results, some_results
from chalicelib.knowledge.conformance.subject import Subject
from chalicelib.knowledge.contract import ContractFailure

DECLARES_NOTHING = (401, 403, 404, 405, 501)
LOCALES = ("de", "de-DE", "zh-Hant-TW", "sr-Latn", "es-419", "en-x-private", "qaa")


@check
def capabilities(subject: Subject) -> None:
    """What is declared can be read. To declare nothing, answer 404, or whatever says that nothing can be read here."""
    _declared(subject)


@check
def locale(subject: Subject) -> None:
    """Who declares ``locale`` answers a question that names one, with or without the fields that go with it."""
    declared = _declared(subject)
    if "locale" not in declared:
        raise Unjudged("it does not declare locale")
    for tag in LOCALES:
        results(subject.ask(subject.question(locale=tag)))
        for fallback in (True, False) if "localeFallback" in declared else ():
            results(subject.ask(subject.question(locale=tag, localeFallback=fallback)))


@check
def scoring(subject: Subject) -> None:
    """Who declares ``scoring`` sends scores."""
    if "scoring" not in _declared(subject):
        raise Unjudged("it does not declare scoring")
    if all(result.score is None for result in some_results(subject.ask())):
        raise Broken("it declares scoring, and no result has a score")


def _declared(subject: Subject) -> list[str]:
    answer = subject.capabilities()
    if answer.status in DECLARES_NOTHING:
        return []
    expect(answer, 200, "GET /capabilities")
    try:
        return contract.parse_capabilities(answer.body, answer.headers.get("content-type")).known
    except ContractFailure as error:
        raise Broken(f"GET /capabilities: {error}") from None
