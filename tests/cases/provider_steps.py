"""One step of a story in words: somebody asks, an admin changes something, or a provider behaves from now on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.cases import provider_acts
from tests.cases.provider_scene import words_of
from tests.cases.provider_stage import tenant
from tests.cases.provider_tale import Seen, Story
from tests.cases.provider_words import behaviour
from tests.knowledge import Household
from tests.scripted_provider import answer, result
from tests.tenants import Answer

_COUNTED = r"(\d{1,2}|two|three|four|five|six|ten)(?: ?[x×*])? (?!s\b|sec|m\b|min|h\b|hour|d\b|day)(\D.*?|\d{3}s?)"


def expanded(steps: list[Any]) -> Iterator[Any]:
    """Steps one by one: "500 x5" and "five timeouts" are five."""
    numbers = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
    for step in steps:
        found = re.fullmatch(r"(.+?) ?[x×*] ?(\d+)", str(step))
        if found:
            yield from [found[1]] * int(found[2])
        elif found := re.fullmatch(_COUNTED, str(step), re.I):
            yield from [re.sub(r"(\w{3,})s$", r"\1", found[2])] * (numbers.get(found[1].lower()) or int(found[1]))
        else:
            yield step


def take(story: Story, step: Any) -> None:
    """Do what the step says, at its time."""
    words = story.scene.clock.move(str(step))
    before = (story.scene.asked(), story.scene.kept)
    for pattern, act, is_question in _ACTS:
        if found := re.search(pattern, words, re.I):
            got, asks = act(story, words, found), is_question
            break
    else:
        got, asks = _behaves(story, words), True
    story.seen.append(Seen(words, asks, got, story.scene.asked() - before[0], story.scene.kept - before[1]))


def _behaves(story: Story, words: str) -> Answer:
    story.scene.providers["p1"].behave = behaviour(words)
    got = story.scene.by_route(story.route, query=story.query)
    if got.json.get("results") or "ok" in words_of(got):
        story.query += "'"  # an answer that was kept would stand before the next behaviour
    return got


# --- who asks


def _asks(story: Story, words: str, found: re.Match[str]) -> Answer:
    """An agent, an assistant or a page, of this tenant or another, with a query and what goes with it."""
    who, number = found["who"].lower(), (found["number"] or "").lower()
    house = _house(story, found["tenant"])
    rest = words[found.end() :]
    more: dict[str, Any] = {"query": _query(rest)}
    if re.search("conversation", rest, re.I):
        more["conversationId"] = "c-1"
    if limit := re.search(r"limit[ =:]*(\d+)", rest, re.I):
        more["limit"] = int(limit[1])
    if tag := re.search(r"(?:locale|in)[ =:]*([a-z]{2,3}(?:-\w+)*)\b", rest, re.I):
        more["locale"] = tag[1]
    if who in ("widget", "page", "visitor"):
        return house.visit(**more)
    if who in ("assistant", "customer"):
        return house.ask(token=house.assistant, **more)
    if number in ("", "a", "1", "one"):
        return house.ask(**more)
    token = story.agents.get(number) or house.tenant.post("/v1/agents", {"name": f"Bob {number}"}).json["token"]
    story.agents[number] = token
    return house.ask(token=token, **more)


def _query(rest: str) -> str:
    found = re.search(r"\b(?:query|quer(?:ies)|asks?|searche?s?|question)?\s*['\"](.+?)['\"]", rest) or re.search(
        r"\b(q\d*)\b", rest
    )
    return found[1] if found else "q"


def _house(story: Story, letter: str | None) -> Household:
    """Another tenant has a registration of its own, of the same provider."""
    name = (letter or "a").lower()
    if name in ("a", "1", "one") or not letter:
        return story.scene.house
    if name not in story.houses:
        story.houses[name] = tenant()
        story.houses[name].register(story.scene.providers["p1"], story.scene.row()["exposure_profile"], name="p1")
    return story.houses[name]


_FIELDS = "priority|base_url|capabilities|name|status|allow_private_network|send_conversation_id"
_ACTS: list[tuple[str, Callable[[Story, str, re.Match[str]], Answer], bool]] = [
    (r"^$", provider_acts.nothing, False),
    (r"^(?:revoke|withdraw|grant)\b.*\bagent", provider_acts.dismiss, False),
    (r"^(?:deactivate|disable|revoke|delete|remove)\b.*\bagent\b", provider_acts.dismiss, False),
    (r"^(grant|revoke|withdraw)\b.*(?:capabilit|assistant|knowledge:|read_public)", provider_acts.grant, False),
    (r"^(?:delete|remove)s?\b.*\b(?:provider|registration|p1)\b|^delete$", provider_acts.delete, False),
    (r"^rotate", provider_acts.rotate, False),
    (r"^(?:admin )?(disable|enable|reactivate|re-enable)[sd]?\b", provider_acts.switch, False),
    (rf"^(?:admin )?(?:patch|change|set|edit|update)\w*\b.*?\b(?P<field>{_FIELDS})\b", provider_acts.change, False),
    (
        r"^(?:config\w* change|(?:patch|change)[sd]?(?: the)?(?: provider| config\w*| registration)?$)",
        provider_acts.reconfigure,
        False,
    ),
    (r"^refresh", provider_acts.refresh, False),
    (r"^(?:admin )?tests?\b|^test route", provider_acts.try_out, False),
    (
        r"^(?:tenant[ -]?(?P<tenant>[a-z\d]+)(?:'s)?[:,]? )?"
        r"(?P<who>agent|assistant|widget|customer|page|visitor)\b(?: (?P<number>[a-d\d]|one|two|other))?\b(?!')",
        _asks,
        True,
    ),
    (r"^(?P<who>(?=tenant))tenant[ -]?(?P<tenant>[a-z\d]+)\b(?P<number>)", _asks, True),
    (r"^(?:revoke|patch|post|put|get|grant|withdraw|admin|tenant)\b", provider_acts.refuse, False),
]


def plain() -> Any:
    """What a provider answers to whom nothing else was said."""
    return answer(result("d1"))
