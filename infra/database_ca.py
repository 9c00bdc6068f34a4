"""The authorities of the database's certificate: brought into the layer, where every function finds them."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

from cryptography.x509 import load_pem_x509_certificates

from infra.package import parameter_name
from infra.stack import DeployError

PARAMETER = parameter_name("LARDER_DATABASE_CA")
MEMBER = "ca/database.pem"
ON_LAMBDA = f"/opt/{MEMBER}"


class BundleError(Exception):
    """The file holds no certificates, or what must not leave this machine."""


def lay(bundle: Path, layer: Path) -> None:
    """Copy the PEM file ``bundle`` into the unpacked ``layer``. Raises BundleError."""
    try:
        text = bundle.read_bytes()
        found = load_pem_x509_certificates(text)
    except (OSError, ValueError) as error:
        raise BundleError(f"{bundle} holds no certificates in PEM: {error}") from None
    if b"PRIVATE KEY" in text:
        raise BundleError(f"{bundle} holds a private key, which has no business in a layer")
    (layer / MEMBER).parent.mkdir(exist_ok=True)
    shutil.copyfile(bundle, layer / MEMBER)
    print(f"{len(found)} certificates of the database's authorities")


def parameters(layer: Path, wanted: Mapping[str, str], standing: Mapping[str, str]) -> dict[str, str]:
    """What the archive ``layer`` adds to a deployment's ``wanted`` parameters; ``standing``: the stack's until now.

    Raises DeployError if the functions would look for authorities that this layer doesn't carry: it was built without.
    """
    with zipfile.ZipFile(layer) as archive:
        carried = MEMBER in archive.namelist()
    told = wanted.get(PARAMETER)
    if carried:
        return {PARAMETER: ON_LAMBDA} if told is None else {}
    if (standing.get(PARAMETER) if told is None else told) == ON_LAMBDA:
        raise DeployError(
            f"the layer carries no authorities of the database's certificate, and {PARAMETER} says that it does: "
            f"build it with CA=FILE, or set {PARAMETER} to nothing"
        )
    return {}
