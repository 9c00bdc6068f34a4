"""Operations that have no route: invoked directly, under IAM, with a command and its arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg

from chalicelib import bootstrap
from chalicelib.errors import Invalid, LarderError, Problem
from chalicelib.services import tenancy
from chalicelib.services.tokens import Minted
from chalicelib.storage import migrate
from chalicelib.storage.connection import Database
from chalicelib.storage.database_tls import Tls
from chalicelib.telemetry import log_unexpected, logger


def run(event: Any, request_id: str = "") -> dict[str, Any]:
    """Do ``event["command"]``; ``{"ok": true, "result": …}`` or ``{"ok": false, "code": …, "detail": …}``.

    Nothing is raised: what a function raises ends in a log, and arguments don't belong there. ``request_id``: the
    invocation's, which its log lines bear.
    """
    logger.set_correlation_id(request_id)
    try:
        command = event.get("command") if isinstance(event, dict) else None
        if not isinstance(command, str) or command not in _COMMANDS:
            raise Invalid(f"command: must be one of {', '.join(sorted(_COMMANDS))}", field="command")
        arguments = {name: value for name, value in event.items() if name != "command"}
        return {"ok": True, "result": _COMMANDS[command](arguments)}
    except Problem as problem:
        return {"ok": False, "code": problem.code, "detail": problem.detail}
    except LarderError as error:
        return {"ok": False, "code": type(error).__name__, "detail": str(error)}
    except Exception as error:
        log_unexpected("an operation failed", error)
        code = "unavailable" if isinstance(error, psycopg.OperationalError) else "internal_error"
        return {"ok": False, "code": code, "detail": str(error)}


def _migrate(arguments: dict[str, Any]) -> Any:
    _only(arguments)
    return {"applied": migrate.migrate(*_located())}


def _pending(arguments: dict[str, Any]) -> Any:
    _only(arguments)
    return {"pending": migrate.pending(*_located())}


def _tenant_create(arguments: dict[str, Any]) -> Any:
    _only(arguments, "name", "plan", "operator")
    return tenancy.create(
        _database(),
        name=_text(arguments, "name"),
        plan=_optional_text(arguments, "plan") or "free",
        operator=_optional_text(arguments, "operator"),
        now=_now(),
    )


def _tenant_list(arguments: dict[str, Any]) -> Any:
    _only(arguments)
    return _plain(tenancy.list_tenants(_database()))


def _tenant_enable(arguments: dict[str, Any]) -> Any:
    _only(arguments, "name", "enabled")
    enabled = arguments.get("enabled", True)
    if not isinstance(enabled, bool):
        raise Invalid("enabled: must be true or false", field="enabled")
    tenancy.set_enabled(_database(), name=_text(arguments, "name"), enabled=enabled)
    return {}


def _tenant_delete(arguments: dict[str, Any]) -> Any:
    _only(arguments, "name")
    tenancy.delete(_database(), name=_text(arguments, "name"))
    return {}


def _token_create(arguments: dict[str, Any]) -> Any:
    _only(arguments, "tenant", "class", "label", "operator", "roles", "purposes")
    purposes = _names(arguments, "purposes")
    wanted = Minted(
        token_class=_text(arguments, "class"),
        label=_optional_text(arguments, "label") or "",
        operator=_optional_text(arguments, "operator"),
        roles=tuple(_names(arguments, "roles") or ()),
        purposes=None if purposes is None else tuple(purposes),
    )
    return tenancy.create_token(_database(), tenant=_text(arguments, "tenant"), wanted=wanted, now=_now())


def _token_list(arguments: dict[str, Any]) -> Any:
    _only(arguments, "tenant")
    return _plain(tenancy.list_tokens(_database(), tenant=_optional_text(arguments, "tenant")))


def _token_revoke(arguments: dict[str, Any]) -> Any:
    _only(arguments, "id")
    ident = _text(arguments, "id")
    if not re.fullmatch(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", ident):
        raise Invalid("id: must be a UUID", field="id")
    tenancy.revoke_token(_database(), token_id=UUID(ident), now=_now())
    return {}


_COMMANDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "migrate": _migrate,
    "migrations_pending": _pending,
    "tenant_create": _tenant_create,
    "tenant_list": _tenant_list,
    "tenant_enable": _tenant_enable,
    "tenant_delete": _tenant_delete,
    "token_create": _token_create,
    "token_list": _token_list,
    "token_revoke": _token_revoke,
}


def _database() -> Database:
    return bootstrap.outside().database


def _located() -> tuple[str, Tls]:
    settings = bootstrap.outside().settings
    return settings.database_url, settings.database_tls


def _now() -> datetime:
    return datetime.now(UTC)


def _only(arguments: dict[str, Any], *names: str) -> None:
    for name in arguments:
        if name not in names:
            raise Invalid(f"{name}: is no argument of this command", field=name)


def _text(arguments: dict[str, Any], name: str) -> str:
    value = _optional_text(arguments, name)
    if value is None:
        raise Invalid(f"{name}: must be given", field=name)
    return value


def _optional_text(arguments: dict[str, Any], name: str) -> str | None:
    """The argument as one line of text; None if it is not given or blank."""
    value = arguments.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", value):
        raise Invalid(f"{name}: must be one line of text", field=name)
    return value if value.strip() else None


def _names(arguments: dict[str, Any], name: str) -> list[str] | None:
    value = arguments.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(entry, str) and entry.strip() for entry in value):
        raise Invalid(f"{name}: must be a list of names", field=name)
    return value


def _plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows as JSON values."""
    return [
        {name: str(value) if isinstance(value, UUID | datetime) else value for name, value in row.items()}
        for row in rows
    ]
