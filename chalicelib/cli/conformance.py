"""``larder conformance``: show whether a provider, anybody's, keeps the contract."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from chalicelib.cli.output import emit, json_option, table, wants_json

_EXITS = {"passed": 0, "failed": 1, "incomplete": 3}
_VERDICTS = {
    "passed": "The contract is kept.",
    "failed": "The contract is broken.",
    "incomplete": "Incomplete, so nothing is said of the contract. Not judged: {}.",
}


@click.command()
@click.argument("base_url")
@click.option(
    "--secret",
    envvar="LARDER_PROVIDER_SECRET",
    show_envvar=True,
    required=True,
    help="The registration's secret; better in the variable, where other users can't see it.",
)
@click.option("--previous-secret", envvar="LARDER_PROVIDER_PREVIOUS_SECRET", help="One that is good during a rotation.")
@click.option(
    "--profile",
    type=click.Choice(("customer_safe", "agent_only")),
    default="agent_only",
    show_default=True,
    help="What it was registered for.",
)
@click.option("--query", default="password", show_default=True, help="A query that finds something.")
@click.option(
    "--budget",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    show_default=True,
    help="Seconds that an answer may take.",
)
@click.option(
    "--deadline",
    type=click.FloatRange(0, min_open=True),
    default=900.0,
    show_default=True,
    help="Seconds after which nothing more is asked, however far the run is.",
)
@click.option(
    "--junit", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Also write a JUnit report there."
)
@json_option
@click.pass_context
def conformance(
    ctx: click.Context,
    base_url: str,
    secret: str,
    previous_secret: str | None,
    profile: str,
    query: str,
    budget: float,
    deadline: float,
    junit: Path | None,
) -> None:
    """Ask a provider what the contract allows and forbids. Exit status 0: it keeps the contract; 1: it does not.

    A check that can't be judged is skipped, with the reason. Exit status 3: what every provider must show, such as
    what it does with a wrong signature, was among those, so nothing can be said. 2: the call itself is wrong.
    """
    from chalicelib.knowledge import contract
    from chalicelib.knowledge.conformance import suite
    from chalicelib.knowledge.conformance.address import base_url as checked
    from chalicelib.knowledge.conformance.checks import CHECKS
    from chalicelib.knowledge.conformance.subject import Subject

    try:
        checked(base_url)
    except ValueError as error:
        raise click.UsageError(f"BASE_URL {error}") from None
    if not secret:
        raise click.UsageError("--secret must not be empty")
    if not 1 <= len(query) <= contract.MAX_QUERY:
        raise click.UsageError(f"--query must have 1 to {contract.MAX_QUERY} characters")
    if junit is not None and not (junit.parent.is_dir() and os.access(junit.parent, os.W_OK)):
        raise click.UsageError(f"--junit: {junit.parent} is no folder that can be written to")
    subject = Subject(base_url, secret, previous_secret, profile, query, budget, ends=time.monotonic() + deadline)
    findings = []
    for finding in suite.run(subject):
        findings.append(finding)
        if not wants_json():
            click.echo(f"{len(findings)}/{len(CHECKS)} {finding.check}: {finding.status}", err=True)
    if junit is not None:
        junit.write_text(suite.as_junit(findings), encoding="utf-8")
    rows = [(one.status, one.check, one.why or one.rule) for one in findings]
    verdict = suite.verdict(findings)
    told = _VERDICTS[verdict].format(", ".join(suite.unjudged(findings)))
    emit(suite.as_json(subject, findings), f"{table(('', 'CHECK', ''), rows, empty='no checks')}\n\n{told}")
    ctx.exit(_EXITS[verdict])
