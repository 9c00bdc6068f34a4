"""The app and its operations function on a socket, on a real database, with a worker at hand."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from chalice.config import Config
from chalice.local import ChaliceRequestHandler, ThreadedHTTPServer

from chalicelib import bootstrap
from chalicelib.services.outside import Outside
from chalicelib.workers import ops
from examples.serve import ExampleSite
from tests.postgres import TestServer
from tests.tenants import Deployment, deployed

INVOCATIONS = "/2015-03-31/functions/larder-ops/invocations"


class Handler(ChaliceRequestHandler):
    """Chalice's own, quietly; an invocation of the operations function goes to its handler."""

    as_owner: Callable[[], Any]

    def _generic_handle(self) -> None:
        if self.path != INVOCATIONS:
            super()._generic_handle()
            return
        _, body = self._parse_payload()
        with self.as_owner():
            answer = ops.run(json.loads(body or b"null"))
        self._send_http_response(200, {"Content-Type": "application/json"}, json.dumps(answer))

    do_GET = do_POST = _generic_handle

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def serving_app(deployment: Deployment) -> Iterator[str]:
    """The base URL; it is the endpoint of the function ``larder-ops`` too."""
    from app import app

    owner = deployment.build("larder_owner")
    role = threading.local()

    @contextmanager
    def as_owner() -> Iterator[None]:
        role.outside = owner
        try:
            yield
        finally:
            del role.outside

    def outside() -> Outside:
        found: Outside = getattr(role, "outside", deployment.outside)
        return found

    handler = type("LiveHandler", (Handler,), {"as_owner": staticmethod(as_owner)})
    factory = partial(handler, app_object=app, config=Config.create(chalice_app=app))
    server = ThreadedHTTPServer(("127.0.0.1", 0), factory)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "outside", outside)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
            owner.database.close()


def work_off(deployment: Deployment) -> list[str]:
    """One tick, and every message that it sent; how the events ended."""
    from chalicelib.services import scheduling
    from chalicelib.workers import refresh

    scheduling.tick(deployment.worker, now=datetime.now(UTC))
    messages, deployment.queue.messages = deployment.queue.messages, []
    return [refresh.run(deployment.worker, one.event_id, clock=lambda: datetime.now(UTC)) for one in messages]


@pytest.fixture(scope="module", name="site")
def live_site() -> Iterator[ExampleSite]:
    with ExampleSite(redirects={"/inside": "http://169.254.169.254/"}) as site:
        yield site


@pytest.fixture(scope="module", name="live")
def live_deployment(server: TestServer, site: ExampleSite) -> Iterator[Deployment]:
    environment = {"KB_ALLOW_PRIVATE_NETWORKS": "true", "KB_ALLOWED_PORTS": f"443,{site.port}"}
    with deployed(server, environment) as deployment:
        yield deployment


@pytest.fixture(scope="module", name="url")
def live_url(live: Deployment) -> Iterator[str]:
    with serving_app(live) as url:
        yield url
