"""What the server of a case says: raw bytes, headers and a body, words, a script, or the hops of a redirect."""

from __future__ import annotations

import base64
import contextlib
import re
from collections.abc import Iterable
from itertools import chain
from typing import Any
from urllib.parse import urljoin

from chalicelib.fetching.errors import FetchError
from chalicelib.fetching.ssrf import parse_url
from tests.cases import ssrf_words as words
from tests.cases.ssrf_words import Step
from tests.cases.ssrf_world import Answer, Request


def answer_of(given: dict[str, Any]) -> Answer:
    """What the server says to a request: the hops of a redirect, a script, or the case's one response."""
    if given.get("kind") == "script" or "steps" in given:
        return lambda request: words.script(given["steps"])
    hops = given.get("hops") or []
    final = given.get("final") or given.get("response") or {}
    plain: dict[str, Any] = {"body": "<p>ok</p>", "headers": {"Content-Type": "text/html; charset=utf-8"}}
    if isinstance(final, str):
        final = {"raw": final}
    if isinstance(final.get("headers"), dict) and not _names_type(final["headers"]):
        final = {**final, "headers": {**plain["headers"], **final["headers"]}}
    source = given if given.get("kind") == "response" else {**plain, **final}
    ready = (
        list(_parts(source)) if not hops and not _is_endless(source) else None
    )  # words are read before the clock runs

    def answer(request: Request) -> Iterable[Step]:
        for hop in hops:
            if _is_at(str(hop.get("at", "*")), request):
                return _redirect(hop)
        return ready if ready is not None else _parts(source)

    return answer


def _names_type(headers: dict[str, Any]) -> bool:
    return "content-type" in map(str.lower, headers)


def _is_endless(source: dict[str, Any]) -> bool:
    return bool(words.ENDLESS.search(str(source)) or re.search(r"[gG]i?B|zeros", str(source)))


def _is_at(place: str, request: Request) -> bool:
    if place == "*":
        return True
    with contextlib.suppress(FetchError):
        return parse_url(urljoin(request.url, place)).url == parse_url(request.url).url
    return place == request.target


def _redirect(hop: dict[str, Any]) -> Iterable[Step]:
    headers = {"Location": hop["location"]} if hop.get("location") is not None else {}
    response = {"status": hop.get("status", 302), "headers": {**headers, **(hop.get("headers") or {})}}
    body = {key: value for key, value in hop.items() if key.startswith("body")}
    if "body" in body and words.ENDLESS.search(str(body["body"])):
        body = {"body_generator": body["body"]}
    return _parts({**response, **(body or {"body": ""})})


def _parts(source: dict[str, Any]) -> Iterable[bytes]:
    """The bytes of a response in pieces."""
    if "raw" in source:
        return [str(source["raw"]).encode("utf-8")]
    if "raw_b64" in source or "raw_hex" in source:
        return [base64.b64decode(source["raw_b64"]) if "raw_b64" in source else bytes.fromhex(source["raw_hex"])]
    for key in ("raw_template", "raw_generator"):
        if key in source:
            return _raw_from_words(str(source[key]))
    headers = _header_fields(source)
    body = _body_parts(source, {name.lower(): value.lower() for name, value in headers})
    names = {name.lower() for name, _ in headers}
    if not names & {"transfer-encoding", "content-length"} and isinstance(body, list):
        headers.append(("Content-Length", str(sum(map(len, body)))))
    lines = [f"HTTP/1.1 {source.get('status', 200)} OK", *(f"{name}: {value}" for name, value in headers)]
    return chain(["\r\n".join(lines).encode("utf-8") + b"\r\n\r\n"], body)


def _header_fields(source: dict[str, Any]) -> list[tuple[str, str]]:
    """Headers as an object, with a list for a repeated one, or as a list of pairs; a body alone is an HTML page."""
    given = source.get("headers")
    if given is None:
        return [] if "status" in source else [("Content-Type", "text/html; charset=utf-8")]
    pairs = list(given.items()) if isinstance(given, dict) else [tuple(pair) for pair in given]
    return [(str(name), str(one)) for name, value in pairs for one in (value if isinstance(value, list) else [value])]


def _raw_from_words(text: str) -> Iterable[bytes]:
    """A whole response, or header lines to put in an ordinary one."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n"
    if words.ENDLESS.search(text):
        return words.pieces(text) if text.lstrip("'\"").startswith("HTTP/") else chain([head], words.pieces(text))
    data = words.whole(text)
    if not data.startswith(b"HTTP/"):
        return [head, data if data.endswith(b"\r\n") else data + b"\r\n", b"\r\nok"]
    return [data] if b"\r\n\r\n" in data else [data.rstrip(b"\r\n"), head[head.index(b"\r\n") :], b"\r\nok"]


def _body_parts(source: dict[str, Any], headers: dict[str, str]) -> Iterable[bytes]:
    is_chunked = "chunked" in headers.get("transfer-encoding", "")
    spoken = str(source.get("body_template", source.get("body_generator", "")))
    if "body_b64" in source or "body_hex" in source:
        encoded = source.get("body_b64")
        data: Iterable[bytes] = [bytes.fromhex(source["body_hex"]) if encoded is None else base64.b64decode(encoded)]
    elif spoken:
        data = words.pieces(spoken) if _is_endless(source) else list(words.pieces(spoken))
        if is_chunked and "chunk" in spoken:
            return data
    else:
        data = [words.compress(str(source.get("body", "")).encode("utf-8"), headers.get("content-encoding", ""))]
    return words.chunked(data) if is_chunked else data
