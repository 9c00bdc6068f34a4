"""What every check is made of: the list of checks, and the ways to say that an answer breaks the contract."""

from __future__ import annotations

from collections.abc import Callable

from chalicelib.errors import LarderError
from chalicelib.knowledge import contract
from chalicelib.knowledge.conformance.subject import Answer, Subject
from chalicelib.knowledge.contract import ContractFailure, WireResult

Check = Callable[[Subject], None]
CHECKS: dict[str, Check] = {}
"""Every check by its name, in the order in which they run. A check raises Broken, or Unjudged."""


class Broken(LarderError):
    """The provider breaks the rule; ``str()`` says how."""


class Unjudged(LarderError):
    """Nothing can be said, and why."""


def check(function: Check) -> Check:
    """Register a check under its function's name."""
    CHECKS[function.__name__] = function
    return function


def expect(answer: Answer, status: int, why: str) -> None:
    """Raises Broken for another status, and where nobody answered."""
    if answer.status != status:
        raise Broken(f"{why}: expected {status}, was {answer.status or 'no answer'}")


def expect_refusal(answer: Answer, why: str) -> None:
    """Raises Broken for anything but a 4xx."""
    if not 400 <= answer.status < 500:
        raise Broken(f"{why}: expected a refusal, was {answer.status or 'no answer'}")


def results(answer: Answer, *, most: int = contract.DEFAULT_LIMIT) -> list[WireResult]:
    """The results of a right answer; raises Broken."""
    expect(answer, 200, "a right question")
    if len(answer.body) > contract.MAX_RESPONSE_BYTES:
        raise Broken("the answer is larger than 1 MiB")
    try:
        return contract.parse_response(answer.body, answer.headers.get("content-type"), limit=most)
    except ContractFailure as error:
        raise Broken(str(error)) from None


def some_results(answer: Answer) -> list[WireResult]:
    """The results of a right answer, at least one; raises Broken, or Unjudged where nothing was found."""
    found = results(answer)
    if not found:
        raise Unjudged("nothing was found: give a query that finds something")
    return found
