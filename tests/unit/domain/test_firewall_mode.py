import pytest

from chalicelib.domain.evaluation import ALLOW, Decision
from chalicelib.domain.firewall_mode import Mode, faults, parse, resolve, surface

SOFT = Decision("block_expired", "chunk expired at 2026-01-01T00:00:00Z")
HARD = Decision("block_tenant_mismatch", "the chunk is not of the request's tenant", hard=True)


@pytest.mark.parametrize(
    ("tenant", "environment", "floor", "mode"),
    [
        (None, None, None, "advisory"),
        ("", " ", "", "advisory"),
        (" Off ", "enforce", None, "off"),
        (None, "ENFORCE", None, "enforce"),
        ("strict", "enforce", None, "advisory"),
        (None, "strict", None, "advisory"),
        ("off", "off", "enforce", "enforce"),
        ("enforce", "off", "advisory", "enforce"),
        ("off", None, "advisory", "advisory"),
        ("off", None, "strict", "advisory"),
    ],
)
def test_tenant_before_environment_before_advisory_and_never_below_the_floor(
    tenant: str | None, environment: str | None, floor: str | None, mode: str
) -> None:
    assert resolve(tenant, environment, floor) == mode


def test_a_mode_that_is_written_must_be_one() -> None:
    assert parse(" Enforce\n") is Mode.ENFORCE
    with pytest.raises(ValueError, match="'strict' is no firewall mode"):
        parse("strict")
    with pytest.raises(ValueError, match="no firewall mode"):
        parse("")


def test_settings_that_name_no_mode_are_reported() -> None:
    (fault,) = faults(LARDER_FIREWALL_MODE="strict", LARDER_FIREWALL_FLOOR="enforce", other=None)
    assert fault.startswith("LARDER_FIREWALL_MODE: 'strict'")


def test_each_mode_surfaces_a_soft_block_in_its_own_way() -> None:
    assert surface(Mode.OFF, SOFT) == (True, None)
    assert surface(Mode.ADVISORY, SOFT) == (True, "block_expired: chunk expired at 2026-01-01T00:00:00Z")
    assert surface(Mode.ENFORCE, SOFT) == (False, None)


@pytest.mark.parametrize("mode", Mode)
def test_a_hard_block_is_dropped_without_a_word_in_every_mode(mode: Mode) -> None:
    assert surface(mode, HARD) == (False, None)


@pytest.mark.parametrize("mode", Mode)
def test_routes_to_customers_enforce_whatever_the_mode(mode: Mode) -> None:
    assert surface(mode, SOFT, always_enforce=True) == (False, None)
    assert surface(mode, ALLOW, always_enforce=True) == (True, None)
