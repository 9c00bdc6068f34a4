"""The database's authorities get into the layer, and a deployment notices when they get lost."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from infra import database_ca
from infra.database_ca import MEMBER, ON_LAMBDA, PARAMETER, BundleError
from infra.stack import DeployError
from tests import authority


def layer(folder: Path, *, carried: bool) -> Path:
    archive = folder / "layer.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr(MEMBER if carried else "python/app.py", "")
    return archive


def test_a_bundle_of_certificates_lies_where_the_functions_look(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(
        b"".join(authority.authority().write(tmp_path / str(number)).read_bytes() for number in range(2))
    )
    (tmp_path / "layer").mkdir()
    database_ca.lay(bundle, tmp_path / "layer")
    assert (tmp_path / "layer" / MEMBER).read_bytes() == bundle.read_bytes()
    assert f"/opt/{MEMBER}" == ON_LAMBDA


def test_a_key_and_what_is_no_certificate_stay_at_home(tmp_path: Path) -> None:
    key = authority.authority().write(tmp_path / "key.pem", key=True)
    (tmp_path / "text.pem").write_text("no certificate")
    for bundle in (key, tmp_path / "text.pem", tmp_path / "none.pem"):
        with pytest.raises(BundleError):
            database_ca.lay(bundle, tmp_path)
    assert not (tmp_path / MEMBER).exists()


@pytest.mark.parametrize("standing", [{}, {PARAMETER: ""}, {PARAMETER: ON_LAMBDA}])
def test_a_layer_that_carries_them_turns_the_check_on(tmp_path: Path, standing: dict[str, str]) -> None:
    assert database_ca.parameters(layer(tmp_path, carried=True), {}, standing) == {PARAMETER: ON_LAMBDA}


def test_what_the_operator_says_counts(tmp_path: Path) -> None:
    for told in ("", "/opt/python/own.pem"):
        assert database_ca.parameters(layer(tmp_path, carried=True), {PARAMETER: told}, {}) == {}
    assert database_ca.parameters(layer(tmp_path, carried=False), {PARAMETER: ""}, {PARAMETER: ON_LAMBDA}) == {}


@pytest.mark.parametrize(("wanted", "standing"), [({}, {PARAMETER: ON_LAMBDA}), ({PARAMETER: ON_LAMBDA}, {})])
def test_a_layer_that_lost_them_is_not_deployed(
    tmp_path: Path, wanted: dict[str, str], standing: dict[str, str]
) -> None:
    with pytest.raises(DeployError, match="CA=FILE"):
        database_ca.parameters(layer(tmp_path, carried=False), wanted, standing)
    assert database_ca.parameters(layer(tmp_path, carried=False), {}, {}) == {}
