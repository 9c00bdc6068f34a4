"""Plays how many answers become one, and what is said of their languages."""

from __future__ import annotations

from itertools import zip_longest

from tests.cases.provider_compare import Given, Mismatches, by_table, differs
from tests.cases.provider_scene import Scene
from tests.scripted_provider import answer, result


def order(given: Given, expected: Given) -> Mismatches:
    """Rows of (provider, priority, score), each a provider with one result."""
    declared = given.get("capabilities")
    with Scene() as scene:
        for name, priority, *score in given["results"]:
            scored = {"score": score[0]} if score and score[0] is not None else {}
            capabilities = ["scoring"] if scored else []
            if declared is not None:
                capabilities = declared.get(name, []) if isinstance(declared, dict) else list(declared)
            scene.add(answer(result(**scored)), name, priority=priority, capabilities=capabilities)
        seen = scene.house.ask(**({"limit": given["limit"]} if "limit" in given else {}))
        names = [one["providerName"] for one in seen.json["results"]]
        yield from by_table(
            {
                "order": lambda order: differs("order", order, names),
                "results": lambda count: differs("results", count, len(names)),
            },
            expected,
        )


def band(given: Given, expected: Given) -> Mismatches:
    """Providers at one priority: the scored first, then the others in turns, and so every time."""
    with Scene() as scene:
        scored: list[tuple[float, str]] = []
        plain: list[list[str]] = []
        for words, values in given["results"].items():
            name, _, kind = words.partition(" ")
            scores = kind.startswith("scor")
            names = [value if isinstance(value, str) else f"{name}-{n}" for n, value in enumerate(values)]
            given_scores = [{"score": value} if scores else {} for value in values]
            items = [result(ident, **more) for ident, more in zip(names, given_scores, strict=True)]
            scene.add(answer(*items), name, capabilities=["scoring"] if scores else [])
            if scores:
                scored += [(-value, ident) for value, ident in zip(values, names, strict=True)]
            else:
                plain.append(names)
        turns = [ident for turn in zip_longest(*plain) for ident in turn if ident is not None]
        wanted = expected.get("order") or [ident for _, ident in sorted(scored, key=lambda pair: pair[0])] + turns
        for _ in range(3):
            yield from differs("order", wanted, [one["documentId"] for one in scene.house.ask().json["results"]])


def same_document(given: Given, expected: Given) -> Mismatches:
    with Scene() as scene:
        for name in given["providers"]:
            scene.add(answer(result(given["documentId"])), name)
        found = scene.house.ask().json["results"]
        yield from by_table(
            {
                "results": lambda count: differs("results", count, len(found)),
                "order": lambda names: differs("order", names, [one["providerName"] for one in found]),
            },
            expected,
        )


def language(given: Given, expected: Given) -> Mismatches:
    claimed = given.get("envelope_returnedLocale")
    asked = given.get("requested") or given.get("locale") or claimed
    locales = given.get("surviving_locales") or given.get("result_locales") or [given.get("result_locale")]
    items = [result(f"d{n}", **({} if tag is None else {"locale": tag})) for n, tag in enumerate(locales)]
    dropped = result("dropped", audience="internal", locale=claimed) if claimed else None
    with Scene() as scene:
        said = {"returnedLocale": claimed} if claimed else {}
        scene.add(
            answer(*items, *([dropped] if dropped else []), **said), capabilities=given.get("capabilities", ["locale"])
        )
        seen = scene.house.ask(**({"locale": asked} if asked else {})).json
        first = seen["results"][0]
        fallback = expected.get("localeFallback")
        wanted = fallback if isinstance(fallback, bool) else "true" in str(fallback)
        yield from by_table(
            {
                "localeFallback": lambda _: differs("fallback", wanted, first["localeFallback"]),
                "returnedLocale": lambda value: differs("returnedLocale", value, seen["returnedLocale"]),
                "locale": lambda value: differs("locale", value, first["locale"]),
            },
            expected,
        )
