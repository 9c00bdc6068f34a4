"""A deployment in miniature for tests: real Postgres, the real app, tokens of a tenant or two."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from chalice.test import Client

from chalicelib import bootstrap, settings
from chalicelib.embedding.model import Embedder
from chalicelib.fetching import ssrf
from chalicelib.queueing.messages import Depths, Message
from chalicelib.services import tenancy, tokens
from chalicelib.services.outside import Outside
from chalicelib.storage.connection import Database
from tests.postgres import TestServer


class ListQueue:
    """A queue in memory; ``refuses`` makes sending fail as SQS can."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.refuses = False
        self.idle = True

    def send(self, messages: Sequence[Message]) -> list[UUID]:
        if self.refuses:
            return [message.event_id for message in messages]
        self.messages += messages
        return []

    def is_idle(self) -> bool:
        return self.idle and not self.messages

    def depths(self) -> Depths:
        return Depths(len(self.messages), 0)


class HashEmbedder:
    """Vectors that depend on the text's words alone: near for texts that share words. Quick, for tests of the rest."""

    model_id = "test-words"
    dimension = 384

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.embedded += texts
        return [self._vector(text) for text in texts]

    def fits(self, text: str) -> bool:
        return len(text) <= 1200

    def _vector(self, text: str) -> list[float]:
        import hashlib

        vector = [0.0] * self.dimension
        for word in text.lower().split():
            vector[int.from_bytes(hashlib.sha256(word.strip(".,:").encode()).digest()[:4], "big") % self.dimension] += 1
        length = sum(value * value for value in vector) ** 0.5 or 1.0
        return [value / length for value in vector] if any(vector) else [1.0, *vector[1:]]


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    json: Any


@dataclass
class Tenant:
    """One tenant's way in."""

    deployment: Deployment
    name: str
    id: UUID
    api_token: str
    admin_token: str

    def get(self, path: str, **headers: str) -> Answer:
        return self.deployment.request("GET", path, self._headers(**headers))

    def post(self, path: str, body: Any = None, *, raw: bytes | None = None) -> Answer:
        return self.deployment.request("POST", path, self._headers(), body, raw=raw)

    def as_operator(self, name: str = "Robin") -> Tenant:
        """The same tenant with an admin token that was minted for a named person."""
        with self.deployment.owner.transaction() as tx:
            token = tokens.mint(tx, self.id, tokens.Minted("admin", operator=name), datetime.now(UTC))
        return replace(self, admin_token=token)

    def read_only(self, method: str, path: str, body: Any = None) -> Answer:
        return self.deployment.request(method, path, {"Authorization": f"Bearer {self.api_token}"}, body)

    def add(self, uri: str, **more: Any) -> dict[str, Any]:
        answer = self.post("/v1/kb/sources", {"uri": uri, **more})
        assert answer.status in (200, 201), answer.json
        return dict(answer.json)

    def _headers(self, **more: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.api_token}", "X-Admin-Token": self.admin_token, **more}


@dataclass
class Deployment:
    """The app on a database of its own."""

    server: TestServer
    database_name: str
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._superuser: psycopg.Connection[Any] | None = None
        self.queue = ListQueue()
        self.embedder: Embedder = HashEmbedder()
        self.owner = Database(self.server.url(self.database_name, "larder_owner"))
        self.outside = self.build("larder_app")
        self.worker = self.build("larder_worker")

    def build(self, role: str, **more: Any) -> Outside:
        """The composition root's own parts, with a queue in memory and a quick embedder."""
        environment = {
            "DATABASE_URL": self.server.url(self.database_name, role),
            "LARDER_KEYS": str(self.server.keys),
            "KB_MUTATIONS_PER_HOUR": "100000",
            "LARDER_LLM_ENDPOINT": "https://127.0.0.1:9/v1",  # where the guard connects to nothing
            **self.environment,
        }
        built = bootstrap.build(settings.read(environment))
        # Tests tell the time themselves, whatever the database's clock says.
        return replace(built, queue=self.queue, embedder=self.embedder, **{"clock_lead": timedelta.max, **more})

    @property
    def superuser(self) -> psycopg.Connection[Any]:
        """For what a test does or looks at behind the app's back: past row-level security, each statement committed.

        It is kept, since a new one costs as much as fifty statements do, until its server is stopped.
        """
        if self._superuser is None or not _answers(self._superuser):
            url = self.server.url(self.database_name, "postgres")
            self._superuser = psycopg.connect(url, autocommit=True, prepare_threshold=None)
        return self._superuser

    def tenant(self, name: str = "acme", plan: str = "team") -> Tenant:
        made = tenancy.create(self.owner, name=name, plan=plan, operator=None, now=datetime.now(UTC))
        return Tenant(self, name, UUID(made["tenant_id"]), made["api_token"], made["admin_token"])

    def request(
        self, method: str, path: str, headers: dict[str, str], body: Any = None, *, raw: bytes | None = None
    ) -> Answer:
        from app import app

        content = raw if raw is not None else (b"" if body is None else json.dumps(body).encode())
        with Client(app) as client:
            answer = client.http.request(
                method, path, headers={"Content-Type": "application/json", **headers}, body=content
            )
        named = {name.lower(): value for name, value in answer.headers.items()}
        text = answer.body.decode() or "null"
        is_json = "json" in named.get("content-type", "application/json")
        return Answer(answer.status_code, named, json.loads(text) if is_json else text)

    def close(self) -> None:
        if self._superuser is not None:
            self._superuser.close()
        for database in (self.owner, self.outside.database, self.worker.database):
            database.close()


@contextmanager
def deployed(server: TestServer, environment: dict[str, str] | None = None) -> Iterator[Deployment]:
    """A deployment on a database that is made for it and goes with it."""
    deployment = Deployment(server, server.create(), environment or {})
    try:
        yield deployment
    finally:
        deployment.close()
        server.drop(deployment.database_name)


def _answers(connection: psycopg.Connection[Any]) -> bool:
    try:
        connection.execute("")
    except psycopg.OperationalError:
        return False
    return True


def result(url: str, body: bytes = b"", *, status: int = 200, **headers: str) -> ssrf.FetchResult:
    """What the guard brings."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    named.setdefault("content-type", "text/html; charset=utf-8")
    return ssrf.FetchResult(status, url, named, body, 0.01, 0, None)
