"""A database in which less can be reached: each transaction puts on a role that has fewer rights (migration 0006)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal
from uuid import UUID

from chalicelib.storage.connection import Database, Transaction

Reach = Literal["public", "internal"]
"""``public``: published sources and registrations for customers. ``internal``: the texts that are not published."""


class Within(Database):
    """``database`` with a smaller reach. The role ends with the transaction, as the tenant does."""

    def __init__(self, database: Database, reach: Reach) -> None:
        self._database, self._reach = database, reach

    @contextmanager
    def transaction(self, tenant_id: UUID | None = None) -> Iterator[Transaction]:
        with self._database.transaction(tenant_id) as tx:
            tx.run(f"reach.{self._reach}")
            yield tx

    def close(self) -> None:
        self._database.close()
