"""Certificates of a test's own: an authority, and what it signs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Signed:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def write(self, file: Path, *, key: bool = False) -> Path:
        """As PEM, with the key if asked for."""
        pem = self.certificate.public_bytes(serialization.Encoding.PEM)
        if key:
            plain = serialization.NoEncryption()
            pem += self.key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
        file.write_bytes(pem)
        file.chmod(0o600)
        return file


def authority(name: str = "An authority of the tests") -> Signed:
    """One that signs itself."""
    return _sign(name, None)


def server(by: Signed, name: str) -> Signed:
    """A server called ``name``."""
    return _sign(name, by)


def _sign(name: str, by: Signed | None) -> Signed:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.certificate.subject if by else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
    )
    if by is not None:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    return Signed(builder.sign(by.key if by else key, hashes.SHA256()), key)
