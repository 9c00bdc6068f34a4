"""What a case's words say a provider answers, as bytes on the wire."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from collections.abc import Callable
from typing import Any

from tests.cases.ssrf_words import Unreadable
from tests.scripted_provider import JSON, Says, answer, result, status

_TIMES = re.compile(r"(.+?) ?(?:\*|x|×) ?(\d[\d_,]*)", re.DOTALL)


def response(given: Any, *, content_type: str | None = JSON) -> Says:
    """The response that ``given`` describes: a JSON value, a text, or one of the words with an underscore before."""
    headers = {} if content_type is None else {"Content-Type": content_type}
    if isinstance(given, dict) and ("status" in given or "location" in given or "_status" in given):
        code = int(given.get("status") or given.get("_status") or 302)
        moved = {"Location": given["location"]} if "location" in given else {}
        return Says(code, json_bytes(given["body"]) if "body" in given else b"", {**headers, **moved})
    if isinstance(given, dict) and any(name.startswith("_") and name[1:] in _SPECIAL for name in given):
        name = next(name for name in given if name.startswith("_") and name[1:] in _SPECIAL)
        if "_content_type" in given:
            headers["Content-Type"] = given["_content_type"]
        special: Callable[[Any], bytes] = _SPECIAL[name[1:]]
        return Says(200, special(given[name]), headers)
    if isinstance(given, str):
        return Says(200, given.encode("utf-8", "surrogatepass"), headers)
    return Says(200, json_bytes(given), headers)


def json_bytes(value: Any) -> bytes:
    """``value`` as JSON: words such as ``T*100000`` written out, and infinity as a number that JSON has."""
    infinite = {math.inf: "1e999", -math.inf: "-1e999"}
    marks: dict[str, str] = {}

    def plain(one: Any) -> Any:
        if isinstance(one, dict):
            return {name: plain(inner) for name, inner in one.items()}
        if isinstance(one, list):
            return [plain(inner) for inner in one]
        if isinstance(one, float) and one in infinite:
            mark = f"infinite-{len(marks)}"
            marks[f'"{mark}"'] = infinite[one]
            return mark
        found = _TIMES.fullmatch(one) if isinstance(one, str) else None
        return found[1].strip("'\"") * int(re.sub("[_,]", "", found[2])) if found and len(found[1]) <= 4 else one

    text = json.dumps(plain(value))
    for mark, number in marks.items():
        text = text.replace(mark, number)
    return text.encode()


def written_out(value: Any) -> Any:
    """``value`` with words such as ``x*1025`` written out."""
    return json.loads(json_bytes(value))


def padded(size: int) -> bytes:
    """A right answer of exactly ``size`` bytes."""
    head = (
        b'{"contractVersion": 1, "results": [{"documentId": "d1", "title": "T", "snippet": "S", "audience": "public"}]'
    )
    return head + b', "pad": "' + b"x" * (size - len(head) - 12) + b'"}'


def bomb(decoded: int) -> Says:
    """A right answer of ``decoded`` bytes, a few when it is packed."""
    return Says(200, gzip.compress(padded(decoded)), {"Content-Type": JSON, "Content-Encoding": "gzip"})


def _generated(words: str) -> bytes:
    found = re.fullmatch(r"'(.+?)' ?[x*] ?(\d+)", words)
    if found is None:
        raise Unreadable(words)
    return (found[1] * int(found[2])).encode()


def _results(count: int) -> bytes:
    one = {"documentId": "d", "title": "T", "snippet": "S", "audience": "public"}
    return json.dumps(
        {"contractVersion": 1, "results": [{**one, "documentId": f"d{n}"} for n in range(count)]}
    ).encode()


def behaviour(words: str, *, patient: bool = False) -> Says:
    """The answer of a provider in a word or two. ``patient``: a provider that is silent stays silent in earnest."""
    lowered = words.lower()
    if re.search(r"drip|trickl|byte (?:by byte|(?:a|per|every))|slow ?loris", lowered):
        return Says(body=padded(1_000), each_byte=0.2)
    if re.search(r"\btime[ _-]?outs?\b|\btimed out\b|\bhangs?\b|\bslow\b|silent|never answers|no answer", lowered):
        return Says(pause=60.0) if patient else Says(reset=True)
    if re.search(r"reset|connection (?:refused|closed|lost|error)|drops?\b|closes", lowered):
        return Says(reset=True)
    if re.search(r"redirect", lowered):
        return Says(302, b"", {"Location": "https://kb2.example.com/retrieve"})
    if (found := re.search(r"\b([2345]\d\d)\b", lowered)) and found[1] != "200":
        wait = re.search(r"retry-after[ :=]*(\d+)", lowered)
        return status(int(found[1]), **({"Retry_After": wait[1]} if wait else {}))
    if re.search(r"\b(?:malformed|invalid|broken|garbage|not json|bad json)\b", lowered):
        return Says(body=b"{")
    if re.search(r"\bunsupported|version 2\b", lowered):
        return Says(body=b'{"contractVersion": 2, "results": []}')
    if re.search(r"\bempty\b|\bno results\b", lowered):
        return answer()
    if found := re.search(
        r"\b(?:ok|okay|success(?:es|ful)?|succeeds?|answers?|200|recovers?|healthy)\b(?:.*?(\d+) results?)?", lowered
    ):
        return answer(*(result(f"d{number}") for number in range(int(found[1] or 1))))
    raise Unreadable(words)


def class_of(words: str) -> str | None:
    """The class of failure that an answer in words is (spec 3.4); None for a success."""
    says = behaviour(words)
    if says.each_byte or says.reset:
        return "transient"
    if says.status in (401, 403):
        return "configuration"
    if says.status == 429 or says.status >= 500:
        return "transient"
    return "contract" if says.status != 200 or b'"contractVersion": 1' not in says.body else None


_SPECIAL: dict[str, Callable[[Any], bytes]] = {
    "bytes": lambda size: padded(int(size)),
    "generator": _generated,
    "results": _results,
    "raw": lambda text: str(text).encode("utf-8", "surrogatepass"),
    "raw_b64": base64.b64decode,
    "b64": base64.b64decode,
    "hex": bytes.fromhex,
    "body": lambda text: text.encode() if isinstance(text, str) else json_bytes(text),
}
