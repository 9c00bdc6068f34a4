"""What goes ahead of an upgrade: the schema of the new code, while the old code still serves.

Migrations work with the code before them, and code doesn't work without its own: so they go first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from chalicelib.storage.migrate import SchemaNewer
from infra.stack import DeployError, FunctionFailed, Stack

if TYPE_CHECKING:
    from infra.deploy import Deployment


def migrate_ahead(
    running: Deployment, stack: Stack, wanted: Mapping[str, str], say: Callable[[str], None] = print
) -> None:
    """Give the stack's ``ops`` function the new code and have it migrate; the stack's own update follows.

    ``wanted`` names the code's archive. Does nothing if the stack has that code already. A new code that can't start
    on the old layer migrates after the update, as at first; that is told.
    Raises DeployError if a migration fails: nothing else has changed then.
    """
    if stack.parameters().get("CodeKey") == wanted["CodeKey"]:
        return
    functions, name = running.account.functions(), running.outputs["OpsName"]
    functions.update_function_code(FunctionName=name, S3Bucket=wanted["ArtefactBucket"], S3Key=wanted["CodeKey"])
    functions.get_waiter("function_updated_v2").wait(FunctionName=name)
    say("ahead of the new code:")
    try:
        migrate(running, say)
    except FunctionFailed:
        say("  the new code can't start on the old layer: the database is migrated after it")


def migrate(deployment: Deployment, say: Callable[[str], None]) -> None:
    """Bring the schema to the code of the ``ops`` function; one that is newer is left. Raises DeployError."""
    say("migrating the database")
    answer = deployment.invoke("Ops", {"command": "migrate"})
    if not answer["ok"] and answer["code"] != SchemaNewer.__name__:
        raise DeployError(f"ops migrate: {answer['code']}: {answer['detail']}")
    for line in answer["result"]["applied"] if answer["ok"] else [answer["detail"]]:
        say(f"  {line}")
