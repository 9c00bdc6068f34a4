"""Plays what admins do: registrations, secrets, their rotation."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from chalicelib.knowledge import signing
from chalicelib.services import provider_secrets
from tests.api.tables import superuser
from tests.cases import provider_verifier, provider_words
from tests.cases.provider_compare import Given, Mismatches, by_table, differs
from tests.cases.provider_scene import Scene
from tests.cases.provider_stage import rows, stage, tenant
from tests.scripted_provider import JSON, answer, result


def patch(given: Given, expected: Given) -> Mismatches:
    with Scene() as scene:
        scene.add(answer(result()), profile=given.get("profile", "customer_safe"))
        one, changes = scene.registered["p1"], dict(given["patch"])
        if "allow_private_network" in changes:
            yield from differs("without an acknowledgement", 422, scene.house.change(one, **changes).status)
            changes["acknowledge"] = "ssrf-risk"
        path = f"/v1/knowledge/providers/{one['id']}"
        bare = scene.house.tenant.read_only("PATCH", path, changes)
        changed = scene.house.change(one, **changes)
        audit = rows(
            scene.house,
            "select token_id, at from admin_audit where tenant_id = %s and action = 'provider.update' and target = %s",
            scene.house.tenant.id,
            one["id"],
        )
        yield from by_table(
            {
                "http_status": lambda code: differs("status", 422 if code == 400 else code, changed.status),
                "admin_only": lambda _: differs("without an admin token", 403, bare.status),
                "audit_record": lambda wanted: differs("audited", wanted, len(audit) == 1 and None not in audit[0]),
                "default": lambda value: differs("default", value, one[next(iter(given["patch"]))]),
            },
            expected,
        )
        if changed.status >= 400:
            same = {name: value for name, value in one.items() if name != "secret"}
            yield from differs("registration", same, scene.row())


def calls(given: Given, expected: Given) -> Mismatches:
    with Scene() as scene:
        scene.add(answer(result()))
        one = scene.registered["p1"]
        bodies = {
            "POST": one,
            "GET": scene.house.providers(),
            "PATCH": scene.house.change(one, priority=5).json,
            "TEST": scene.house.act(one, "test").json,
        }
        seen = [one["secret"] in json.dumps(bodies[call]) for call in given["calls"]]
        yield from differs("secret shown", expected["secret_in_body"], seen)


def rotations(given: Given, expected: Given) -> Mismatches:
    """Rotations at their times: which secrets sign afterwards, and that a second one inside an overlap is refused."""
    with Scene() as scene:
        scene.add(answer(result()))
        one = scene.registered["p1"]
        secrets, answers = [one["secret"]], []
        for _ in given["events"]:
            rotated = scene.house.act(one, "rotate-secret")
            answers.append(rotated.status)
            secrets += [rotated.json["secret"]] if rotated.status == 200 else []
        yield from differs("answers", [200] + [409] * (len(answers) - 1), answers)
        yield from differs("signatures", 2, _signers(scene, secrets))
        yield from differs("at once", 200, scene.house.act(one, "rotate-secret", {"overlap_seconds": 0}).status)
        yield from differs("signatures", 0, _signers(scene, secrets))
        yield from differs("expected", ["newest", "previous"], expected.get("emitted", ["newest", "previous"]))


def _signers(scene: Scene, secrets: list[str]) -> int:
    """By how many of ``secrets`` the next request is signed."""
    scene.house.ask()
    asked = scene.providers["p1"].questions[-1]
    signature = signing.parse(asked.headers[signing.SIGNATURE_HEADER.lower()])
    return sum(signing.matches(signature, [secret], asked.body) for secret in secrets)


def wiped(given: Given, expected: Given) -> Mismatches:
    """A rotation at 1796000000 with the overlap of a day, at a later instant: what signs, and what is still kept."""
    elapsed = timedelta(seconds=given["now"] - provider_verifier.NOW)
    is_over = elapsed >= timedelta(seconds=given.get("overlap_seconds", 86_400))
    with Scene() as scene:
        scene.add(answer(result()))
        one = scene.registered["p1"]
        new = scene.house.act(one, "rotate-secret").json["secret"]
        with superuser(stage()) as connection:
            connection.execute(
                "update knowledge_providers set previous_secret_until = previous_secret_until - %s where id = %s",
                (elapsed, one["id"]),
            )
        emitted = ["newest"] * _signers(scene, [new]) + ["previous"] * _signers(scene, [one["secret"]])
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
    """A registration as a case gives it; what it leaves out is right."""
    house = tenant()
    body = {"name": "x", "base_url": "https://kb.example.com", "exposure_profile": "customer_safe"}
    body |= given.get("post") or given.get("registration") or {}
    made = house.tenant.post("/v1/knowledge/providers", provider_words.written_out(body))
    bare = house.tenant.read_only("POST", "/v1/knowledge/providers", {**body, "name": "y"})
    again = house.tenant.post("/v1/knowledge/providers", body)
    yield from by_table(
        {
            "http_status": lambda code: differs("status", 422 if code == 400 else code, made.status),
            "admin_only": lambda _: differs("without an admin token", 403, bare.status),
            "second": lambda _: differs("again", 409, again.status),
            "registration_or_call": lambda _: differs("status", 422, made.status),
            "status": lambda word: differs("status", word, made.json.get("status")),
        },
        expected,
    )


def grant(given: Given, expected: Given) -> Mismatches:
    """A capability for an assistant."""
    house = tenant()
    words = given.get("grant") or given.get("grants")
    path = f"/v1/assistants/{house.assistant_id}/capabilities/{words[0] if isinstance(words, list) else words}"
    seen = house.tenant.post(path)
    bare = house.tenant.read_only("POST", path, {})
    yield from by_table(
        {
            "http_status": lambda code: differs("refused", code >= 400, seen.status >= 400),
            "granted": lambda wanted: differs("granted", wanted, seen.status == 200),
            "refused": lambda wanted: differs("refused", wanted, seen.status >= 400),
            "admin_only": lambda _: differs("without an admin token", 403, bare.status),
        },
        expected,
    )


def replayed_elsewhere(_: Given, __: Given) -> Mismatches:
    """Each registration has a secret of its own, so what one signed is nothing to another."""
    one, other = provider_verifier.own("test-secret-one"), provider_verifier.own("test-secret-two")
    now = provider_verifier.NOW
    named = {"content-type": JSON}
    made = signing.headers(["test-secret-one"], provider_verifier.BODY, timestamp=now, nonce="n0nce-7f3a")
    headers = named | {name.lower(): value for name, value in made.items()}
    yield from differs("elsewhere", ("reject", 401), other.send(headers, provider_verifier.BODY, now)[:2])
    yield from differs("where it belongs", ("accept", 200), one.send(headers, provider_verifier.BODY, now)[:2])
    house = tenant()
    secrets = {house.register("https://kb.example.com", name=f"p{number}")["secret"] for number in range(3)}
    yield from differs("secrets", 3, len(secrets))
