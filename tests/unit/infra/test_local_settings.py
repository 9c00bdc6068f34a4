"""What `make up SET=…` is given is looked at before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra import local


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ("KB_MUTATIONS_PER_HOUR=many", "KB_MUTATIONS_PER_HOUR: must be a whole number from"),
        ("KB_ALLOW_PRIVATE_NETWORKS=perhaps", "KB_ALLOW_PRIVATE_NETWORKS: must be true or false"),
        ("KB_ALLOWLIST_DOMAINS=example.com,,", "KB_ALLOWLIST_DOMAINS: must be domains"),
        ("LARDER_LOG_LEVEL=loud", "LARDER_LOG_LEVEL: must be one of DEBUG, INFO, WARNING, ERROR"),
        ("LARDER_NOTHING=1", "expected NAME=VALUE with NAME one of"),
        ("KB_MUTATIONS_PER_HOUR", "expected NAME=VALUE with NAME one of"),
    ],
)
def test_a_value_that_the_setting_may_not_have_is_a_wrong_call(
    given: str, fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        local.main(["up", "--state", str(tmp_path / "state.json"), "--set", given])
    assert ended.value.code == 2
    assert fault in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_right_one_is_taken_as_it_is() -> None:
    assert local.setting("KB_ALLOWED_PORTS=443,9000") == ("KB_ALLOWED_PORTS", "443,9000")
    assert local.setting("KB_ALLOWLIST_DOMAINS=") == ("KB_ALLOWLIST_DOMAINS", "")
