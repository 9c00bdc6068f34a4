"""Larder: the HTTP API, the pages, the tick, the refresh worker, and operations under IAM. Nothing else stands here."""

from __future__ import annotations

from typing import Any

from chalice.app import Chalice, CloudWatchEvent, Rate, SQSEvent

from chalicelib.api import problem, resources
from chalicelib.ui import pages


class Larder(Chalice):
    """Chalice, whose own errors leave as problem+json too."""

    def __call__(self, event: Any, context: Any) -> Any:
        """Answer one API Gateway request."""
        return problem.of_framework(super().__call__(event, context))


app = Larder(app_name="larder")
for resource in [*resources(), *pages()]:
    app.register_blueprint(resource.blueprint)


@app.schedule(Rate(1, unit=Rate.MINUTES), name="tick")
def tick(event: CloudWatchEvent) -> dict[str, Any]:
    """Dispatch what is due."""
    from chalicelib.workers import tick as worker

    context: Any = event.context
    return worker.run(context.aws_request_id)


@app.on_sqs_message(queue="refresh", batch_size=1, name="worker")
def worker(event: SQSEvent) -> dict[str, Any]:
    """Refresh one source; the partial batch response passes through. The template names the stack's own queue."""
    from chalicelib.workers import refresh

    return refresh.handle(event.to_dict()["Records"])


@app.lambda_function(name="ops")
def ops(event: Any, context: Any) -> dict[str, Any]:
    """Migrate, and make and end tenants and tokens."""
    from chalicelib.workers import ops as operations

    return operations.run(event, context.aws_request_id)
