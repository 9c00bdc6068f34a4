"""The proof that a served chunk carries: that the firewall let it pass, when, by which policy, for whom (spec 2.3)."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

import rfc8785

from chalicelib.domain.evaluation import Decision, Request
from chalicelib.domain.evaluation_record import Form, Recorder
from chalicelib.domain.policy import instant
from chalicelib.keys import Keyring, Signer


class Proof(NamedTuple):
    """Shows later that the firewall let this chunk pass: an HMAC over the RFC 8785 form of the rest."""

    chunk_id: UUID
    decision: str
    evaluated_at: datetime
    policy_digest: str
    context: dict[str, str]
    key_id: str
    mac: str


class Clerk:
    """Writes out what one request got at one instant. Raises KeysUnusable once there is something to write."""

    def __init__(self, keys: Keyring, request: Request, mode: str, trace_id: str, now: datetime) -> None:
        self._keys, self._now = keys, now
        self._context = {
            "tenant_id": request.tenant_id,
            "role": request.role,
            "purpose": request.purpose,
            "operator": request.operator,
            "trace_id": trace_id,
            "mode": str(mode),
        }
        self._forms: dict[Decision, Form] = {}

    def form(self, decision: Decision) -> Form:
        """The canonical forms of a decision: most hits of a request get the same."""
        form = self._forms.get(decision)
        if form is None:
            form = self._forms[decision] = self._recorder.form(decision.code, decision.reason)
        return form

    def proof(self, chunk_id: UUID, decision: Decision, digest: str, message: bytes) -> Proof:
        """What the asker gets of a decision, whose form for proofs is ``message``."""
        mac = self._signer.mac(message)
        return Proof(chunk_id, decision.code, self._now, digest, self._context, self._signer.key_id, mac)

    @cached_property
    def _recorder(self) -> Recorder:
        return Recorder(self._context, self._now, self._signer.key_id)

    @cached_property
    def _signer(self) -> Signer:
        return self._keys.signer("proof")


def verify(keys: Keyring, proof: Proof) -> bool:
    """Whether the proof is ours and unchanged. Its context may be anything that somebody sent."""
    message = rfc8785.dumps(
        {
            "chunk_id": str(proof.chunk_id),
            "decision": proof.decision,
            "evaluated_at": instant(proof.evaluated_at),
            "policy_digest": proof.policy_digest,
            "context": dict(proof.context),
            "key_id": proof.key_id,
        }
    )
    return keys.verify("proof", message, proof.key_id, proof.mac)
