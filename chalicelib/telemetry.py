"""The operator's log: JSON lines with a correlation id, and never a secret, a query, a body or an address."""

from __future__ import annotations

import traceback
from typing import Any

from aws_lambda_powertools import Logger

from chalicelib.errors import SettingsError

logger = Logger(service="larder", utc=True, log_record_order=["level", "message"])


def log_unexpected(what: str, error: BaseException) -> None:
    """Log a fault of ours: its type and where it arose, without its text, which may quote what callers sent.

    Faults of the environment are told in full: they repeat no value.
    """
    frames = traceback.extract_tb(error.__traceback__)
    told: dict[str, Any] = {"faults": str(error).splitlines()} if isinstance(error, SettingsError) else {}
    logger.error(
        what,
        error_type=type(error).__name__,
        frames=[f"{frame.filename.rsplit('/', 3)[-1]}:{frame.lineno} {frame.name}" for frame in frames[-12:]],
        **told,
    )
