"""Plays who is asked, by whom, and what goes out."""

from __future__ import annotations

import re
from typing import Any
from unicodedata import normalize

from tests.cases import provider_words
from tests.cases.provider_compare import Given, Mismatches, by_table, differs, in_words
from tests.cases.provider_scene import Scene
from tests.cases.provider_stage import tenant
from tests.cases.ssrf_words import Unreadable
from tests.knowledge import ORIGIN, READ_PUBLIC
from tests.scripted_provider import answer, result


def nobody_to_ask(given: Given, expected: Given) -> Mismatches:
    """A widget where no provider is for customers."""
    with Scene() as scene:
        for number, profile in enumerate(given["providers"]):
            scene.add(answer(result("secret", audience="public")), f"p{number}", profile)
        seen = scene.by_route(given.get("route", "widget"))
        inside = sum(
            scene.asked(name) for name, one in scene.registered.items() if one["exposure_profile"] != "customer_safe"
        )
        yield from by_table(
            {
                "results": lambda count: differs("results", count, len(seen.json["results"])),
                "http_status": lambda code: differs("status", code, seen.status),
                "agent_only_queried": lambda count: differs("asked inside", count, inside),
                "queried": lambda count: differs("asked", count, len(scene.queried())),
            },
            expected,
        )


def no_profile(given: Given, expected: Given) -> Mismatches:
    """A registration without a profile can't be made, so nobody can ask it."""
    house = tenant()
    given.get("profile")
    for profile in ({}, {"exposure_profile": None}, {"exposure_profile": ""}, {"exposure_profile": "internal"}):
        made = house.tenant.post(
            "/v1/knowledge/providers", {"name": "x", "base_url": "https://kb.example.com", **profile}
        )
        yield from differs(f"registered with {profile}", 422, made.status)
    yield from differs("providers", [], house.providers())
    yield from by_table(
        {
            "queried": lambda count: differs("queried", count, 0),
            "http_status": lambda code: differs("status", 422 if code == 400 else code, made.status),
            "registration": lambda word: differs("refused", word in ("refused", "reject"), made.status == 422),
        },
        expected,
    )


def selectors(given: Given, expected: Given) -> Mismatches:
    """A body with fields that a caller may not set, or values that break a rule; and a plain question afterwards."""
    with Scene() as scene:
        scene.add(answer(result("public")), "p1")
        scene.add(answer(result("inside")), "p2", "agent_only")
        body = provider_words.written_out({"query": "x", **given["body"]})
        body = {name: scene.registered["p2"]["id"] if "rovider" in name else value for name, value in body.items()}
        first = scene.by_route(given.get("route"), **body)
        asked = scene.asked("p1")
        plain = scene.by_route(given.get("route"))
        widget = "widget" in str(given.get("route"))
        code = expected.get("http_status", first.status)
        if widget:
            yield from differs("asked inside", 0, scene.asked("p2"))
            code = 403 if code >= 400 else code  # every refusal to a page is one
        yield from differs("answer", 422 if code == 400 else code, first.status)
        yield from differs("status", 200, plain.status)
        yield from by_table(
            {
                "queried": in_words(r"customer_safe|only|none|0", differs("asked inside", 0, scene.asked("p2"))),
                "unknown_fields": in_words(r"4\d\d|refuse|reject", differs("refused", True, 400 <= first.status < 500)),
                "http_status": lambda _: iter(()),
                "provider_called": lambda wanted: differs("asked", wanted, asked > 0),
                "requests_sent": lambda count: differs("asked", count, asked),
                "results": lambda count: differs("results", count, len(first.json.get("results", []))),
            },
            expected,
        )


def by_token(given: Given, expected: Given) -> Mismatches:
    """Somebody with a token of this class asks by this route."""
    word = str(given.get("token") or given.get("caller") or given.get("credential")).lower()
    with Scene() as scene:
        scene.add(answer(result("public")), "p1")
        scene.add(answer(result("inside")), "p2", "agent_only")
        house = scene.house
        tokens = {"widget": house.widget, "assistant": house.assistant, "agent": house.agent}
        tokens |= {"admin": house.tenant.admin_token, "api": house.tenant.api_token}
        token = next((value for name, value in tokens.items() if name in word), None)
        if token is None:
            raise Unreadable(word)
        if given.get("capabilities") == []:
            path = f"/v1/assistants/{house.assistant_id}/capabilities/{READ_PUBLIC}"
            house.deployment.request("DELETE", path, house.tenant._headers())
        route = "/v1/widget/search" if "widget" in str(given.get("route")) else "/v1/knowledge/search"
        headers = {"Authorization": f"Bearer {token}", "Origin": ORIGIN}
        seen = house.deployment.request("POST", route, headers, {"query": "x"})
        yield from by_table(
            {
                "http_status": lambda code: differs("refused", code >= 400, seen.status >= 400),
                "queried": lambda wanted: _profiles(wanted, scene),
                "agent_only_queried": lambda count: differs("asked inside", count, scene.asked("p2")),
                "results": lambda count: differs("results", count, len(seen.json.get("results", []))),
                "refused": lambda wanted: differs("refused", wanted, seen.status >= 400),
            },
            expected,
        )


def _profiles(wanted: Any, scene: Scene) -> Mismatches:
    """Which profiles were asked: a list of them, or in words."""
    if isinstance(wanted, int):
        yield from differs("asked", wanted, scene.asked("p1") + scene.asked("p2"))
        return
    words = " ".join(wanted) if isinstance(wanted, list) else str(wanted)
    named = {profile for profile in ("customer_safe", "agent_only") if profile in words}
    if re.search("both|all", words):
        named = {"customer_safe", "agent_only"}
    if not named and words and not re.search("none|nobody", words):
        raise Unreadable(words)
    yield from differs("asked", named, scene.queried())


def what_goes_out(given: Given, expected: Given) -> Mismatches:
    """The body that each provider gets, whatever it declares and whatever was asked."""
    declared = given.get("capabilities") or {"p1": ["locale", "localeFallback", "scoring"]}
    if isinstance(declared, list):
        declared = {"p1": declared}
    asked = given.get("request") or {"locale": "de-DE", "localeFallback": True, "conversationId": "c-1"}
    profile = given.get("profile", "customer_safe")
    wanted = {"send_conversation_id": True} if given.get("send_conversation_id") else {}
    if given.get("call", "retrieve") not in ("retrieve", "search"):
        raise Unreadable(str(given["call"]))
    with Scene() as scene:
        if wanted and profile == "customer_safe":
            yield from _no_conversation_with_customers(scene)
            wanted = {}
        for name, words in declared.items():
            scene.add(answer(), name, profile, capabilities=words, **wanted)
        asked = {name: value for name, value in asked.items() if name != "query"}
        if "widget" in str(given.get("route")):
            asked.pop("conversationId", None)
        yield from differs("status", 200, scene.by_route(given.get("route"), **asked).status)
        sent = {name: scene.providers[name].questions[0].json for name in declared if scene.asked(name)}
        first: dict[str, Any] = next(iter(sent.values()), {})
        for key, value in expected.items():
            if key == "body_keys_subset_of":
                for name, body in sent.items():
                    yield from differs(f"more than may go out to {name}", set(), set(body) - set(value))
            elif key.removesuffix("_keys") in declared:
                yield from differs(key, sorted(value), sorted(sent[key.removesuffix("_keys")]))
            elif re.search(r"context|conversation", key) and isinstance(value, bool):
                yield from differs(key, value, "context" in first)
            elif key in ("body_keys", "keys"):
                yield from differs(key, sorted(value), sorted(first))
            elif key in ("rule", "note"):
                pass
            else:
                raise Unreadable(key)


def _no_conversation_with_customers(scene: Scene) -> Mismatches:
    body = {"name": "talks", "base_url": "https://kb.example.com", "exposure_profile": "customer_safe"}
    made = scene.house.tenant.post("/v1/knowledge/providers", {**body, "send_conversation_id": True})
    yield from differs("registered with conversations", 422, made.status)


def queries(given: Given, expected: Given) -> Mismatches:
    """Each query goes out as it came, so that none is answered for another. Trimmed and in NFC two may be one (3.4)."""
    known = {normalize("NFC", query.strip()) for query in given["queries"]}
    with Scene() as scene:
        scene.add(lambda asked: answer(result(title=f"about {asked.json['query']}")))
        for query in given["queries"]:
            seen = scene.by_route("agent", query=query)
            title = normalize("NFC", seen.json["results"][0]["title"])
            yield from differs("answer", f"about {normalize('NFC', query)}".strip(), title.strip())
        asked, count = scene.asked(), len(given["queries"])
        yield from differs("requests", len(known), asked)
        if set(expected) - {"rule", "note"}:
            yield from by_table(
                {
                    "requests_sent": lambda wanted: differs("asked", wanted, asked),
                    "distinct_keys": lambda wanted: differs("keys", wanted, asked),
                    "cache_hits": lambda wanted: differs("hits", wanted, count - asked),
                    "cross_hits": lambda wanted: differs("hits", wanted, count - asked),
                    "cache_hit": lambda wanted: differs("hit", wanted, asked < count),
                    "second_cache_hit": lambda wanted: differs("hit", wanted, asked < count),
                    "same_key": lambda wanted: differs("one key", wanted, asked == 1),
                    "same_entry": lambda wanted: differs("one key", wanted, asked == 1),
                },
                expected,
            )
