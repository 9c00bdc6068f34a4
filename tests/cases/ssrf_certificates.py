"""Certificates for the cases' TLS servers, made on the spot by a certificate authority that lives in memory."""

from __future__ import annotations

import re
import ssl
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from chalicelib.fetching.ssrf import tls_context
from tests.cases.ssrf_words import Unreadable


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


@dataclass(frozen=True)
class Authority:
    """A root and its key; ``issue`` signs a leaf for some names, ``client_context`` trusts this root alone."""

    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    name: str = "case library root"

    def root(self) -> x509.Certificate:
        """The self-signed root certificate."""
        now = datetime.now(UTC)
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        builder = self._builder(self.key, self.name, now - timedelta(days=900), now + timedelta(days=900))
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        return builder.add_extension(usage, critical=True).sign(self.key, hashes.SHA256())

    def _builder(self, key: Any, common: str, start: datetime, end: datetime) -> x509.CertificateBuilder:
        builder = x509.CertificateBuilder().subject_name(_name(common)).issuer_name(_name(self.name))
        builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(start).not_valid_after(end)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        return builder.add_extension(issuer, critical=False)

    def issue(self, names: tuple[str, ...], start_days: int = -1, end_days: int = 30) -> tuple[bytes, bytes]:
        """A leaf certificate and its key, as PEM, for host names and IP addresses (no names: only a common name)."""
        now, key = datetime.now(UTC), ec.generate_private_key(ec.SECP256R1())
        dates = now + timedelta(days=start_days), now + timedelta(days=end_days)
        builder = self._builder(key, names[0] if names else "src.example.com", *dates)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), False)
        leaf = builder.sign(self.key, hashes.SHA256())
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return leaf.public_bytes(serialization.Encoding.PEM), private

    def client_context(self) -> ssl.SSLContext:
        """The guard's own TLS client, trusting this root and nothing else."""
        return tls_context(self.root().public_bytes(serialization.Encoding.PEM).decode("ascii"))


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


@lru_cache(maxsize=1)
def authority() -> Authority:
    """The one root of the process."""
    return Authority()


@lru_cache(maxsize=1)
def trusting() -> ssl.SSLContext:
    """The client context that trusts the one root."""
    return authority().client_context()


@lru_cache(maxsize=256)
def _leaf(stranger: bool, names: tuple[str, ...], start_days: int, end_days: int) -> tuple[bytes, bytes]:
    issuer = Authority(name="somebody else's root") if stranger else authority()
    return issuer.issue(names, start_days, end_days)


_STRANGERS = r"self[- ]?signed|unknown|untrusted|(?:private|internal) ca|incomplete"
_NOT_YET = r"not yet|not valid until|future|tomorrow"


def server_context(words: str, host: str, address: str, known: tuple[str, ...]) -> ssl.SSLContext:
    """The TLS server that ``words`` describe, for a client that asks for ``host`` at ``address``.

    ``known`` are the names of the case; a short word such as "a" means the one that begins so.
    """
    lower = words.lower()
    stranger = bool(re.search(_STRANGERS, lower))
    days = (
        (-60, -30)
        if "expired" in lower
        else (30, 60)
        if re.search(r"not (?:yet|valid until)|future", lower)
        else (-1, 30)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate, key = _leaf(stranger, _names(lower, host, address, known), *days)
    with tempfile.TemporaryDirectory() as folder:
        chain = Path(folder, "chain.pem")
        chain.write_bytes(certificate + key)
        context.load_cert_chain(chain)
    return context


def _names(words: str, host: str, address: str, known: tuple[str, ...]) -> tuple[str, ...]:
    if re.search(r"no san|without (?:a )?san|common name|cn[- ]only|only (?:a |the )?cn", words):
        return ()
    if re.search(r"(?:for|with|has|names?) (?:only )?the ip|ip address|only the address", words):
        return (address,)
    wildcard = re.search(r"\*\.[a-z0-9.*-]+", words)
    if wildcard:
        return (wildcard[0],)
    if re.search(
        r"wrong (?:host|name)|mismatch|(?:other|another|different|someone else's) (?:host|name|domain)", words
    ):
        return ("other.example.net",)
    spoken = re.search(r"(?:certificate|cert)?\s*(?:valid )?\bfor (?:only )?([a-z0-9.-]+)", words) or re.search(
        r"(?:certificate|cert) ([a-z0-9.-]+)$", words
    )
    if spoken:
        token = spoken[1].strip(".")
        full = [name for name in known if name == token or name.split(".")[0] == token]
        if full:
            return (full[0],)
        if "." in token:
            return (token,)
    if re.search(rf"valid|good|ok|expired|{_NOT_YET}|{_STRANGERS}|^$", words):
        return (host,)
    raise Unreadable(words)
