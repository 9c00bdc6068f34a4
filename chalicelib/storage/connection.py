"""One Postgres connection a process, and transactions on it that carry the tenant."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar
from uuid import UUID

import psycopg
from psycopg.rows import RowMaker, dict_row, scalar_row

from chalicelib.storage.database_tls import ENCRYPTED, Tls
from chalicelib.storage.database_url import resolve
from chalicelib.storage.queries import query

T = TypeVar("T")

_BEGIN = "select set_config('larder.tenant_id', %s, true)"


class Transaction:
    """What a service may do inside one transaction: run named statements."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def one(self, name: str, into: type[T], /, **params: Any) -> T | None:
        """The first row as ``into``, or None."""
        with self._connection.cursor(row_factory=_fields_of(into)) as cursor:
            return cursor.execute(query(name), params).fetchone()

    def all(self, name: str, into: type[T], /, **params: Any) -> list[T]:
        """Every row as ``into``."""
        with self._connection.cursor(row_factory=_fields_of(into)) as cursor:
            return cursor.execute(query(name), params).fetchall()

    def row(self, name: str, /, **params: Any) -> dict[str, Any] | None:
        """The first row as a dict, or None."""
        with self._connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query(name), params).fetchone()

    def rows(self, name: str, /, **params: Any) -> list[dict[str, Any]]:
        """Every row as a dict."""
        with self._connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query(name), params).fetchall()

    def value(self, name: str, /, **params: Any) -> Any:
        """The first column of the first row, or None."""
        with self._connection.cursor(row_factory=scalar_row) as cursor:
            return cursor.execute(query(name), params).fetchone()

    def run(self, name: str, /, **params: Any) -> int:
        """The number of rows that the statement touched."""
        return self._connection.execute(query(name), params).rowcount

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """A part that can fail alone: an exception undoes what was done inside, and no more."""
        with self._connection.transaction():
            yield


def _fields_of(into: type[T]) -> Any:
    """A row factory that fills the dataclass ``into`` and passes over columns that it does not know.

    So a migration may add a column while code from before it still runs.
    """
    wanted = {field.name for field in dataclasses.fields(into)}  # type: ignore[arg-type]

    def factory(cursor: psycopg.Cursor[Any]) -> RowMaker[T]:
        names = [column.name for column in cursor.description or ()]

        def make(values: Sequence[Any]) -> T:
            return into(**{name: value for name, value in zip(names, values, strict=True) if name in wanted})

        return make

    return factory


class Database:
    """A connection that is made when first needed and made again when it has gone.

    Lambda gives a process one request at a time, so one connection serves it; there is no pool.
    Prepared statements are off: a pooler in between may not carry them, and a plan made for one tenant's
    row-level security would serve every other.
    """

    def __init__(self, url: str, tls: Tls = ENCRYPTED, *, connect_timeout: int = 5) -> None:
        self._url, self._tls = url, tls
        self._connect_timeout = connect_timeout
        self._connection: psycopg.Connection[Any] | None = None

    @contextmanager
    def transaction(self, tenant_id: UUID | None = None) -> Iterator[Transaction]:
        """A transaction in which row-level security shows ``tenant_id``'s rows alone (None: no tenant's).

        Commits at the end, rolls back on any exception. Raises ``psycopg.OperationalError`` if the database can't be
        reached after one new connection.
        """
        setting = "" if tenant_id is None else str(tenant_id)
        with ExitStack() as until_done:
            yield Transaction(self._begin(until_done, setting))

    def close(self) -> None:
        """End the connection; the next transaction makes a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _begin(self, until_done: ExitStack, setting: str) -> psycopg.Connection[Any]:
        """A connection in a transaction that ends with ``until_done``. An idle one that died unseen is replaced."""
        if self._connection is not None and not self._connection.closed:
            try:
                return until_done.enter_context(_transaction(self._connection, setting))
            except psycopg.OperationalError:  # nothing was asked of it yet
                self.close()
        self._connection = psycopg.connect(
            resolve(self._url, self._tls),
            autocommit=True,
            prepare_threshold=None,
            connect_timeout=self._connect_timeout,
            application_name="larder",
        )
        return until_done.enter_context(_transaction(self._connection, setting))


@contextmanager
def _transaction(connection: psycopg.Connection[Any], setting: str) -> Iterator[psycopg.Connection[Any]]:
    with connection.transaction():
        connection.execute(_BEGIN, (setting,))
        yield connection
