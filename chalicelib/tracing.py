"""Traces: how long each part of the work took, for X-Ray, by names of ours and never by a value of anybody's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from chalicelib.telemetry import logger


class Tracer:
    """Off, it costs and loads nothing. On, it patches nothing and shows X-Ray no exception: both would tell texts."""

    def __init__(self, service: str, *, enabled: bool) -> None:
        self._service, self._enabled = service, enabled

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """A part of the work. ``name`` is written in the code, or is a route's."""
        if not self._enabled:
            yield
            return
        span = self._recorder.begin_subsegment(name)
        try:
            yield
        except BaseException:
            span.add_fault_flag()
            raise
        finally:
            span.put_annotation("correlation_id", logger.get_correlation_id() or "")
            self._recorder.end_subsegment()

    @cached_property
    def _recorder(self) -> Any:
        from aws_lambda_powertools import Tracer as Powertools

        return Powertools(service=self._service, auto_patch=False).provider
