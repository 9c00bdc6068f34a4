"""The command's root: how it is called, where it connects to, how it fails.

Exit status: 0 done, 1 refused or unreachable (the message is on stderr), 2 called in a wrong way.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from chalicelib.cli import (
    conformance,
    consolidation,
    context,
    doctor,
    events,
    firewall,
    knowledge,
    memory,
    operations,
    policies,
    proof,
    providers,
    quarantine,
    reading,
    retention,
    settings,
    sources,
    suggestions,
)
from chalicelib.cli.connection import STATE, Connection
from chalicelib.cli.failing import emit_problem
from chalicelib.client import ClientError

_ENVIRONMENT = """
\b
LARDER_URL           the API's base URL
LARDER_TOKEN         the API token, for everything
LARDER_ADMIN_TOKEN   the admin token, for changes
LARDER_OPS_FUNCTION  the function behind `larder ops`; AWS credentials as boto3 finds them
AWS_ENDPOINT_URL     where that function is, if not in AWS

Without LARDER_URL the local cloud is used, if it is up; without LARDER_OPS_FUNCTION `larder ops` does so too.
"""


class Root(click.Group):
    """Turns what the client raises into a message and exit status 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand."""
        try:
            return super().invoke(ctx)
        except ClientError as error:
            emit_problem(error, ctx.obj.notices if error.depends_on_where else ())
            ctx.exit(1)


@click.group(cls=Root, epilog=_ENVIRONMENT, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--cloud",
    type=click.Path(dir_okay=False, path_type=Path),
    default=STATE,
    show_default=False,
    help="The file that says where the local cloud is.",
)
@click.option("-v", "--verbose", is_flag=True, help="Say which deployment is used, if no variable names one.")
@click.pass_context
def larder(ctx: click.Context, cloud: Path, verbose: bool) -> None:
    """Ask and run a Larder: a knowledge base whose documents go stale on purpose."""
    ctx.obj = Connection(cloud, verbose)


for command in (
    settings.status,
    sources.sources,
    suggestions.suggestions,
    events.events,
    settings.settings,
    reading.search,
    reading.text,
    reading.diff,
    reading.versions,
    context.context,
    firewall.firewall,
    memory.memory,
    quarantine.quarantine,
    retention.retention,
    consolidation.consolidation,
    providers.providers,
    knowledge.knowledge,
    conformance.conformance,
    doctor.doctor,
    operations.ops,
):
    larder.add_command(command)

for command in (
    policies.policy,
    policies.set_policy,
    policies.source_policy,
    policies.set_source_policy,
    policies.validate,
    proof.verify_proof,
):
    firewall.firewall.add_command(command)
