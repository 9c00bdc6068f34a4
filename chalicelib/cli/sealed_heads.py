"""The heads that the tick logged when it sealed them, held against those that the record has now."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

TOLD = ("row_count", "last_hash", "seal", "key_id")


def read(lines: Iterable[str], tenant_id: str) -> list[dict[str, Any]]:
    """The heads of one tenant among lines of a log; other lines are left out."""
    return [
        one for one in map(_parsed, lines) if one.get("tenant_id") == tenant_id and {"kind", "day", *TOLD} <= one.keys()
    ]


def differences(logged: Sequence[Mapping[str, Any]], kept: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A fault for each logged head that is gone, or is another than it was."""
    now = {(one["kind"], one["day"]): one for one in kept}
    faults = []
    for then in logged:
        found = now.get((then["kind"], then["day"]))
        if found is None or any(found[name] != then[name] for name in TOLD):
            what = "sealed head gone" if found is None else "sealed head is not the logged one"
            faults.append({"kind": then["kind"], "day": then["day"], "number": None, "what": what})
    return faults


def _parsed(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
