from __future__ import annotations

import pytest

from chalicelib import bootstrap


def test_a_mode_that_is_none_is_told_at_start_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://localhost/nowhere")
    monkeypatch.setenv("LARDER_FIREWALL_FLOOR", "enforced")
    monkeypatch.setenv("LARDER_FIREWALL_MODE", " Advisory ")
    bootstrap.outside.cache_clear()
    with caplog.at_level("WARNING"):
        bootstrap.outside()
    bootstrap.outside.cache_clear()
    assert [record.getMessage() for record in caplog.records] == [
        "LARDER_FIREWALL_FLOOR: 'enforced' is no firewall mode: use off, advisory, enforce; advisory is used"
    ]
