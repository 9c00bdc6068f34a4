"""Plays the ingest library against the gates: damage, secrets, deny patterns, the length floor.

The outcome is compared with ``expected`` or its ``alternative``; the redacted text must be the case's text without
its secrets, to the character; each finding must be of a kind that the case's label names.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from chalicelib.domain.clean_text import clean_text
from chalicelib.domain.ingest_gates import Deposit, Gate, Screening, on_damage, screen
from chalicelib.domain.text_damage import find_damage
from tests.cases.report import Case, Verdict, judge, skipped

GATES = {
    Gate.TEXT_DAMAGE: "text_damage",
    Gate.SECRET_SCAN: "secret_scan",
    Gate.DENY_PATTERNS: "policy_match",
    Gate.LENGTH_FLOOR: "min_content",
}
# A case's label, and Larder's kinds for it.
KINDS = {
    "github_pat": {"github_token"},
    "gitlab_pat": {"gitlab_token"},
    "private_key_block": {"private_key"},
    "basic_auth_url": {"url_credentials"},
    "connection_string": {"url_credentials", "azure_storage_key"},
    "docker_pat": {"docker_token"},
    "aws_session_token": {"aws_access_key", "aws_session_token"},
}
# Found by its name alone: which provider's it is, the rules don't say.
UNSPECIFIC = {"password", "secret", "token", "api_key", "basic_auth", "bearer_token"}
MARKER = re.compile(r"\[REDACTED:\w+\]")


def play(case: Case) -> Verdict:
    """Compare one case with the gates."""
    if "bytes_b64" in case:
        return judge(_damaged(case))
    if "text_parts" in case:
        return judge(_screened(case))
    return skipped("a case without text or bytes")


def _damaged(case: Case) -> Iterator[str]:
    body = base64.b64decode(case["bytes_b64"])
    deposit = Deposit(case["deposit"])
    if find_damage(body):
        yield from _outcome(case, on_damage(deposit), Gate.TEXT_DAMAGE)
    else:
        screening = screen(clean_text(body.decode()).text, deposit)
        yield from _outcome(case, screening.outcome, screening.gate)


def _screened(case: Case) -> Iterator[str]:
    text = "".join(case["text_parts"])
    screening = screen(text, Deposit(case["deposit"]), case.get("deny_patterns", ()))
    redacted = screening.outcome == "admit" and bool(screening.findings)
    yield from _outcome(
        case, "redact" if redacted else screening.outcome, Gate.SECRET_SCAN if redacted else screening.gate
    )
    if "matched" in case["expected"] and not _alternative(case, screening.outcome):
        yield from _differs("matched", case["expected"]["matched"], screening.matched)
    yield from _spans(case, screening)


def _spans(case: Case, screening: Screening) -> Iterator[str]:
    spans = [tuple(span) for span in case["spans"]]
    yield from _differs("spans", spans, [(found.start, found.end) for found in screening.findings])
    if "text_without_secrets" in case and screening.text:
        yield from _differs("text", case["text_without_secrets"], MARKER.sub("\0", screening.text))
    wanted = {kind for label in case.get("labels") or () for kind in KINDS.get(label, {label})}
    for found in screening.findings:
        if wanted and found.kind not in wanted | UNSPECIFIC and found.kind.split("_")[0] not in _providers(wanted):
            yield f"kind: {found.kind} is none of {sorted(wanted)}"


def _providers(kinds: set[str]) -> set[str]:
    """The first words: a telegram_token is what another calls a telegram_bot_token."""
    return {kind.split("_")[0] for kind in kinds}


def _outcome(case: Case, outcome: str, gate: Gate | None) -> Iterator[str]:
    expected = case["expected"]
    if not _alternative(case, outcome):
        yield from _differs("outcome", _plain(expected["outcome"]), outcome)
        yield from _differs("gate", expected["gate"], gate and GATES[gate])


def _alternative(case: Case, outcome: str) -> bool:
    """Whether the case's second right answer was given: ``outcome=reject (mostly_secret)``."""
    return f"outcome={outcome}" in _plain(case.get("alternative") or "")


def _plain(words: str) -> str:
    return words.replace("reject", "refuse")


def _differs(what: str, expected: object, seen: object) -> Iterator[str]:
    if expected != seen:
        yield f"{what}: expected {expected!r}, was {seen!r}"
