from __future__ import annotations

import json

import pytest

from chalicelib.cli import sealed_heads

TENANT = "6c0f0e63-0000-4000-8000-000000000000"
HEAD = {"kind": "allow", "day": "2026-06-01", "row_count": 7, "last_hash": "aa", "seal": "bb", "key_id": "1"}
LINE = json.dumps({"level": "INFO", "message": "sealed a head", "tenant_id": TENANT, **HEAD})


def test_heads_of_one_tenant_are_found_among_other_lines() -> None:
    others = ["", "START RequestId: 1", "[1, 2]", json.dumps({"message": "tick", "tenant_id": TENANT})]
    [found] = sealed_heads.read([*others, LINE, LINE.replace(TENANT, "another")], TENANT)
    assert HEAD.items() <= found.items()
    assert sealed_heads.differences([found], [HEAD]) == []


@pytest.mark.parametrize("name", sealed_heads.TOLD)
def test_a_head_that_is_not_the_logged_one_is_a_fault(name: str) -> None:
    [fault] = sealed_heads.differences([HEAD], [{**HEAD, name: "other"}])
    assert fault == {
        "kind": "allow",
        "day": "2026-06-01",
        "number": None,
        "what": "sealed head is not the logged one",
    }


def test_a_head_that_is_gone_is_a_fault_and_one_that_was_not_logged_is_none() -> None:
    [fault] = sealed_heads.differences([HEAD], [])
    assert fault["what"] == "sealed head gone"
    assert sealed_heads.differences([], [HEAD]) == []
