"""The local cloud's port is another each time; whoever runs it can ask Larder's own provider all the same."""

from __future__ import annotations

import pytest

from chalicelib import settings
from infra.local import open_to_itself


@pytest.mark.parametrize(
    ("given", "ports"), [({}, {80, 443, 8080, 8443, 50169}), ({"KB_ALLOWED_PORTS": "443,9000"}, {443, 9000, 50169})]
)
def test_its_own_port_is_among_those_that_may_be_asked(given: dict[str, str], ports: set[int]) -> None:
    found = open_to_itself({"KB_MUTATIONS_PER_HOUR": "7", **given}, 50169)
    read = settings.read({"DATABASE_URL": "postgresql:///x", "LARDER_KEYS": "x", **found})
    assert (read.allowed_ports, read.mutations_per_hour) == (ports, 7)


def test_nothing_else_is_opened() -> None:
    assert set(open_to_itself({}, 50169)) == {"KB_ALLOWED_PORTS"}
