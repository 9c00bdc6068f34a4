"""``larder firewall verify-proof``: whether what a hit claims was decided so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TextIO

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.output import emit, json_option, table
from chalicelib.client.api import Client

WHAT_IT_PROVES = "A proof shows what was decided about a chunk, for whom and when. It says nothing of the chunk's text."


@click.command("verify-proof", epilog=WHAT_IT_PROVES)
@click.argument("file", type=click.File(encoding="utf-8"), default="-")
@json_option
@click.pass_context
def verify_proof(ctx: click.Context, file: TextIO) -> None:
    """Check the proof of a hit, as JSON in FILE or on stdin; exits with 1 if it is not ours or was changed.

    FILE may hold a proof, a hit, or a whole answer of `larder search --json`. What a hit says besides its proof, its
    chunk's id and the decision, must agree with the proof.
    """
    connection: Connection = ctx.obj
    try:
        given = json.load(file)
    except ValueError as error:
        raise click.UsageError(f"{file.name} holds no JSON") from error
    client = connection.client()
    verdicts = [_verdict(client, claim) for claim in _claims(given)]
    valid = all(one["valid"] for one in verdicts)
    rows = [
        (_word(one), *(one["proof"][name] for name in ("chunk_id", "decision", "evaluated_at"))) for one in verdicts
    ]
    shown = table(("RESULT", "CHUNK", "DECISION", "AT"), rows, empty="")
    emit({"valid": valid, "proofs": verdicts}, f"{shown}\n{WHAT_IT_PROVES}")
    ctx.exit(0 if valid else 1)


def _claims(given: Any) -> list[dict[str, Any]]:
    """The hits of an answer, the extracts of a context pack, or the one thing that was given. Raises UsageError."""
    found = given.get("hits", given.get("manifest", [given])) if isinstance(given, dict) else given
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
        raise click.UsageError("there is no hit and no proof in it")
    return found


def _verdict(client: Client, claim: Mapping[str, Any]) -> dict[str, Any]:
    proof = claim.get("proof", claim)
    proof = proof if isinstance(proof, dict) else {}
    ours = client.verify_proof(proof)["valid"]
    differs = _contradictions(claim, proof) if "proof" in claim else []
    return {"valid": ours and not differs, "ours": ours, "differs": differs, "proof": proof}


def _contradictions(claim: Mapping[str, Any], proof: Mapping[str, Any]) -> list[str]:
    """The members of a hit that its proof gainsays. A warning begins with the code of the decision that it warns of."""
    found = [name for name in ("chunk_id", "policy_digest") if name in claim and claim[name] != proof.get(name)]
    silent = proof.get("decision") == "allow" or proof.get("context", {}).get("mode") == "off"
    warned_of = str(claim.get("policy_warning") or "").partition(":")[0]
    if "policy_warning" in claim and warned_of != ("" if silent else proof.get("decision")):
        found.append("policy_warning")
    return found


def _word(verdict: Mapping[str, Any]) -> str:
    if verdict["valid"]:
        return "valid"
    return f"not valid: its proof gainsays {', '.join(verdict['differs'])}" if verdict["differs"] else "not valid"
