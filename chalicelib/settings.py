"""Every environment variable, once: name, default, rule, help. All faults are reported together."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.errors import SettingsError
from chalicelib.fetching.errors import FetchError
from chalicelib.fetching.ssrf import parse_allowlist, parse_url
from chalicelib.storage.database_tls import Tls


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable. ``parse`` turns its text (or the default's) into the value or raises ValueError.

    ``choices``: the words that a deployment may be given, where they are few.
    """

    name: str
    default: str | None
    parse: Callable[[str], Any]
    help: str
    choices: tuple[str, ...] = ()


def _flag(text: str) -> bool:
    words = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    try:
        return words[text.strip().casefold()]
    except KeyError:
        raise ValueError("must be true or false") from None


def _text(text: str) -> str:
    return text.strip()


def _integer(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (text.strip().isascii() and text.strip().isdigit() and low <= int(text) <= high):
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(text)

    return parse


def _contact(text: str) -> str:
    if not text.isascii() or not text.isprintable():
        raise ValueError("must be printable ASCII, since it goes into a header")
    return text.strip()


def _domains(text: str) -> tuple[str, ...]:
    try:
        return parse_allowlist(text) if text else ()
    except ValueError:  # its message quotes the entry
        raise ValueError("must be domains with commas between them, none of them empty") from None


def _endpoint(text: str) -> str:
    try:
        target = parse_url(text.strip()) if text.strip() else None
    except FetchError:
        target = None
    if text.strip() and (target is None or "?" in text or "#" in text):
        raise ValueError("must be an https URL without query and fragment, such as https://llm.example.com/v1")
    return text.strip()


def _ports(text: str) -> frozenset[int]:
    port = _integer(1, 65535)
    return frozenset(port(part) for part in text.split(","))


def _service(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9-]{1,128}", text.strip()):
        raise ValueError("must be letters, digits and hyphens")
    return text.strip()


_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def _choice(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.strip().upper() not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return text.strip().upper()

    return parse


VARIABLES: Mapping[str, Variable] = {
    "database_url": Variable(
        "DATABASE_URL",
        None,
        _text,
        "Postgres 16 or later with pgvector 0.8 or later, with this function's own role: a URL, or the ARN of the "
        "secret (Secrets Manager) or parameter (Systems Manager) that holds one.",
    ),
    "database_ca": Variable(
        "LARDER_DATABASE_CA",
        "",
        _text,
        "File with the authorities whose certificate Postgres must show, with its own name in it. A deployment whose "
        "layer carries one fills this in.",
    ),
    "database_plaintext": Variable(
        "LARDER_DATABASE_PLAINTEXT",
        "false",
        _flag,
        "Lets a URL ask for no TLS (sslmode disable, allow or prefer) although Postgres is on another machine.",
    ),
    "enable_kb": Variable("ENABLE_KB", "true", _flag, "Off: only status and settings answer, and nothing is fetched."),
    "enable_kb_retrieval": Variable(
        "ENABLE_KB_RETRIEVAL", "false", _flag, "Whether a context pack may hold extracts of the knowledge base."
    ),
    "mutations_per_hour": Variable(
        "KB_MUTATIONS_PER_HOUR", "10", _integer(1, 1_000_000), "Mutations a tenant may make in an hour."
    ),
    "allowed_domains": Variable(
        "KB_ALLOWLIST_DOMAINS",
        "",
        _domains,
        "Comma-separated domains that may be fetched, each with its subdomains. Unset or empty: no restriction.",
    ),
    "allowed_ports": Variable("KB_ALLOWED_PORTS", "80,443,8080,8443", _ports, "Ports that may be fetched from."),
    "allow_private_networks": Variable(
        "KB_ALLOW_PRIVATE_NETWORKS",
        "false",
        _flag,
        "Opens private and loopback addresses to the fetch, for development. Metadata addresses stay closed.",
    ),
    "fetch_contact": Variable(
        "KB_FETCH_CONTACT", "", _contact, "A URL or mail address that the User-Agent names, for whoever is fetched."
    ),
    "respect_robots": Variable(
        "KB_RESPECT_ROBOTS", "false", _flag, "Whether robots.txt is asked before a page is fetched."
    ),
    "firewall_mode": Variable(
        "LARDER_FIREWALL_MODE",
        "",
        _text,
        "off, advisory or enforce, for tenants that chose none. Unset: advisory; an unknown word counts as advisory.",
    ),
    "firewall_floor": Variable(
        "LARDER_FIREWALL_FLOOR", "", _text, "The mode below which no tenant may go, such as enforce."
    ),
    "allow_unscanned": Variable(
        "LARDER_ALLOW_UNSCANNED_MEMORY",
        "0",
        _flag,
        "The escape hatch from the secret scan of deposits; each text that passes under it is logged as such.",
    ),
    "keys": Variable(
        "LARDER_KEYS",
        "",
        _text,
        "Where the keys for proofs and seals are: a file of mode 0600, or the ARN of a secret of Secrets Manager.",
    ),
    "knowledge_cache_seconds": Variable(
        "LARDER_KNOWLEDGE_CACHE_SECONDS",
        "0",
        _integer(0, 600),
        "How long providers' answers are kept for the agent that asked, such as 60. 0: not at all.",
    ),
    "knowledge_cache_rows": Variable(
        "LARDER_KNOWLEDGE_CACHE_ROWS", "1000", _integer(1, 1_000_000), "Answers that may be kept for one tenant."
    ),
    "search_cache_seconds": Variable(
        "LARDER_SEARCH_CACHE_SECONDS",
        "0",
        _integer(0, 600),
        "How long it is kept which chunks a search found, for who asked, such as 60. 0: not at all.",
    ),
    "search_cache_rows": Variable(
        "LARDER_SEARCH_CACHE_ROWS", "1000", _integer(1, 1_000_000), "Searches that may be kept for one tenant."
    ),
    "widget_per_token": Variable(
        "LARDER_WIDGET_PER_TOKEN", "600", _integer(1, 1_000_000), "Requests a minute that one widget may make."
    ),
    "widget_per_address": Variable(
        "LARDER_WIDGET_PER_ADDRESS", "60", _integer(1, 1_000_000), "Requests a minute to one widget from one address."
    ),
    "queue_url": Variable("LARDER_QUEUE_URL", "", _text, "The SQS queue from tick to worker."),
    "model_dir": Variable("LARDER_MODEL_DIR", "", _text, "The folder with the embedding model."),
    "embed_model": Variable(
        "LARDER_EMBED_MODEL", "", _text, "Another model that fastembed knows, by name, instead of the folder's."
    ),
    "dispatch_per_tenant": Variable(
        "LARDER_DISPATCH_PER_TENANT", "20", _integer(1, 10_000), "Events of one tenant that one tick may dispatch."
    ),
    "dispatch_in_flight": Variable(
        "LARDER_DISPATCH_IN_FLIGHT", "1000", _integer(1, 100_000), "Events that may be dispatched and not leased yet."
    ),
    "lease_seconds": Variable(
        "LARDER_LEASE_SECONDS",
        "450",
        _integer(30, 3600),
        "How long a worker may hold an event without an outcome: longer than it may run, which is 420 s.",
    ),
    "embedding_cache_rows": Variable(
        "LARDER_EMBEDDING_CACHE_ROWS", "200000", _integer(0, 100_000_000), "Rows that the embedding cache may keep."
    ),
    "retention_idle_days": Variable(
        "LARDER_RETENTION_IDLE_DAYS",
        "365",
        _integer(1, 36_500),
        "Days without use after which a tenant that wants to be asked is asked whether a text with an end may go.",
    ),
    "llm_endpoint": Variable(
        "LARDER_LLM_ENDPOINT",
        "",
        _endpoint,
        "The https URL of an OpenAI-compatible API, such as https://llm.example.com/v1, that may be asked to write one "
        "text for two near-duplicates when an operator wants it. Unset: nothing is written, and nothing is sent.",
    ),
    "llm_model": Variable("LARDER_LLM_MODEL", "", _text, "The model that LARDER_LLM_ENDPOINT is asked for."),
    "llm_key": Variable(
        "LARDER_LLM_KEY",
        "",
        _text,
        "Where the key for LARDER_LLM_ENDPOINT is: a file of mode 0600, or the ARN of a secret of Secrets Manager. "
        "Unset: the endpoint asks for none.",
    ),
    "work_kept_days": Variable(
        "LARDER_WORK_KEPT_DAYS",
        "90",
        _integer(1, 36_500),
        "Days after which finished events and answered suggestions are deleted; a source's last event stays.",
    ),
    "log_level": Variable(
        "LARDER_LOG_LEVEL", "INFO", _choice(*_LEVELS), "The least level that is logged.", choices=_LEVELS
    ),
    "tracing": Variable(
        "LARDER_TRACING",
        "false",
        _flag,
        "Whether X-Ray is told how long each part of the work took.",
        choices=("true", "false"),
    ),
    "service": Variable(
        "LARDER_SERVICE",
        "larder",
        _service,
        "What this deployment is called in metrics and traces; the template gives the stack's name.",
    ),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The environment, read and checked once a container. Fields are documented in ``VARIABLES``."""

    database_url: str
    database_ca: str
    database_plaintext: bool
    enable_kb: bool
    enable_kb_retrieval: bool
    mutations_per_hour: int
    allowed_domains: tuple[str, ...]
    allowed_ports: frozenset[int]
    allow_private_networks: bool
    fetch_contact: str
    respect_robots: bool
    firewall_mode: str
    firewall_floor: str
    allow_unscanned: bool
    keys: str
    knowledge_cache_seconds: int
    knowledge_cache_rows: int
    search_cache_seconds: int
    search_cache_rows: int
    widget_per_token: int
    widget_per_address: int
    queue_url: str
    model_dir: str
    embed_model: str
    dispatch_per_tenant: int
    dispatch_in_flight: int
    lease_seconds: int
    embedding_cache_rows: int
    retention_idle_days: int
    llm_endpoint: str
    llm_model: str
    llm_key: str
    work_kept_days: int
    log_level: str
    tracing: bool
    service: str

    @property
    def database_tls(self) -> Tls:
        """How connections to Postgres are protected."""
        return Tls(self.database_ca, self.database_plaintext)


def read(environment: Mapping[str, str]) -> Settings:
    """Settings from ``environment``. Raises SettingsError with every fault, one a line; values are never repeated."""
    values: dict[str, Any] = {}
    faults: list[str] = []
    for field, variable in VARIABLES.items():
        text = environment.get(variable.name, variable.default)
        if text is None or (variable.default is None and not text.strip()):
            faults.append(f"{variable.name} is not set")
            continue
        try:
            values[field] = variable.parse(text)
        except ValueError as error:
            faults.append(f"{variable.name}: {error}")
    if values.get("llm_endpoint", "").lower().startswith("http:") and not values.get("allow_private_networks"):
        faults.append("LARDER_LLM_ENDPOINT: must be https unless KB_ALLOW_PRIVATE_NETWORKS is true")
    if faults:
        raise SettingsError("\n".join(faults))
    return Settings(**values)
