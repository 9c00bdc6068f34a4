"""Run the checks, and tell what came of them: for people, as JSON, as JUnit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal
from xml.etree import ElementTree

from chalicelib.knowledge import contract
from chalicelib.knowledge.conformance.checks import CHECKS
from chalicelib.knowledge.conformance.rules import Broken, Check, Unjudged
from chalicelib.knowledge.conformance.subject import Limited, Subject

Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one check; ``why`` is empty for one that passed."""

    check: str
    rule: str
    status: Status
    why: str
    seconds: float


def run(subject: Subject, names: Sequence[str] | None = None) -> Iterator[Finding]:
    """Every check, or those named, one after the other. A check that meets what it did not expect has failed.

    Once the provider has no more requests to spare, what is left is skipped.
    """
    limited: Limited | None = None
    for name in CHECKS if names is None else names:
        start = time.monotonic()
        try:
            status, why = _judged(subject, CHECKS[name]) if limited is None else ("skipped", str(limited))
        except Limited as error:
            limited, status, why = error, "skipped", str(error)
        rule = (CHECKS[name].__doc__ or "").strip().split("\n")[0]
        yield Finding(name, rule, status, why, time.monotonic() - start)


def passed(findings: Sequence[Finding]) -> bool:
    """Whether no check failed. Where none could be judged, nothing was shown."""
    statuses = {one.status for one in findings}
    return "failed" not in statuses and "passed" in statuses


def as_json(subject: Subject, findings: Sequence[Finding]) -> dict[str, Any]:
    """The report as JSON; it holds no secret."""
    return {
        "base_url": subject.base_url,
        "profile": subject.profile,
        "contract_version": contract.VERSION,
        "passed": passed(findings),
        "checks": [asdict(one) for one in findings],
    }


def as_junit(findings: Sequence[Finding]) -> str:
    """The report as JUnit XML, one test case a check."""
    counts = {status: str(sum(one.status == status for one in findings)) for status in ("failed", "skipped")}
    suite = ElementTree.Element(
        "testsuite",
        name="larder conformance",
        tests=str(len(findings)),
        failures=counts["failed"],
        skipped=counts["skipped"],
        errors="0",
        time=f"{sum(one.seconds for one in findings):.3f}",
    )
    for one in findings:
        case = ElementTree.SubElement(
            suite, "testcase", classname="knowledge.v1", name=one.check, time=f"{one.seconds:.3f}"
        )
        if one.status != "passed":
            ElementTree.SubElement(
                case, "failure" if one.status == "failed" else "skipped", message=_printable(one.why)
            )
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _judged(subject: Subject, check: Check) -> tuple[Status, str]:
    """What came of a check, and why. Raises Limited."""
    try:
        check(subject)
    except Limited:
        raise
    except Broken as broken:
        return "failed", str(broken)
    except Unjudged as unjudged:
        return "skipped", str(unjudged)
    except Exception as error:  # such as a result that is no object where one was to be
        return "failed", f"the answer can't be made sense of ({type(error).__name__})"
    return "passed", ""


def _printable(text: str) -> str:
    """Text that XML can hold."""
    return "".join(one if one.isprintable() else "\ufffd" for one in text)
