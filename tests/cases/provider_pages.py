"""Plays what a page in a browser sees of its route: origins, headers, cookies, and refusals that tell nothing."""

from __future__ import annotations

import re
from typing import Any

from tests.cases.provider_compare import Given, Mismatches, by_table, differs
from tests.cases.provider_scene import Scene
from tests.cases.ssrf_words import Unreadable
from tests.knowledge import ORIGIN, Household
from tests.scripted_provider import answer, result
from tests.tenants import Answer

ROUTES = {"widget": "/v1/widget/search", "agent": "/v1/knowledge/search", "assistant": "/v1/knowledge/search"}


def page(given: Given, expected: Given) -> Mismatches:
    """A request by a route, from an origin: what its answer says in its head."""
    with Scene() as scene:
        scene.add(answer(result()))
        method = str(given.get("method") or expected.get("method") or "POST")
        origin = _origin(given["origin"]) if "origin" in given else ORIGIN
        route = str(given.get("route") or "widget")
        sent = {**(given.get("headers") or {}), **({"Origin": origin} if origin is not None else {})}
        seen = _request(scene.house, method, route, sent, given.get("token"))
        other = _request(scene.house, "GET", route, {"Origin": ORIGIN}, None)
        yield from differs("GET", True, other.status >= 400)
        head = seen.headers
        yield from by_table(
            {
                "method": lambda _: differs("status", 200, seen.status),
                "http_status": lambda code: differs("status", code, seen.status),
                "refused": lambda wanted: differs("refused", wanted, seen.status >= 400),
                "results": lambda count: differs("results", count, len(seen.json.get("results", []))),
                "queried": lambda count: differs("asked", count, scene.asked()),
                "provider_called": lambda wanted: differs("asked", wanted, scene.asked() > 0),
                "requests_sent": lambda count: differs("asked", count, scene.asked()),
                "headers": lambda wanted: _head(wanted, head),
                "headers_absent": lambda names: _head(dict.fromkeys(names), head),
                "must_not_have_headers": lambda names: _head(dict.fromkeys(names), head),
                "set_cookie": lambda value: differs("set-cookie", bool(value), "set-cookie" in head),
                "cookies": lambda value: differs("cookies", bool(value), "set-cookie" in head),
                "Set-Cookie": lambda value: differs("set-cookie", value or None, head.get("set-cookie")),
                **{name: lambda value: _allowed(value, origin, head) for name in _ALLOW},
                "allow_credentials": lambda value: differs(
                    "credentials", bool(value), "access-control-allow-credentials" in head
                ),
            },
            expected,
        )


_ALLOW = ("allow_origin", "access_control_allow_origin", "cors_header", "cors", "acao")


def _allowed(value: Any, origin: str | None, head: dict[str, str]) -> Mismatches:
    found = head.get("access-control-allow-origin")
    if isinstance(value, bool):
        yield from differs("allowed", value, found == origin and found is not None)
    elif value is None or re.search(r"absent|none|missing", str(value), re.I):
        yield from differs("allowed", None, found)
    else:
        yield from differs("allowed", str(value), found)


def _head(wanted: dict[str, Any], head: dict[str, str]) -> Mismatches:
    for name, value in wanted.items():
        is_absent = value is None or value in ("absent", False)
        yield from differs(name, None if is_absent else value, head.get(name.lower()))


def _origin(word: Any) -> str | None:
    """An origin, or the words for one: that of the page, another, none."""
    if word is None or re.fullmatch(r"none|absent|missing|no origin", str(word), re.I):
        return None
    if "://" in str(word) or word == "null":
        return str(word)
    if re.search(r"other|wrong|unlisted|unknown|foreign|not (?:listed|allowed)|evil", str(word), re.I):
        return "https://evil.example.net"
    if re.search(r"listed|allowed|right|stored|own", str(word), re.I):
        return ORIGIN
    raise Unreadable(str(word))


def _request(house: Household, method: str, route: str, headers: dict[str, Any], token: Any) -> Answer:
    kind = next((kind for kind in ("widget", "assistant") if kind in route), "agent")
    path = route.split()[-1] if "/" in route else ROUTES[kind]
    tokens = {"widget": house.widget, "assistant": house.assistant, "agent": house.agent}
    bearer = tokens[kind] if token is None else tokens.get(str(token), str(token))
    named = {"Authorization": f"Bearer {bearer}"} | {name: str(value) for name, value in headers.items()}
    return house.deployment.request(method, path, named, None if method in ("GET", "OPTIONS") else {"query": "x"})


# --- refusals


def refusals(given: Given, expected: Given) -> Mismatches:
    """Everything that may be wrong with a page's request, one after the other: all refusals are one."""
    words = next(given[name] for name in REFUSALS if name in given)
    with Scene() as scene:
        scene.add(answer(result()))
        given.get("route")
        seen = [_refused(scene.house, str(word)) for word in words]
        yield from differs("refused", [True] * len(seen), [one.status >= 400 for one in seen])
        statuses, bodies = {one.status for one in seen}, [one.json for one in seen]
        same = all(body == bodies[0] for body in bodies)
        alike = ("same_body", "identical_body", "identical_bodies", "bodies_equal", "same_bodies", "body_identical")
        yield from by_table(
            {
                **{name: lambda wanted: differs("same body", bool(wanted), same) for name in alike},
                **{
                    name: lambda wanted: differs("same status", bool(wanted), len(statuses) == 1)
                    for name in ("same_status", "same_status_class", "status_identical", "same_class", "statuses_equal")
                },
                "same": lambda wanted: differs("same", bool(wanted), same and len(statuses) == 1),
                "identical": lambda wanted: differs("same", bool(wanted), same and len(statuses) == 1),
                "distinguishable": lambda wanted: differs("same", not wanted, same and len(statuses) == 1),
                "distinct_bodies": lambda count: differs("bodies", count, len({str(body) for body in bodies})),
                "distinct_statuses": lambda count: differs("statuses", count, len(statuses)),
                "http_status": lambda code: differs("statuses", {code}, statuses),
                "queried": lambda count: differs("asked", count, scene.asked()),
                "provider_called": lambda wanted: differs("asked", wanted, scene.asked() > 0),
            },
            expected,
        )


REFUSALS = ("refusals", "reasons", "attempts", "refused_for", "causes", "failures")


def _refused(house: Household, words: str) -> Answer:
    """One request that is to be refused for the reason that ``words`` give."""
    headers: dict[str, str] = {"Authorization": f"Bearer {house.widget}", "Origin": ORIGIN}
    body: Any = {"query": "x"}
    lowered = words.lower()
    if re.search(r"origin", lowered):
        headers["Origin"] = "https://evil.example.net"
        if re.search(r"no |missing|absent|without", lowered):
            del headers["Origin"]
    elif re.search(r"(?:no|missing|absent|without a?) ?token", lowered):
        del headers["Authorization"]
    elif re.search(r"revoked|deleted|expired|inactive|disabled", lowered):
        made = house.tenant.post("/v1/widgets", {"name": "Gone", "origins": [ORIGIN]}).json
        house.deployment.request("DELETE", f"/v1/widgets/{made['id']}", house.tenant._headers())
        headers["Authorization"] = f"Bearer {made['token']}"
    elif re.search(r"agent|assistant|admin|api", lowered):
        tokens = {"agent": house.agent, "assistant": house.assistant, "admin": house.tenant.admin_token}
        kind = next((name for name in tokens if name in lowered), None)
        headers["Authorization"] = f"Bearer {tokens[kind] if kind else house.tenant.api_token}"
    elif re.search(r"(?:wrong|bad|unknown|invalid|malformed|random|forged) token", lowered):
        headers["Authorization"] = "Bearer not-a-token"
    elif re.search(r"limit|body|query|field|json", lowered):
        body = {"query": "x", "limit": 11} if "limit" in lowered else {"query": "", "colour": 1}
    else:
        raise Unreadable(words)
    return house.deployment.request("POST", ROUTES["widget"], headers, body)
