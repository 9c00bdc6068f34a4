"""A provider that keeps the contract, and one flaw at a time. Written apart from the code that it is tested with."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import threading
import time
from typing import Any

from tests.scripted_provider import Asked, Says, ScriptedProvider

SECRET, PREVIOUS = "the-secret-of-the-test", "the-secret-before-that"
PAGES = [
    ("1", "Password", "Reset your password."),
    ("2", "Login", "A password is needed."),
    ("3", "Pin", "No password."),
]

MOST_KEPT = 20
"""How many nonces the one that keeps few of them keeps."""

ANSWERED = {"minimum", "limit", "text_only", "labels", "optional_fields", "links", "locale", "scoring"}

FLAWS: dict[str, set[str]] = {
    "another_version_in_the_answer": ANSWERED,
    "called_html": ANSWERED,
    "a_result_without_an_id": ANSWERED,
    "slow": {"latency"},
    "more_than_asked_for": {"limit"},
    "control_characters": {"text_only"},
    "no_labels": {"labels"},
    "internal_for_customers": {"labels"},
    "labels_in_capitals": {"labels"},
    "a_freshness_of_its_own": {"optional_fields"},
    "signature_over_json_written_anew": {"raw_bytes"},
    "script_links": {"links"},
    "links_with_users": {"links"},
    "private_links": {"links"},
    "plain_links": {"links"},
    "counts_bytes": {"any_script"},
    "crashes_on_control_characters": {"control_characters"},
    "takes_unsigned": {"unsigned"},
    "compares_prefixes": {"wrong_signature"},
    "one_order_of_the_header": {"header_order"},
    "last_timestamp_wins": {"malformed_header"},
    "first_timestamp_wins": {"malformed_header"},
    "last_nonce_wins": {"malformed_header"},
    "first_nonce_wins": {"malformed_header"},
    "nonces_of_any_length": {"nonce_form"},
    "short_nonces": {"nonce_form"},
    "reads_64_digits": {"longer_signature"},
    "only_too_old": {"skewed_timestamp"},
    "narrow_window": {"skewed_timestamp"},
    "window_of_309_seconds": {"skewed_timestamp"},
    "no_nonces": {"repeated_nonce", "nonce_at_once", "nonce_among_many"},
    "nonces_with_their_questions": {"repeated_nonce"},
    "nonce_before_signature": {"nonce_after_wrong_signature"},
    "check_then_store": {"nonce_at_once"},
    "few_nonces": {"nonce_among_many"},
    "first_signature_only": {"rotation", "four_signatures"},
    "two_signatures_only": {"four_signatures"},
    "three_signatures_at_most": {"four_signatures"},
    "forgets_the_previous_secret": {"rotation"},
    "any_version": {"version"},
    "a_list_is_fine": {"malformed_body"},
    "reads_numbers_in_text": {"wrong_types"},
    "empty_queries": {"wrong_types"},
    "any_content_type": {"content_type"},
    "falls_over_at_size": {"oversized"},
    "dies_of_size": {"oversized"},
    "known_fields_only": {"unknown_fields"},
    "errors_in_words": {"errors"},
    "errors_without_codes": {"errors"},
    "errors_called_nearly_right": {"errors"},
    "babbling_capabilities": {"capabilities", "locale", "scoring"},
    "crashes_on_a_locale": {"locale"},
    "crashes_on_a_fallback": {"locale"},
    "scoring_without_scores": {"scoring"},
}
"""What is wrong with it, and the checks that must say so; every other must pass."""

WAYS = [
    *("ignores_the_request_id", "answers_any_size", "cuts_off_any_size", "talks_about_html", "is_all_html"),
    *("capabilities_behind_401", "capabilities_behind_403", "no_capabilities", "capitals_in_the_content_type"),
    *("limits_the_rate", "limits_the_rate_after_the_signature", "some_without_a_score", "no_spaces_in_its_json"),
    *("a_title_with_line_breaks", "refuses_a_longer_signature_as_malformed"),
]
"""What is unusual in it, and keeps the contract: nothing may fail."""


_FIELDS = {"query", "limit", "locale", "localeFallback", "context"}
_CAPABILITIES = {"capabilities_behind_401": 401, "capabilities_behind_403": 403, "no_capabilities": 404}
_ONE_WINS = [
    ("last_timestamp_wins", "t", slice(-1, None)),
    ("first_timestamp_wins", "t", slice(1)),
    ("last_nonce_wins", "n", slice(-1, None)),
    ("first_nonce_wins", "n", slice(1)),
]
_ONE_NONCE_WINS = ("ignores_the_request_id", "last_nonce_wins", "first_nonce_wins")


class Cut(Exception):
    """The connection is closed without an answer."""


class Refused(Exception):
    def __init__(self, status: int, code: str) -> None:
        self.status, self.code = status, code


class Reference(ScriptedProvider):
    def __init__(self, flaw: str = "") -> None:
        self.flaw, self.nonces = flaw, dict[str, None]()
        self.spare, self.longest_wait = 30, "1"
        self._lock = threading.Lock()
        super().__init__(self._behave)
        self.capabilities = ["locale", "localeFallback", "scoring"]

    def waited(self, _: float) -> None:
        """Somebody kept to Retry-After."""
        self.spare = 30

    def _respond(self, asked: Asked) -> Says:
        if asked.method == "GET":
            if self.flaw == "babbling_capabilities":
                return Says(body=b"everything")
            if (code := _CAPABILITIES.get(self.flaw)) is not None:
                return Says(code, b"{}", {"Content-Type": "application/problem+json"})
        return super()._respond(asked)

    def _behave(self, asked: Asked) -> Says:
        try:
            if self.flaw == "limits_the_rate":
                self._count()
            self._verify(asked)
            if self.flaw == "limits_the_rate_after_the_signature":
                self._count()
            return self._answer(self._read(asked))
        except Cut:
            return Says(reset=True)
        except Refused as refused:
            return self._problem(refused)

    def _problem(self, refused: Refused) -> Says:
        if self.flaw == "errors_in_words":
            return Says(refused.status, refused.code.encode(), {"Content-Type": "text/plain"})
        code = "error" if self.flaw == "errors_without_codes" else refused.code
        named = {"errors_called_nearly_right": "application/problem+jsonp"}
        named["capitals_in_the_content_type"] = "Application/Problem+JSON; Charset=UTF-8"
        headers = {"Content-Type": named.get(self.flaw, "application/problem+json")}
        headers |= {"Retry-After": self.longest_wait} if refused.status == 429 else {}
        return Says(refused.status, json.dumps({"code": code}).encode(), headers)

    def _count(self) -> None:
        with self._lock:
            self.spare -= 1
            if self.spare < 0:
                raise Refused(429, "rate_limited")

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
        if asked.headers.get("x-larder-request") != n and self.flaw not in _ONE_NONCE_WINS:
            raise Refused(400, "invalid_request")
        if self.flaw == "nonce_before_signature":
            self._take(n)
        if not self._is_right(t, n, values, asked.body):
            raise Refused(401, "unauthorized")
        window = {"narrow_window": 200, "window_of_309_seconds": 309}.get(self.flaw, 300)
        age = time.time() - int(t)
        if age > window or (age < -window and self.flaw != "only_too_old"):
            raise Refused(401, "stale_timestamp")
        if self.flaw == "nonces_with_their_questions":
            n += asked.body.decode("utf-8", "replace")
        if self.flaw not in ("no_nonces", "nonce_before_signature"):
            self._take(n)

    def _parts(self, header: str) -> tuple[str, str, list[str]]:
        found: dict[str, list[str]] = {"t": [], "n": [], "v1": []}
        for part in re.split(r"\s*,\s*", header):
            key, _, value = part.partition("=")
            found.setdefault(key, []).append(value)
        if self.flaw == "one_order_of_the_header" and not header.startswith("t="):
            raise Refused(400, "invalid_request")
        for flaw, key, kept in _ONE_WINS:
            if self.flaw == flaw:
                found[key] = found[key][kept]
        t, n, values = ",".join(found["t"]), ",".join(found["n"]), found["v1"]
        least, most = {"nonces_of_any_length": (8, 999), "short_nonces": (1, 64)}.get(self.flaw, (8, 64))
        good = re.fullmatch(r"\d{1,10}", t) and re.fullmatch(r"[A-Za-z0-9_-]+", n) and least <= len(n) <= most
        if not good or len(values) > (3 if self.flaw == "three_signatures_at_most" else 4):
            raise Refused(400, "invalid_request")
        if self.flaw == "refuses_a_longer_signature_as_malformed" and any(len(one) > 64 for one in values):
            raise Refused(400, "invalid_request")
        return t, n, values[: {"first_signature_only": 1, "two_signatures_only": 2}.get(self.flaw)]

    def _is_right(self, t: str, n: str, values: list[str], body: bytes) -> bool:
        if self.flaw == "signature_over_json_written_anew":
            body = _anew(body)
        if self.flaw == "reads_64_digits":
            values = [one[:64] for one in values]
        secrets = [SECRET] if self.flaw == "forgets_the_previous_secret" else [SECRET, PREVIOUS]
        right = [hmac.new(one.encode(), f"{t}.{n}.".encode() + body, hashlib.sha256).hexdigest() for one in secrets]
        if self.flaw == "compares_prefixes":
            return any(one.startswith(value) for one in right for value in values)
        return any(hmac.compare_digest(one, value) for one in right for value in values)

    def _take(self, nonce: str) -> None:
        if self.flaw == "check_then_store":
            is_new = nonce not in self.nonces
            time.sleep(0.02)
            self.nonces[nonce] = None
        else:
            with self._lock:
                is_new = nonce not in self.nonces
                self.nonces[nonce] = None
                if self.flaw == "few_nonces":
                    self.nonces = dict.fromkeys(list(self.nonces)[-MOST_KEPT:])
        if not is_new:
            raise Refused(401, "replayed_nonce")

    # --- the question and the answer

    def _read(self, asked: Asked) -> dict[str, Any]:
        self._weigh(asked)
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
        self._crash(question)
        query, limit = question.get("query"), question.get("limit", 10)
        if self.flaw == "reads_numbers_in_text" and limit == "10":
            limit = 10
        least = 0 if self.flaw == "empty_queries" else 1
        if not isinstance(query, str) or type(limit) is not int or not 1 <= limit <= 50:
            raise Refused(400, "invalid_request")
        if not least <= len(query.encode() if self.flaw == "counts_bytes" else query) <= 1024:
            raise Refused(400, "invalid_request")
        if self.flaw == "known_fields_only" and set(question) - _FIELDS:
            raise Refused(400, "invalid_request")
        return {"query": query, "limit": 50 if self.flaw == "more_than_asked_for" else limit}

    def _weigh(self, asked: Asked) -> None:
        if len(asked.body) <= 100_000 or self.flaw == "answers_any_size":
            return
        if self.flaw == "falls_over_at_size":
            raise Refused(500, "unavailable")
        if self.flaw == "dies_of_size":
            self.behave = self._dead
        if self.flaw in ("dies_of_size", "cuts_off_any_size"):
            raise Cut
        raise Refused(400, "invalid_request")

    def _dead(self, _: Asked) -> Says:
        """Started anew after one question."""
        self.behave = self._behave
        return Says(reset=True)

    def _crash(self, question: dict[str, Any]) -> None:
        flaws = {"crashes_on_a_locale": "locale" in question, "crashes_on_a_fallback": "localeFallback" in question}
        control = re.search(r"[\x00-\x1f\x7f]", str(question.get("query")))
        flaws["crashes_on_control_characters"] = control is not None
        if flaws.get(self.flaw):
            raise Refused(500, "unavailable")

    def _answer(self, question: dict[str, Any]) -> Says:
        found = [page for page in PAGES if any(word in page[2] for word in question["query"].split())]
        results = [self._result(*page) for page in found[: question["limit"]]]
        pause = 1.5 if self.flaw == "slow" and len(self.asked) == 2 else 0.0  # the second question is the timed one
        version = 2 if self.flaw == "another_version_in_the_answer" else 1
        kinds = {"called_html": "text/html", "capitals_in_the_content_type": "Application/JSON; Charset=UTF-8"}
        separators = (",", ":") if self.flaw == "no_spaces_in_its_json" else None
        body = json.dumps({"contractVersion": version, "results": results}, separators=separators).encode()
        kind = kinds.get(self.flaw, "application/json; charset=utf-8")
        return Says(200, body, {"Content-Type": kind}, pause=pause)

    def _result(self, ident: str, title: str, snippet: str) -> dict[str, Any]:
        result: dict[str, Any] = {"documentId": ident, "title": title, "snippet": snippet, "audience": "public"}
        result |= {"score": 1 / int(ident), "url": f"https://help.example.com/{ident}"}
        changes: dict[str, dict[str, Any]] = {
            "a_result_without_an_id": {"documentId": None},
            "talks_about_html": {"snippet": "<code>&lt;p&gt; password &amp; more</code>", "title": "<b> or <strong>?"},
            "is_all_html": {"snippet": f"<p class='x'>{snippet}</p>"},
            "a_title_with_line_breaks": {"title": f"{title}\r\n\tand more"},
            "control_characters": {"title": f"{title}\x1b[31m"},
            "no_labels": {"audience": None},
            "internal_for_customers": {"audience": "internal"},
            "labels_in_capitals": {"audience": "Public"},
            "a_freshness_of_its_own": {"freshness": "new"},
            "scoring_without_scores": {"score": None},
            "some_without_a_score": {"score": 0.0 if ident == "1" else None},
            "script_links": {"url": "javascript:alert(1)"},
            "links_with_users": {"url": "https://ada:pass@help.example.com/"},
            "private_links": {"url": "https://10.0.0.7/page"},
            "plain_links": {"url": "http://help.example.com/"},
        }
        changed = result | changes.get(self.flaw, {})
        return {name: value for name, value in changed.items() if value is not None}


def _anew(body: bytes) -> bytes:
    try:
        return json.dumps(json.loads(body.decode()), ensure_ascii=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        return body
