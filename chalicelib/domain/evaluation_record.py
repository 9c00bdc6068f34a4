"""What is chained and what is signed of a decision: its canonical JSON (RFC 8785).

Both are closed shapes: ASCII names, strings, one integer or null. Their canonical form is those names in order and
ECMAScript's escapes in strings, which is what json's own string encoder writes. So it is composed here directly, and
what many decisions share is encoded once. Tests hold it to the rfc8785 library.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from json.encoder import encode_basestring as _text
from typing import NamedTuple

from chalicelib.domain.policy import instant

CONTEXT = ("mode", "operator", "purpose", "role", "tenant_id", "trace_id")
"""What a request says of itself, in the order of the canonical form."""


class Form(NamedTuple):
    """The canonical forms of one decision that a request got, with room for the chunk and the policy.

    Ids of chunks and sources are UUIDs in their usual spelling; a digest is any text.
    """

    decided: str
    asked: str
    whose: str
    proven: str

    def record(self, chunk_id: str, source_id: str, version: int | None, digest: str) -> bytes:
        """What the chain is over."""
        return (
            f'{{"chunk_id":"{chunk_id}",{self.decided},"policy_digest":{_text(digest)},{self.asked},'
            f'"source_id":"{source_id}",{self.whose},"version":{"null" if version is None else version}}}'
        ).encode()

    def proof(self, chunk_id: str, digest: str) -> bytes:
        """What a proof's HMAC is over."""
        return f'{{"chunk_id":"{chunk_id}",{self.proven},"policy_digest":{_text(digest)}}}'.encode()


class Recorder:
    """The forms of what one request, of this ``context``, got at one instant."""

    def __init__(self, context: Mapping[str, str], evaluated_at: datetime, key_id: str = "") -> None:
        self._of = {name: f'"{name}":{_text(context[name])}' for name in CONTEXT}
        self._at = f'"evaluated_at":{_text(instant(evaluated_at))}'
        self._key = f'"key_id":{_text(key_id)}'

    def form(self, code: str, reason: str) -> Form:
        """Encode what is the same for every chunk that got this decision."""
        of, decision = self._of, f'"decision":{_text(code)}'
        return Form(
            decided=f"{decision},{self._at},{of['mode']},{of['operator']}",
            asked=f'{of["purpose"]},"reason":{_text(reason)},{of["role"]}',
            whose=f"{of['tenant_id']},{of['trace_id']}",
            proven=f'"context":{{{",".join(of.values())}}},{decision},{self._at},{self._key}',
        )
