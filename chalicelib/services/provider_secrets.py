"""Rotation of a provider's secret: two are good for a while, then one, and the old one is wiped (spec 3.2)."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from chalicelib.errors import Conflict
from chalicelib.keys import KeysUnusable
from chalicelib.knowledge import signing
from chalicelib.knowledge.sealed import Sealed, seal, unseal
from chalicelib.services import quotas
from chalicelib.services.outside import Outside
from chalicelib.services.policies import audit
from chalicelib.services.providers import Shown, require
from chalicelib.services.quotas import Allowance
from chalicelib.services.tokens import Principal
from chalicelib.storage.providers import Provider

_SWEEPS = {
    "secrets": "providers.wipe",
    "nonces": "providers.drop_nonces",
    "answers": "providers.drop_answers",
    "windows": "consumers.drop_windows",
}


def rotate(
    outside: Outside, who: Principal, ident: UUID, overlap: timedelta, now: datetime
) -> tuple[Shown, str, Allowance]:
    """Give the registration a new secret, which is shown this once. The old one stays good for ``overlap``.

    An overlap of nothing is always allowed, whatever was counted, and ends every older secret at once. Raises Conflict
    for a rotation inside an overlap: there is room for one previous secret. Raises NotFound, RateLimited, and Conflict
    where the old secret is to stay good and can't be opened, because its key is gone.
    """
    secret = signing.new_secret()
    with quotas.counted(outside, who, now, protects=not overlap) as (tx, allowance):
        before = require(tx, ident, lock=True)
        until = before.previous_secret_until
        if overlap and until is not None and now < until:
            raise Conflict("the previous secret is still good", code="rotation_in_progress", until=until.isoformat())
        sealed = seal(outside.keys, ident, secret)
        previous = seal(outside.keys, ident, _current(outside, before)) if overlap else None
        after = tx.one(
            "providers.set_secret",
            Provider,
            id=ident,
            secret=sealed.ciphertext,
            secret_key_id=sealed.key_id,
            previous_secret=previous.ciphertext if previous else None,
            previous_secret_key_id=previous.key_id if previous else None,
            previous_secret_until=now + overlap if previous else None,
            now=now,
        )
        assert after is not None
        tx.run("providers.forget", id=ident)
        told = {"overlap_seconds": int(overlap.total_seconds())}
        audit(tx, who, "provider.rotate_secret", str(ident), None, told, now)
        return Shown(after, []), secret, allowance


def sweep(outside: Outside, now: datetime) -> dict[str, int]:
    """Take out what has run out, whoever's it is; how much of it. For the scheduled function."""
    swept = {}
    for what, statement in _SWEEPS.items():
        with outside.database.transaction() as tx:  # each its own: nothing is held while the next is waited for
            swept[what] = tx.run(statement, now=now)
    return swept


def _current(outside: Outside, provider: Provider) -> str:
    try:
        return unseal(outside.keys, provider.id, Sealed(provider.secret_key_id, provider.secret))
    except KeysUnusable:
        told = (
            "the present secret can't be opened with today's keys, so it can't stay good: rotate with an overlap of 0"
        )
        raise Conflict(told, code="secret_lost") from None
