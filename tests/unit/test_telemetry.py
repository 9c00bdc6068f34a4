"""The log: the level that was asked for, faults of ours without their text, faults of the environment with theirs."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from chalicelib import bootstrap, settings
from chalicelib.errors import SettingsError
from chalicelib.telemetry import log_unexpected, logger


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    level = logger.log_level
    bootstrap.outside.cache_clear()
    yield
    bootstrap.outside.cache_clear()
    logger.setLevel(level)


@pytest.mark.parametrize(("asked", "level"), [("debug", logging.DEBUG), (None, logging.INFO), ("ERROR", logging.ERROR)])
def test_the_level_that_was_asked_for_is_in_force(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, asked: str | None, level: int
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://localhost/nowhere")
    if asked:
        monkeypatch.setenv("LARDER_LOG_LEVEL", asked)
    bootstrap.outside()
    assert logger.log_level == level
    logger.debug("told by debug")
    logger.info("told by info")
    logger.error("told by error")
    told = [record.getMessage() for record in caplog.records]
    assert told == [f"told by {name}" for name in ("debug", "info", "error") if getattr(logging, name.upper()) >= level]


def test_a_fault_of_ours_tells_its_type_and_place_and_not_its_text(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError("a text that quotes a caller")
    except ValueError as error:
        log_unexpected("unexpected error", error)
    (record,) = caplog.records
    assert record.error_type == "ValueError"  # type: ignore[attr-defined]
    assert "test_telemetry.py" in record.frames[-1]  # type: ignore[attr-defined]
    assert "quotes a caller" not in str(record.__dict__)


def test_faults_of_the_environment_are_told_in_full(caplog: pytest.LogCaptureFixture) -> None:
    try:
        settings.read({"ENABLE_KB": "s3cr3t"})
    except SettingsError as error:
        log_unexpected("unexpected error", error)
    (record,) = caplog.records
    assert record.faults == [  # type: ignore[attr-defined]
        "DATABASE_URL is not set",
        "ENABLE_KB: must be true or false",
    ]
