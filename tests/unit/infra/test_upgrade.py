"""What goes ahead of an upgrade, where the real thing can't be had: an `ops` function that does not start."""

from __future__ import annotations

from typing import Any

import pytest

from infra.stack import DeployError, FunctionFailed
from infra.upgrade import migrate_ahead

WANTED = {"ArtefactBucket": "bucket", "CodeKey": "code/new.zip"}


class Stack:
    def __init__(self, code: str) -> None:
        self.code = code

    def parameters(self) -> dict[str, str]:
        return {"CodeKey": self.code}


class Running:
    """A deployment whose ``ops`` function gives ``answer``, or fails if there is none."""

    def __init__(self, answer: dict[str, Any] | None = None) -> None:
        self.answer, self.outputs, self.account, self.updated = answer, {"OpsName": "ops"}, self, list[str]()

    def functions(self) -> Running:
        return self

    def update_function_code(self, *, S3Key: str, **_: str) -> None:
        self.updated.append(S3Key)

    def get_waiter(self, _: str) -> Running:
        return self

    def wait(self, **_: str) -> None: ...

    def invoke(self, function: str, event: dict[str, Any]) -> dict[str, Any]:
        assert (function, event) == ("Ops", {"command": "migrate"})
        if self.answer is None:
            raise FunctionFailed("ops failed")
        return self.answer


def ahead(running: Any, code: str = "code/old.zip") -> list[str]:
    said: list[str] = []
    stack: Any = Stack(code)
    migrate_ahead(running, stack, WANTED, said.append)
    return said


def test_the_same_code_needs_nothing_ahead() -> None:
    running = Running()
    assert ahead(running, "code/new.zip") == running.updated == []


def test_new_code_migrates_first() -> None:
    running = Running({"ok": True, "result": {"applied": ["0011_more"]}})
    assert ahead(running)[-1] == "  0011_more"
    assert running.updated == ["code/new.zip"]


def test_code_that_does_not_start_on_the_old_layer_is_told_and_passed_over() -> None:
    assert "old layer" in ahead(Running())[-1]


def test_a_schema_that_is_newer_is_told_and_left() -> None:
    said = ahead(Running({"ok": False, "code": "SchemaNewer", "detail": "the database has more"}))
    assert said[-1] == "  the database has more"


def test_a_migration_that_fails_stops_the_upgrade() -> None:
    with pytest.raises(DeployError, match="lock timeout"):
        ahead(Running({"ok": False, "code": "internal_error", "detail": "lock timeout"}))
