"""Step 8: what the guard refuses."""

from __future__ import annotations

from examples.playing import TRAP_NAMES, Play
from examples.stage import TRAPS
from examples.telling import Row


def refuse(play: Play) -> None:
    """What the guard refuses: when a source is added, by default and under every exemption, and at the fetch."""
    play.telling.step("8. What the guard refuses")
    always = {
        "the metadata address": "http://169.254.169.254/latest/meta-data/",
        "the same as a number": "http://2852039166/",
        "the same inside IPv6": "http://[::ffff:169.254.169.254]/",
        "another cloud's": "http://168.63.129.16/",
        "a file": "file:///etc/passwd",
        "another scheme": "gopher://example.com/",
        "a user name and password": "http://somebody:something@example.com/",
        "another port": "http://example.com:22/",
    }
    by_default = {
        "localhost": "http://localhost/",
        "a name below it": "http://db.localhost:8080/",
        "loopback": "http://127.0.0.1:8080/",
        "loopback, cut short": "http://127.1/",
        "loopback, IPv6": "http://[::1]/",
        "a private network": "http://192.168.1.1/",
        "a name without a dot": "http://printer/",
        "a local name": "http://db.internal/",
    }
    rows: list[Row] = []
    for client, when, uris in (
        (play.stage.client, "added, always", always),
        (play.stage.strict, "added, by default", by_default),
    ):
        results = client.put_sources([{"uri": uri} for uri in uris.values()])["results"]
        for (what, uri), result in zip(uris.items(), results, strict=True):
            rule = (result["problem"] or {}).get("rule")
            rows.append((result["status"] == 422, (what, uri, when, rule or "accepted")))
    for name, path in TRAP_NAMES.items():
        source = play.source(name)
        refused = source["last_status"] == "refused" and source["current_version"] is None
        rows.append((refused, (name.replace("-", " "), TRAPS[path], "fetched", source["last_status"])))
    play.telling.table(("what", "address", "when", "answer"), rows)
