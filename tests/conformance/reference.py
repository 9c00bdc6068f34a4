"""A provider that keeps the contract, and one flaw at a time. Written apart from the code that it is tested with."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from typing import Any

from tests.scripted_provider import Asked, Says, ScriptedProvider

SECRET, PREVIOUS = "the-secret-of-the-test", "the-secret-before-that"
PAGES = [
    ("1", "Password", "Reset your password."),
    ("2", "Login", "A password is needed."),
    ("3", "Pin", "No password."),
]

FLAWS: dict[str, set[str]] = {
    "another_version_in_the_answer": {"minimum", "limit", "text_only", "labels", "optional_fields"},
    "called_html": {"minimum", "limit", "text_only", "labels", "optional_fields"},
    "a_result_without_an_id": {"minimum", "limit", "text_only", "labels", "optional_fields"},
    "slow": {"latency"},
    "more_than_asked_for": {"limit"},
    "html_in_snippets": {"text_only"},
    "control_characters": {"text_only"},
    "no_labels": {"labels"},
    "internal_for_customers": {"labels"},
    "labels_in_capitals": {"labels"},
    "a_score_in_words": {"optional_fields"},
    "signature_over_json_written_anew": {"raw_bytes"},
    "counts_bytes": {"non_ascii"},
    "takes_unsigned": {"unsigned"},
    "compares_prefixes": {"wrong_signature"},
    "one_order_of_the_header": {"header_order"},
    "last_timestamp_wins": {"malformed_header"},
    "any_request_id": {"request_id"},
    "only_too_old": {"skewed_timestamp"},
    "narrow_window": {"skewed_timestamp"},
    "no_nonces": {"repeated_nonce"},
    "nonce_before_signature": {"nonce_after_wrong_signature"},
    "first_signature_only": {"rotation"},
    "forgets_the_previous_secret": {"rotation"},
    "any_version": {"version"},
    "a_list_is_fine": {"malformed_body"},
    "reads_numbers_in_text": {"wrong_types"},
    "empty_queries": {"wrong_types"},
    "any_content_type": {"content_type"},
    "any_size": {"oversized"},
    "known_fields_only": {"unknown_fields"},
    "errors_in_words": {"errors"},
    "errors_without_codes": {"errors"},
    "babbling_capabilities": {"capabilities"},
}
"""What is wrong with it, and the checks that must say so; every other must pass."""


class Refused(Exception):
    def __init__(self, status: int, code: str) -> None:
        self.status, self.code = status, code


class Reference(ScriptedProvider):
    def __init__(self, flaw: str = "") -> None:
        self.flaw, self.nonces = flaw, set[str]()
        super().__init__(self._behave)

    def _respond(self, asked: Asked) -> Says:
        if asked.method == "GET" and self.flaw == "babbling_capabilities":
            return Says(body=b"everything")
        return super()._respond(asked)

    def _behave(self, asked: Asked) -> Says:
        try:
            self._verify(asked)
            return self._answer(self._read(asked))
        except Refused as refused:
            if self.flaw == "errors_in_words":
                return Says(refused.status, refused.code.encode(), {"Content-Type": "text/plain"})
            code = "error" if self.flaw == "errors_without_codes" else refused.code
            return Says(
                refused.status, json.dumps({"code": code}).encode(), {"Content-Type": "application/problem+json"}
            )

    # --- the signature

    def _verify(self, asked: Asked) -> None:
        if asked.headers.get("x-larder-knowledge-version") != "1" and self.flaw != "any_version":
            raise Refused(400, "unsupported_version")
        header = asked.headers.get("x-larder-signature", "")
        if not header:
            if self.flaw == "takes_unsigned":
                return
            raise Refused(401, "unauthorized")
        t, n, values = self._parts(header)
        if asked.headers.get("x-larder-request") != n and self.flaw != "any_request_id":
            raise Refused(400, "invalid_request")
        if self.flaw == "nonce_before_signature":
            self._take(n)
        if not self._is_right(t, n, values, asked.body):
            raise Refused(401, "unauthorized")
        window = 200 if self.flaw == "narrow_window" else 300
        age = time.time() - int(t)
        if age > window or (age < -window and self.flaw != "only_too_old"):
            raise Refused(401, "stale_timestamp")
        if self.flaw not in ("no_nonces", "nonce_before_signature"):
            self._take(n)

    def _parts(self, header: str) -> tuple[str, str, list[str]]:
        found: dict[str, list[str]] = {"t": [], "n": [], "v1": []}
        for part in re.split(r"\s*,\s*", header):
            key, _, value = part.partition("=")
            found.setdefault(key, []).append(value)
        if self.flaw == "one_order_of_the_header" and not header.startswith("t="):
            raise Refused(400, "invalid_request")
        if self.flaw == "last_timestamp_wins":
            found["t"] = found["t"][-1:]
        t, n = ",".join(found["t"]), ",".join(found["n"])
        good = re.fullmatch(r"\d{1,10}", t) and re.fullmatch(r"[A-Za-z0-9_-]{8,64}", n) and len(found["v1"]) <= 4
        if not good:
            raise Refused(400, "invalid_request")
        return t, n, found["v1"][:1] if self.flaw == "first_signature_only" else found["v1"]

    def _is_right(self, t: str, n: str, values: list[str], body: bytes) -> bool:
        if self.flaw == "signature_over_json_written_anew":
            body = _anew(body)
        secrets = [SECRET] if self.flaw == "forgets_the_previous_secret" else [SECRET, PREVIOUS]
        right = [hmac.new(one.encode(), f"{t}.{n}.".encode() + body, hashlib.sha256).hexdigest() for one in secrets]
        if self.flaw == "compares_prefixes":
            return any(one.startswith(value) for one in right for value in values)
        return any(hmac.compare_digest(one, value) for one in right for value in values)

    def _take(self, nonce: str) -> None:
        if nonce in self.nonces:
            raise Refused(401, "replayed_nonce")
        self.nonces.add(nonce)

    # --- the question and the answer

    def _read(self, asked: Asked) -> dict[str, Any]:
        if len(asked.body) > 100_000 and self.flaw != "any_size":
            raise Refused(400, "invalid_request")
        if not asked.headers.get("content-type", "").startswith("application/json") and self.flaw != "any_content_type":
            raise Refused(400, "invalid_request")
        try:
            question = json.loads(asked.body.decode())
        except (ValueError, RecursionError):
            raise Refused(400, "invalid_request") from None
        if question == [] and self.flaw == "a_list_is_fine":
            question = {"query": "x"}
        if not isinstance(question, dict):
            raise Refused(400, "invalid_request")
        query, limit = question.get("query"), question.get("limit", 10)
        if self.flaw == "reads_numbers_in_text" and limit == "10":
            limit = 10
        least = 0 if self.flaw == "empty_queries" else 1
        if not isinstance(query, str) or type(limit) is not int or not 1 <= limit <= 50:
            raise Refused(400, "invalid_request")
        if not least <= len(query.encode() if self.flaw == "counts_bytes" else query) <= 1024:
            raise Refused(400, "invalid_request")
        if self.flaw == "known_fields_only" and set(question) - {
            "query",
            "limit",
            "locale",
            "localeFallback",
            "context",
        }:
            raise Refused(400, "invalid_request")
        return {"query": query, "limit": 50 if self.flaw == "more_than_asked_for" else limit}

    def _answer(self, question: dict[str, Any]) -> Says:
        found = [page for page in PAGES if any(word in page[2] for word in question["query"].split())]
        results = [self._result(*page) for page in found[: question["limit"]]]
        pause = 1.5 if self.flaw == "slow" and len(self.asked) == 2 else 0.0  # the second question is the timed one
        version = 2 if self.flaw == "another_version_in_the_answer" else 1
        kind = "text/html" if self.flaw == "called_html" else "application/json; charset=utf-8"
        body = json.dumps({"contractVersion": version, "results": results}).encode()
        return Says(200, body, {"Content-Type": kind}, pause=pause)

    def _result(self, ident: str, title: str, snippet: str) -> dict[str, Any]:
        result: dict[str, Any] = {"documentId": ident, "title": title, "snippet": snippet, "audience": "public"}
        changes: dict[str, dict[str, Any]] = {
            "a_result_without_an_id": {"documentId": None},
            "html_in_snippets": {"snippet": f"<p class='x'>{snippet}</p>"},
            "control_characters": {"title": f"{title}\x1b[31m"},
            "no_labels": {"audience": None},
            "internal_for_customers": {"audience": "internal"},
            "labels_in_capitals": {"audience": "Public"},
            "a_score_in_words": {"score": "high"},
        }
        changed = result | changes.get(self.flaw, {})
        return {name: value for name, value in changed.items() if value is not None}


def _anew(body: bytes) -> bytes:
    try:
        return json.dumps(json.loads(body.decode()), ensure_ascii=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        return body
