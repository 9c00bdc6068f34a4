"""Plays the web library: pages, texts, identities and nights against the pure code, the rest against the cycle.

Words of the library that mean one of ours: ``stored`` = text came out, ``suspicious`` = ``needs_review``,
``failed:x`` = the status for x. Where a case cleans what spec 2.4 refuses, the spec counts, and the verdict says so.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from chalicelib.domain import secrets
from chalicelib.domain.chunk_cuts import MAX_CHARACTERS, MAX_OVERLAP
from chalicelib.domain.chunking import Chunk, TooManyChunks, chunk, content_hash
from chalicelib.domain.clean_text import clean_text
from chalicelib.domain.doubtful import find_doubt
from chalicelib.domain.source_url import canonicalise
from chalicelib.domain.text_damage import find_damage
from chalicelib.fetching.extract import ExtractionError, extract
from tests.cases.generator_words import Unreadable, generate
from tests.cases.night_words import play_night
from tests.cases.report import Case, Verdict, failed, judge, passed, skipped
from tests.cases.web_ingest_stateful import play_stateful

Given = dict[str, Any]
URL = "http://src.example.com/a"
_WORDS = {"suspicious": "needs_review", "failed:damaged": "damaged_text", "empty_text": "empty", "accepted": "stored"}
MODEL_WINDOW = 510  # tokens, where a character is one

# What the players below compare, and what only explains.
_COMPARED = """
    outcome status stage text allowed title must_match_regex text_must_not_start_with must_contain text_must_contain
    must_not_contain text_must_not_contain firewall_flag removed new_version alternative same_source same_hash equal
    chunks chunks_min chunks_max max_len overlap text_must_not_contain_any_chunk must_terminate no_blank_chunks
    no_lone_surrogates no_invalid_utf8 concatenation_without_overlap db_error embedding_call_error
    current_version
"""
_EXPLAINS = "rule alternative_rule note message on_duplicate user_action"


@dataclass(frozen=True)
class Seen:
    """What became of a page or a text."""

    outcome: str
    text: str = ""
    title: str | None = None
    flags: tuple[str, ...] = ()
    removed: int = 0


def play(case: Case) -> Verdict:
    """Compare one case with the code."""
    given, expected = case["input"], case["expected"]
    if case["area"] == "night-window":
        return _read(lambda: judge(play_night(given, expected)))
    player = _PLAYERS.get(given.get("kind"))
    if given.get("kind") in ("refresh", "first_fetch"):
        player = {"refresh": _refresh_page, "first_fetch": _first_fetch}[given["kind"]]
        player = player if isinstance(given.get("page"), dict) else None
    if player is None or {"stored_chunks", "atomic"} & set(expected) or "chunks" in str(given.get("generator")):
        return play_stateful(case)
    verdict = _read(lambda: player(given, expected))
    more = {key: value for key, value in expected.items() if key not in f"{_COMPARED} {_EXPLAINS}".split()}
    return play_stateful({**case, "expected": more}) if more and verdict.status == "PASS" else verdict


def _read(player: Callable[[], Verdict]) -> Verdict:
    try:
        return player()
    except Unreadable as error:
        return skipped(f"the generator's words are not understood: {error}")


def _refresh_page(given: Given, expected: Given) -> Verdict:
    return _judge_page(_refresh(given), expected)


def _page(given: Given, expected: Given) -> Verdict:
    return _judge_page(_extracted(given), expected)


def _first_fetch(given: Given, expected: Given) -> Verdict:
    return _judge_page(_extracted(given["page"]), expected)


def _refresh(given: Given) -> Seen:
    """A page that comes after a version of a known length."""
    seen = _extracted(given["page"])
    previous = "word " * (given.get("previous_text_len", 0) // 5)
    final_url = given.get("final_url", URL)
    doubt = find_doubt(seen.text, title=seen.title, previous_text=previous, source_url=URL, final_url=final_url)
    return Seen("needs_review", seen.text, seen.title) if seen.outcome == "stored" and doubt else seen


def _extracted(page: Given) -> Seen:
    if "generator" in page:
        body = generate(page["generator"], page)
    elif "body_b64" in page:
        body = base64.b64decode(page["body_b64"])
    else:
        body = page["body"].encode()
    if page.get("status", 200) != 200:
        return Seen(f"http_{page['status']}")  # the body of an error is never read
    headers = {name.lower(): value for name, value in page.get("headers", {}).items()}
    try:
        found = extract(body, headers.get("content-type"))
    except ExtractionError as error:
        return Seen(error.status)
    redaction = secrets.redact(found.text)
    flags = ("invisible_unicode",) * bool(found.invisible_removed) + ("secret_redacted",) * bool(redaction.findings)
    return Seen("stored", redaction.text, found.title, flags, found.invisible_removed)


def _judge_page(seen: Seen, expected: Given) -> Verdict:
    mismatches = list(_page_mismatches(seen, expected))
    alternative = expected.get("alternative")
    if mismatches and isinstance(alternative, str) and (seen.outcome in alternative or seen.text in alternative):
        return passed(f"the second right answer: {alternative}")
    return judge(mismatches)


def _page_mismatches(seen: Seen, expected: Given) -> Iterator[str]:
    text = seen.text
    outcome = expected.get("status") or expected.get("outcome")
    stage = expected.get("stage", "")
    if outcome == "failed" and stage:
        outcome = stage
    outcome = str(outcome or ("stored" if expected.get("new_version", True) else seen.outcome))
    outcome = _WORDS.get(outcome, outcome).removeprefix("failed:")
    is_other_failure = outcome in ("failed", "blocked") and seen.outcome != "stored"
    if seen.outcome.removeprefix("http_") != outcome.removeprefix("http_") and not is_other_failure:
        yield f"outcome {seen.outcome} instead of {outcome}"
    if expected.get("text") is not None and text != expected["text"]:
        yield f"text {text!r} instead of {expected['text']!r}"
    if "allowed" in expected and text not in expected["allowed"]:
        yield f"text {text!r} is none of {expected['allowed']}"
    if "title" in expected and seen.title != expected["title"]:
        yield f"title {seen.title!r}"
    if "must_match_regex" in expected and not re.search(expected["must_match_regex"], text):
        yield f"text {text!r} does not match"
    if "text_must_not_start_with" in expected and text.startswith(expected["text_must_not_start_with"]):
        yield "text starts with what it must not"
    for part in _listed(expected, "must_contain", "text_must_contain"):
        if part not in text:
            yield f"{part!r} is missing in {text!r}"
    for part in _listed(expected, "must_not_contain", "text_must_not_contain"):
        if part in text:
            yield f"{part!r} is in {text!r}"
    if "firewall_flag" in expected and expected["firewall_flag"] not in seen.flags:
        yield f"flags {seen.flags}"
    if "removed" in expected and expected["removed"] != seen.removed:
        yield f"{seen.removed} characters removed"
    if expected.get("new_version") is False and seen.outcome == "stored":
        yield "a new version"


def _listed(expected: Given, *names: str) -> Iterator[str]:
    for name in names:
        value = expected.get(name, [])
        yield from [value] if isinstance(value, str) else value


def _text(given: Given, expected: Given) -> Verdict:
    text = _literal(given)
    cleaned = clean_text(text).text
    cleaned.encode()  # neither a driver nor a model meets what has no UTF-8 form
    damage = find_damage(text)
    seen = Seen("damaged_text") if damage else Seen("stored", cleaned)
    verdict = _judge_page(seen, expected)
    if verdict.status == "FAIL" and damage and _judge_page(Seen("stored", cleaned), expected).status == "PASS":
        return passed(f"cleaning gives this text; spec 2.4 refuses it before: {damage}")
    return verdict


def _literal(given: Given) -> str:
    if "codepoints" in given:
        return "".join(map(chr, given["codepoints"]))
    if "generator" in given:
        return generate(given["generator"], given).decode("utf-8", "surrogatepass")
    if "body_b64" in given:
        return base64.b64decode(given["body_b64"]).decode()
    return str(given["text"])


def _text_pair(given: Given, expected: Given) -> Verdict:
    first, second = (content_hash(clean_text(given[name]).text) for name in ("x", "y"))
    rule = str(expected.get("rule", ""))
    wanted = expected.get("same_hash", expected.get("equal", "same" in rule and "not the same" not in rule))
    return judge([] if (first == second) == wanted else [f"same hash: {first == second}"])


def _text_generator(given: Given, expected: Given) -> Verdict:
    text = _literal(given)
    redacted = secrets.redact(text).text
    needs_window = "token" in str(expected.get("rule", ""))
    try:
        chunks = chunk(redacted, fits=_fits if needs_window else None)
    except TooManyChunks:
        wanted = str(expected.get("outcome", expected.get("status", "")))
        return passed() if "too_large" in wanted else failed("too many chunks")
    mismatches = [*_whatever_the_case(redacted, chunks), *_chunk_mismatches(chunks, expected)]
    if needs_window and not all(_fits(one.text) for one in chunks):
        mismatches.append("a chunk is longer than the model's window")
    return judge(mismatches)


def _fits(text: str) -> bool:
    return len(text) <= MODEL_WINDOW


def _whatever_the_case(text: str, chunks: list[Chunk]) -> Iterator[str]:
    """What must hold for the chunks of any text."""
    at = 0
    for number, one in enumerate(chunks):
        at = text.find(one.body, at)
        if not one.body.strip():
            yield f"chunk {number} is blank"
        if at < 0 or text[at - one.overlap : at] != one.text[: one.overlap]:
            yield f"chunk {number} does not repeat what stands before it"
        if len(one.text) > MAX_CHARACTERS or one.overlap > MAX_OVERLAP:
            yield f"chunk {number} has {len(one.text)} characters, {one.overlap} repeated"
        one.text.encode()
        at += len(one.body)
    if "".join(one.body for one in chunks).split() != text.split():
        yield "the bodies don't make the text"


def _chunk_mismatches(chunks: list[Chunk], expected: Given) -> Iterator[str]:
    rule = str(expected.get("rule", ""))
    if "chunks" in expected and len(chunks) != expected["chunks"] and "may differ in count" not in rule:
        yield f"{len(chunks)} chunks"
    if len(chunks) < expected.get("chunks_min", 0) or len(chunks) > expected.get("chunks_max", len(chunks)):
        yield f"{len(chunks)} chunks"
    if "max_len" in expected and max((len(one.text) for one in chunks), default=0) > expected["max_len"]:
        yield "a chunk is too long"
    if "overlap" in expected and any(one.overlap > expected["overlap"] for one in chunks):
        yield "an overlap is too long"
    for part in _listed(expected, "text_must_not_contain_any_chunk", "must_not_contain"):
        yield from (f"chunk {number} has {part!r}" for number, one in enumerate(chunks) if part in one.text)


def _identity(given: Given, expected: Given) -> Verdict:
    same = _canonical(given["a"]) == _canonical(given["b"])
    return judge([] if same == expected["same_source"] else [f"same source: {same}"])


def _canonical(url: str) -> str:
    try:
        return canonicalise(url)
    except ValueError as error:
        return f"{url} is refused: {error}"


_PLAYERS: dict[Any, Callable[[Given, Given], Verdict]] = {
    "page": _page,
    "page_generator": _page,
    "text": _text,
    "text_pair": _text_pair,
    "text_generator": _text_generator,
    "identity": _identity,
}
