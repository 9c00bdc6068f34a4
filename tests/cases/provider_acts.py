"""What an admin does in a story, in words."""

from __future__ import annotations

import re
from typing import Any

from tests.cases.provider_tale import Story
from tests.cases.ssrf_words import Unreadable
from tests.knowledge import READ_PUBLIC
from tests.tenants import Answer


def delete(story: Story, words: str, found: re.Match[str]) -> Answer:
    return story.scene.house.remove(story.scene.registered["p1"])


def rotate(story: Story, words: str, found: re.Match[str]) -> Answer:
    overlap = re.search(r"overlap(?:_seconds)?[ =:]*(\d+)", words, re.I)
    body = {"overlap_seconds": int(overlap[1])} if overlap else {}
    return story.scene.house.act(story.scene.registered["p1"], "rotate-secret", body)


def switch(story: Story, words: str, found: re.Match[str]) -> Answer:
    status = "disabled" if found[1].lower().startswith("dis") else "active"
    return story.scene.house.change(story.scene.registered["p1"], status=status)


def change(story: Story, words: str, found: re.Match[str]) -> Answer:
    """A change of the field that is named, to the value that is named or to another than it has."""
    row, field_ = story.scene.row(), found["field"].lower()
    other: dict[str, Any] = {
        "priority": row["priority"] + 1,
        "base_url": f"{story.scene.providers['p1'].url}/moved",
        "capabilities": ["scoring"] if row["capabilities"] != ["scoring"] else [],
        "name": "renamed",
        "status": "disabled",
        "allow_private_network": not row["allow_private_network"],
        "send_conversation_id": not row["send_conversation_id"],
    }
    changes = {field_: other[field_]}
    if field_ == "priority" and (number := re.search(r"\d+", words[found.end() :])):
        changes["priority"] = int(number[0])
    if field_ == "status" and (word := re.search(r"active|disabled", words[found.end() :])):
        changes["status"] = word[0]
    acknowledge = {"acknowledge": "ssrf-risk"} if field_ == "allow_private_network" else {}
    return story.scene.house.change(row, **changes, **acknowledge)


def reconfigure(story: Story, words: str, found: re.Match[str]) -> Answer:
    return story.scene.house.change(story.scene.registered["p1"], capabilities=["scoring"])


def refresh(story: Story, words: str, found: re.Match[str]) -> Answer:
    story.scene.providers["p1"].capabilities = ["scoring"]
    return story.scene.house.act(story.scene.registered["p1"], "refresh-capabilities")


def try_out(story: Story, words: str, found: re.Match[str]) -> Answer:
    return story.scene.house.act(story.scene.registered["p1"], "test")


def grant(story: Story, words: str, found: re.Match[str]) -> Answer:
    house = story.scene.house
    path = f"/v1/assistants/{house.assistant_id}/capabilities/{READ_PUBLIC}"
    method = "DELETE" if found[1].lower() != "grant" else "POST"
    return house.deployment.request(method, path, house.tenant._headers())


def dismiss(story: Story, words: str, found: re.Match[str]) -> Answer:
    """The tenant's first agent is no agent any more."""
    house = story.scene.house
    agents = house.tenant.get("/v1/agents").json["items"]
    ident = next(one["id"] for one in agents if one["name"] == "Ada")
    if re.match(r"delete|remove", words, re.I):
        return house.deployment.request("DELETE", f"/v1/agents/{ident}", house.tenant._headers())
    return house.deployment.request("PATCH", f"/v1/agents/{ident}", house.tenant._headers(), {"active": False})


def nothing(story: Story, words: str, found: re.Match[str]) -> Answer:
    return Answer(0, {}, {})


def refuse(story: Story, words: str, found: re.Match[str]) -> Answer:
    raise Unreadable(words)
