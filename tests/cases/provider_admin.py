"""Plays what admins do: registrations, secrets, their rotation."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

from chalicelib import bootstrap
from chalicelib.knowledge import signing
from chalicelib.services import provider_secrets
from tests.api.tables import superuser
from tests.cases import provider_verifier, provider_words
from tests.cases.provider_compare import Given, Mismatches, by_table, differs, in_words
from tests.cases.provider_rotation import signed_by
from tests.cases.provider_scene import Scene
from tests.cases.provider_stage import rows, stage, strict, tenant
from tests.cases.ssrf_words import Unreadable
from tests.knowledge import Household
from tests.scripted_provider import JSON, answer, result


def patch(given: Given, expected: Given) -> Mismatches:
    """A change of a registration. What has to be acknowledged is tried without it first, where a case leaves it out."""
    with Scene() as scene:
        scene.add(answer(result()), profile=given.get("profile") or "customer_safe")
        one, changes = scene.registered["p1"], dict(given["patch"])
        is_wrong = int(expected.get("http_status", 200)) >= 400
        if "allow_private_network" in changes and "acknowledge" not in changes and not is_wrong:
            yield from differs("without an acknowledgement", 422, scene.house.change(one, **changes).status)
            changes["acknowledge"] = "ssrf-risk"
        path = f"/v1/knowledge/providers/{one['id']}"
        bare = scene.house.tenant.read_only("PATCH", path, changes)
        before = scene.row()
        with mock.patch.object(bootstrap, "outside", strict) if "base_url" in changes else nullcontext():
            changed = scene.house.change(one, **changes)
        raised = scene.row()["config_generation"] - before["config_generation"]
        audit = _audited(scene.house, "provider.update", one["id"])
        yield from by_table(
            {
                "http_status": lambda code: differs("status", 422 if code == 400 else code, changed.status),
                "refused": lambda wanted: differs("refused", wanted, changed.status >= 400),
                "admin_only": lambda wanted: differs("admin only", wanted, bare.status == 403),
                "audit_record": lambda wanted: differs("audited", wanted, len(audit) == 1 and None not in audit[0]),
                "audited": lambda wanted: differs("audited", wanted, len(audit) == 1 and None not in audit[0]),
                "config_generation": lambda value: _raised(value, raised),
                "config_generation_delta": lambda value: _raised(value, raised),
                "default": lambda value: differs("default", value, one[next(iter(given["patch"]))]),
                "status": lambda word: differs("status", word, scene.row()["status"]),
            },
            expected,
        )
        if changed.status >= 400:
            yield from differs("registration", before, scene.row())
            yield from differs("audited", 0, len(audit))


def _raised(value: Any, delta: int) -> Mismatches:
    """By how much the generation of the configuration rose, or whether it did."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield from differs("generation", value, delta)
    elif found := re.fullmatch(r"\+(\d+)", str(value)):
        yield from differs("generation", int(found[1]), delta)
    elif isinstance(value, bool):
        yield from differs("generation raised", value, delta > 0)
    elif re.search(r"unchanged|same|not ", str(value)):
        yield from differs("generation", 0, delta)
    elif re.search(r"rais|bump|increas|increment|chang|new", str(value)):
        yield from differs("generation raised", True, delta > 0)
    else:
        raise Unreadable(str(value))


def _audited(house: Household, action: str, target: str) -> list[Any]:
    query = "select token_id, at from admin_audit where tenant_id = %s and action = %s and target = %s"
    return rows(house, query, house.tenant.id, action, target)


def calls(given: Given, expected: Given) -> Mismatches:
    """Whether the secret stands in what the routes answer."""
    with Scene() as scene:
        scene.add(answer(result()))
        one = scene.registered["p1"]
        secrets, seen, codes = [one["secret"]], [], []
        for call in given["calls"]:
            status, body = _call(scene, str(call))
            secrets += [body["secret"]] if "rotate" in str(call).lower() else []
            seen.append(any(secret in json.dumps(body) for secret in secrets))
            codes.append(status)
        yield from by_table(
            {
                "secret_in_body": lambda wanted: differs(
                    "secret shown", wanted if isinstance(wanted, list) else [wanted] * len(seen), seen
                ),
                "http_status": lambda code: differs("status", code, codes[-1]),
                "http_statuses": lambda wanted: differs("statuses", wanted, codes),
            },
            expected,
        )


def _call(scene: Scene, words: str) -> tuple[int, Any]:
    """One route of a registration by its method, or by the last word of its path."""
    one, house, lowered = scene.registered["p1"], scene.house, words.lower()
    for action in ("rotate", "refresh", "test"):
        if action in lowered:
            named = {"rotate": "rotate-secret", "refresh": "refresh-capabilities"}
            got = house.act(one, named.get(action, action))
            return got.status, got.json
    if lowered.startswith("post"):
        return 201, one
    if lowered.startswith("get"):
        return 200, house.providers()
    if lowered.startswith("patch"):
        got = house.change(one, priority=5)
    elif lowered.startswith("delete"):
        got = house.remove(one)
    else:
        raise Unreadable(words)
    return got.status, got.json


def wiped(given: Given, expected: Given) -> Mismatches:
    """A rotation at 1796000000 with the overlap of a day, at a later instant: what signs, and what is still kept."""
    elapsed = timedelta(seconds=given["now"] - provider_verifier.NOW)
    overlap = int(given.get("overlap_seconds", 86_400))
    is_over = elapsed >= timedelta(seconds=overlap)
    with Scene() as scene:
        scene.add(answer(result()))
        one = scene.registered["p1"]
        old = one["secret"]
        new = scene.house.act(one, "rotate-secret", {"overlap_seconds": overlap}).json["secret"]
        with superuser(stage()) as connection:
            connection.execute(
                "update knowledge_providers set previous_secret_until = previous_secret_until - %s where id = %s",
                (elapsed, one["id"]),
            )
        emitted = ["newest" if secret == new else "previous" for secret in signed_by(scene, [old, new])]
        yield from differs("emitted", ["newest"] if is_over else ["newest", "previous"], emitted)
        provider_secrets.sweep(stage().worker, datetime.now(UTC))
        query = (
            "select previous_secret is null and previous_secret_key_id is null from knowledge_providers where id = %s"
        )
        ((is_wiped,),) = rows(scene.house, query, one["id"])
        yield from by_table(
            {
                "previous_secret": lambda value: differs("wiped", value is None, is_wiped),
                "emitted": lambda words: differs("emitted", words, emitted),
                "v1_count": lambda count: differs("signatures", count, len(emitted)),
                "signatures": lambda count: differs("signatures", count, len(emitted)),
            },
            expected,
        )


def post(given: Given, expected: Given) -> Mismatches:
    """A registration as a case gives it, where the development switch is off; what it leaves out is right."""
    house = tenant()
    body = {"name": "x", "base_url": "https://kb.example.com", "exposure_profile": "customer_safe"}
    body = provider_words.written_out(body | (given["post"] if "post" in given else given["registration"] or {}))
    with mock.patch.object(bootstrap, "outside", strict):
        made = house.tenant.post("/v1/knowledge/providers", body)
        bare = house.tenant.read_only("POST", "/v1/knowledge/providers", {**body, "name": "y"})
        again = house.tenant.post("/v1/knowledge/providers", body)
    audit = _audited(house, "provider.create", str(made.json.get("id")))
    secret = str(made.json.get("secret", ""))
    yield from by_table(
        {
            "http_status": lambda code: differs("status", 422 if code == 400 else code, made.status),
            "admin_only": lambda wanted: differs("admin only", wanted, bare.status == 403),
            "second": in_words(r"refuse|reject|409|conflict", differs("again", 409, again.status)),
            "registration_or_call": lambda word: differs("refused", "refuse" in str(word), made.status == 422),
            "registration": lambda word: differs("refused", word in ("refused", "reject"), made.status == 422),
            "refused": lambda wanted: differs("refused", wanted, made.status >= 400),
            "status": lambda word: differs("status", word, made.json.get("status")),
            "priority": lambda value: differs("priority", value, made.json.get("priority")),
            "audit_record": lambda wanted: differs("audited", wanted, len(audit) == 1 and None not in audit[0]),
            "secret_in_body": lambda wanted: differs("secret shown", wanted, bool(secret)),
            "secret_bytes": lambda count: differs("bytes", count, len(urlsafe_b64decode(f"{secret}=="))),
            "connections": lambda count: differs("connections", count, 0),
        },
        expected,
    )
    if made.status >= 400:
        yield from differs("registrations", [], house.providers())


def grant(given: Given, expected: Given) -> Mismatches:
    """A capability for an assistant."""
    house = tenant()
    words = given["grant"] if "grant" in given else given["grants"]
    name = words[0] if isinstance(words, list) else words
    name = name["capability"] if isinstance(name, dict) else name
    path = f"/v1/assistants/{house.assistant_id}/capabilities/{name}"
    before = len(_audited(house, "assistant.capability", house.assistant_id))
    house.deployment.request("DELETE", path, house.tenant._headers())
    withdrawn = len(_audited(house, "assistant.capability", house.assistant_id))
    bare = house.tenant.read_only("POST", path, {})
    seen = house.tenant.post(path)
    audited = len(_audited(house, "assistant.capability", house.assistant_id)) - withdrawn
    yield from by_table(
        {
            "http_status": lambda code: differs("refused", code >= 400, seen.status >= 400),
            "granted": lambda wanted: differs("granted", wanted, seen.status == 200),
            "refused": lambda wanted: differs("refused", wanted, seen.status >= 400),
            "admin_only": lambda wanted: differs("admin only", wanted, bare.status == 403),
            "audit_record": lambda wanted: differs("audited", wanted, audited == 1),
            "audited": lambda wanted: differs("audited", wanted, audited == 1),
            "revocation_audited": lambda wanted: differs("audited", wanted, withdrawn == before + 1),
        },
        expected,
    )


def replayed_elsewhere(given: Given, __: Given) -> Mismatches:
    """Each registration has a secret of its own, so what one signed is nothing to another."""
    one, other = provider_verifier.own("test-secret-one"), provider_verifier.own("test-secret-two")
    now = provider_verifier.NOW
    named = {"content-type": JSON}
    made = signing.headers(["test-secret-one"], provider_verifier.BODY, timestamp=now, nonce="n0nce-7f3a")
    headers = named | {name.lower(): value for name, value in made.items()}
    yield from differs("elsewhere", 401, other.send(headers, provider_verifier.BODY, now).status)
    yield from differs("where it belongs", 200, one.send(headers, provider_verifier.BODY, now).status)
    house = tenant()
    secrets = {house.register("https://kb.example.com", name=f"p{number}")["secret"] for number in range(3)}
    yield from differs("secrets", 3, len(secrets))
