"""Run the checks, and tell what came of them: for people, as JSON, as JUnit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal
from xml.etree import ElementTree

from chalicelib.knowledge import contract
from chalicelib.knowledge.conformance.checks import CHECKS, ESSENTIAL
from chalicelib.knowledge.conformance.rules import Broken, Check, Unjudged
from chalicelib.knowledge.conformance.subject import Halted, Subject

Status = Literal["passed", "failed", "skipped"]
Verdict = Literal["passed", "failed", "incomplete"]


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

    Once nothing more is asked, what is left is skipped.
    """
    halted: Halted | None = None
    for name in CHECKS if names is None else names:
        start = time.monotonic()
        try:
            status, why = _judged(subject, CHECKS[name]) if halted is None else ("skipped", str(halted))
        except Halted as error:
            halted, status, why = error, "skipped", str(error)
        rule = (CHECKS[name].__doc__ or "").strip().split("\n")[0]
        yield Finding(name, rule, status, why, time.monotonic() - start)


def verdict(findings: Sequence[Finding]) -> Verdict:
    """What the findings come to. No check failed and an essential one was not judged: ``incomplete``."""
    if any(one.status == "failed" for one in findings):
        return "failed"
    return "incomplete" if unjudged(findings) else "passed"


def unjudged(findings: Sequence[Finding]) -> list[str]:
    """The essential checks that could not be judged."""
    return [one.check for one in findings if _is_owed(one)]


def as_json(subject: Subject, findings: Sequence[Finding]) -> dict[str, Any]:
    """The report as JSON; it holds no secret."""
    return {
        "base_url": subject.base_url,
        "profile": subject.profile,
        "contract_version": contract.VERSION,
        "passed": verdict(findings) == "passed",
        "verdict": verdict(findings),
        "checks": [asdict(one) for one in findings],
    }


def as_junit(findings: Sequence[Finding]) -> str:
    """The report as JUnit XML, one test case a check; an essential check that was not judged is an error."""
    kinds = [_JUNIT["owed" if _is_owed(one) else one.status] for one in findings]
    suite = ElementTree.Element(
        "testsuite",
        name="larder conformance",
        tests=str(len(findings)),
        failures=str(kinds.count("failure")),
        skipped=str(kinds.count("skipped")),
        errors=str(kinds.count("error")),
        time=f"{sum(one.seconds for one in findings):.3f}",
    )
    for one, kind in zip(findings, kinds, strict=True):
        case = ElementTree.SubElement(
            suite, "testcase", classname="knowledge.v1", name=one.check, time=f"{one.seconds:.3f}"
        )
        if kind:
            ElementTree.SubElement(case, kind, message=_printable(one.why))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


_JUNIT = {"passed": "", "failed": "failure", "skipped": "skipped", "owed": "error"}


def _is_owed(finding: Finding) -> bool:
    return finding.status == "skipped" and finding.check in ESSENTIAL


def _judged(subject: Subject, check: Check) -> tuple[Status, str]:
    """What came of a check, and why. Raises Halted."""
    try:
        check(subject)
    except Halted:
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
