"""Which source is meant, and what a source is called."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

from chalicelib.cli.output import table
from chalicelib.client import ClientError
from chalicelib.client.answers import Source
from chalicelib.client.api import Client

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class SourceNotFound(ClientError):
    """No source answers to what was given, or, where there are ``candidates``, more than one."""

    def __init__(self, given: str, candidates: Sequence[Source]) -> None:
        self.candidates = candidates
        self.detail = (
            f"{len(candidates)} sources have the name {given!r}; give the id or the uri of one"
            if candidates
            else f"no source has the id, uri or name {given!r}"
        )
        rows = [(one["id"], one["uri"]) for one in candidates]
        super().__init__(f"{self.detail}\n{table(('ID', 'URI'), rows, empty='')}".rstrip())

    def document(self) -> dict[str, Any]:
        """As the API would put it; ``sources`` are the candidates."""
        if not self.candidates:
            return {"code": "not_found", "detail": self.detail}
        return {"code": "ambiguous", "detail": self.detail, "sources": list(self.candidates)}


def source_id(client: Client, given: str) -> str:
    """The id of the source that ``given`` means: an id, a uri, or a name that only one has. Raises SourceNotFound."""
    if _UUID.fullmatch(given):
        return given
    uri = _canonical(given)
    known = [one for one in client.iter_sources() if one["name"] == given or one["uri"] == uri]
    matches = [one for one in known if one["uri"] == uri] or known
    if len(matches) != 1:
        raise SourceNotFound(given, matches)
    return matches[0]["id"]


def names_of(client: Client, ids: Collection[str]) -> dict[str, str]:
    """What these sources are called; asks for no more of the list than holds them. One that is gone is left out."""
    wanted, names = set(ids), dict[str, str]()
    for one in client.iter_sources() if wanted else ():
        if one["id"] in wanted:
            names[one["id"]] = one["name"]
            if len(names) == len(wanted):
                break
    return names


def _canonical(uri: str) -> str:
    """The spelling under which a source is kept; what is no URL stays as it is."""
    from chalicelib.domain.source_url import canonicalise  # its tables of names would slow every command down

    with suppress(ValueError):
        return canonicalise(uri)
    return uri
