"""What a look at one thing says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal

Status = Literal["ok", "warning", "failing"]


class Finding(NamedTuple):
    """How a thing is: a word, a sentence without a secret in it, and numbers or names for programs."""

    status: Status
    detail: str
    facts: Mapping[str, Any] = {}


Look = Callable[[Outside, Principal, datetime], Finding]
