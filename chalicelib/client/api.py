"""Every route of Larder as a method; the names are the operation ids of the OpenAPI document."""

from __future__ import annotations

from chalicelib.client.consolidation import ConsolidationRoutes
from chalicelib.client.doctor import DoctorRoutes
from chalicelib.client.firewall import FirewallRoutes
from chalicelib.client.knowledge import KnowledgeRoutes
from chalicelib.client.memory import MemoryRoutes
from chalicelib.client.retention import RetentionRoutes
from chalicelib.client.service import ServiceRoutes
from chalicelib.client.sources import SourceRoutes
from chalicelib.client.transport import Transport
from chalicelib.client.work import WorkRoutes


class Client(
    ServiceRoutes,
    SourceRoutes,
    WorkRoutes,
    FirewallRoutes,
    MemoryRoutes,
    KnowledgeRoutes,
    DoctorRoutes,
    RetentionRoutes,
    ConsolidationRoutes,
):
    """A tenant's view of one deployment.

    Every method raises ApiProblem for what the API refuses and Unreachable where no answer comes. Reads need the API
    token, changes the admin token too, which is sent with nothing else. ``patience_seconds``: how long a change may
    wait, altogether, when the limit of mutations is used up.
    """

    def __init__(
        self,
        base_url: str,
        token: str | None = None,
        admin_token: str | None = None,
        *,
        patience_seconds: float = 0.0,
    ) -> None:
        super().__init__(Transport(base_url, token, admin_token, patience_seconds=patience_seconds))
        self.base_url = self._transport.base_url
