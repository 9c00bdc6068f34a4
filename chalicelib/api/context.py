"""``/v1/context-pack``: evidence for a prompt."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from chalicelib.api import fields
from chalicelib.api.reading import reading_of
from chalicelib.api.resource import Answer, Call, Input, NoQuery, Output, Resource
from chalicelib.api.search import ProofOut
from chalicelib.services import context as service
from chalicelib.services.search import Hit

context = Resource("context")


class PackIn(Input):
    """What the prompt is about, and how many characters there are for evidence."""

    query: fields.QueryText
    max_chars: Annotated[int, Field(ge=500, le=100_000)]
    role: fields.Name | None = None
    purpose: fields.Purpose | None = None


class ManifestEntry(Output):
    """One extract. ``trust`` is on the pack's scale (0 to 1), ``provenance_trust`` on the text's own (0 to 100)."""

    extract: int
    chunk_id: UUID
    source_id: UUID
    source_name: str
    source_uri: str
    version: int
    fetched_at: datetime
    stale: bool
    trust: float
    provenance_trust: int
    policy_digest: str
    policy_warning: str | None
    proof: ProofOut


class PackOut(Output):
    """The pack and its manifest; ``left_out`` says why a pack holds nothing of the knowledge base."""

    text: str
    manifest: list[ManifestEntry]
    left_out: str | None
    degraded: str | None


@context.route("POST", "/v1/context-pack", action="context.read", access="read", body=PackIn, answers={200: PackOut})
def context_pack(call: Call[PackIn, NoQuery]) -> Answer:
    """Assemble evidence for a prompt, fenced and labelled as untrusted."""
    body = call.body
    reading = reading_of(call, body.role, body.purpose)
    packed = service.pack(call.outside, call.who, reading, body.query, body.max_chars, call.now)
    manifest = [_entry(number, hit, packed.trust) for number, hit in enumerate(packed.hits, start=1)]
    return Answer(PackOut(text=packed.text, manifest=manifest, left_out=packed.left_out, degraded=packed.degraded))


def _entry(number: int, hit: Hit, trust: float) -> ManifestEntry:
    candidate = hit.candidate
    named = ("chunk_id", "source_id", "source_name", "source_uri", "version", "fetched_at", "stale")
    return ManifestEntry(
        extract=number,
        **{name: getattr(candidate, name) for name in named},
        trust=trust,
        provenance_trust=candidate.policy.provenance.trust,
        policy_digest=hit.proof.policy_digest,
        policy_warning=hit.policy_warning,
        proof=ProofOut.model_validate(hit.proof),
    )
