"""Routes of knowledge providers: registrations, those who may ask, and the asking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from chalicelib.client import knowledge_answers as answers
from chalicelib.client.routes import Routes, given, segment

Answer = TypeVar("Answer")

_PROVIDERS = "/v1/knowledge/providers"


class KnowledgeRoutes(Routes):
    """Registrations and consumers are for admins; a search needs a token of its own class."""

    # --- registrations ---

    def list_providers(self) -> answers.ProviderList:
        """Every registration, and how it does."""
        return self._get(answers.ProviderList, _PROVIDERS, as_admin=True)

    def add_provider(
        self,
        name: str,
        base_url: str,
        exposure_profile: str,
        *,
        priority: int | None = None,
        capabilities: Sequence[str] | None = None,
        module: str | None = None,
        allow_private_network: bool | None = None,
        acknowledge: str | None = None,
        send_conversation_id: bool | None = None,
    ) -> answers.ProviderWithSecret:
        """Register a provider; the answer has its secret, this once."""
        wanted = given(
            name=name,
            base_url=base_url,
            exposure_profile=exposure_profile,
            priority=priority,
            capabilities=capabilities,
            module=module,
            allow_private_network=allow_private_network,
            acknowledge=acknowledge,
            send_conversation_id=send_conversation_id,
        )
        return self._change(answers.ProviderWithSecret, _PROVIDERS, wanted)

    def change_provider(self, provider_id: str, changes: Mapping[str, Any]) -> answers.Provider:
        """Change fields; what is left out stays."""
        return self._alter(answers.Provider, "PATCH", f"{_PROVIDERS}/{segment(provider_id)}", changes)

    def remove_provider(self, provider_id: str) -> answers.Removed:
        """Remove a registration and what was kept about it."""
        return self._alter(answers.Removed, "DELETE", f"{_PROVIDERS}/{segment(provider_id)}")

    def rotate_secret(self, provider_id: str, overlap_seconds: int | None = None) -> answers.ProviderWithSecret:
        """A new secret, shown this once; 0 seconds end the old one at once."""
        path = f"{_PROVIDERS}/{segment(provider_id)}/rotate-secret"
        return self._change(answers.ProviderWithSecret, path, given(overlap_seconds=overlap_seconds))

    def refresh_capabilities(self, provider_id: str) -> answers.Refreshed:
        """Read what a provider declares."""
        return self._change(answers.Refreshed, f"{_PROVIDERS}/{segment(provider_id)}/refresh-capabilities")

    def try_provider(self, provider_id: str, query: str | None = None, limit: int | None = None) -> answers.Trial:
        """Ask one provider alone; nothing is counted or kept."""
        return self._change(answers.Trial, f"{_PROVIDERS}/{segment(provider_id)}/test", given(query=query, limit=limit))

    # --- those who may ask ---

    def list_agents(self) -> answers.ConsumerList:
        """Every agent."""
        return self._get(answers.ConsumerList, "/v1/agents", as_admin=True)

    def add_agent(self, name: str) -> answers.ConsumerWithToken:
        """A named agent and its token."""
        return self._change(answers.ConsumerWithToken, "/v1/agents", {"name": name})

    def change_agent(self, agent_id: str, active: bool) -> answers.Consumer:
        """Switch an agent off or on."""
        return self._alter(answers.Consumer, "PATCH", f"/v1/agents/{segment(agent_id)}", {"active": active})

    def remove_agent(self, agent_id: str) -> answers.Removed:
        """Remove an agent and its token."""
        return self._alter(answers.Removed, "DELETE", f"/v1/agents/{segment(agent_id)}")

    def list_assistants(self) -> answers.ConsumerList:
        """Every assistant."""
        return self._get(answers.ConsumerList, "/v1/assistants", as_admin=True)

    def add_assistant(self, name: str) -> answers.ConsumerWithToken:
        """An assistant and its token, which may do nothing yet."""
        return self._change(answers.ConsumerWithToken, "/v1/assistants", {"name": name})

    def change_assistant(self, assistant_id: str, active: bool) -> answers.Consumer:
        """Switch an assistant off or on."""
        return self._alter(answers.Consumer, "PATCH", f"/v1/assistants/{segment(assistant_id)}", {"active": active})

    def remove_assistant(self, assistant_id: str) -> answers.Removed:
        """Remove an assistant and its token."""
        return self._alter(answers.Removed, "DELETE", f"/v1/assistants/{segment(assistant_id)}")

    def grant_capability(self, assistant_id: str, capability: str) -> answers.Consumer:
        """Grant a capability to an assistant."""
        return self._change(answers.Consumer, _capability(assistant_id, capability))

    def revoke_capability(self, assistant_id: str, capability: str) -> answers.Consumer:
        """Take it again."""
        return self._alter(answers.Consumer, "DELETE", _capability(assistant_id, capability))

    def list_widgets(self) -> answers.ConsumerList:
        """Every widget."""
        return self._get(answers.ConsumerList, "/v1/widgets", as_admin=True)

    def add_widget(self, name: str, origins: Sequence[str]) -> answers.ConsumerWithToken:
        """A widget for pages of these origins, and its public token."""
        return self._change(answers.ConsumerWithToken, "/v1/widgets", {"name": name, "origins": list(origins)})

    def change_widget(self, widget_id: str, active: bool) -> answers.Consumer:
        """Switch a widget off or on."""
        return self._alter(answers.Consumer, "PATCH", f"/v1/widgets/{segment(widget_id)}", {"active": active})

    def remove_widget(self, widget_id: str) -> answers.Removed:
        """Remove a widget and its token."""
        return self._alter(answers.Removed, "DELETE", f"/v1/widgets/{segment(widget_id)}")

    # --- the asking ---

    def search_knowledge(
        self,
        query: str,
        *,
        limit: int | None = None,
        locale: str | None = None,
        locale_fallback: bool | None = None,
        conversation_id: str | None = None,
    ) -> answers.Knowledge:
        """Ask every provider that this client's token may reach: one of an agent or an assistant."""
        question = given(
            query=query, limit=limit, locale=locale, localeFallback=locale_fallback, conversationId=conversation_id
        )
        return self._ask(answers.Knowledge, "/v1/knowledge/search", question)

    def preflight_widget(self, origin: str) -> dict[str, Any]:
        """What a browser asks before a page of ``origin`` may ask."""
        headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        return cast(dict[str, Any], self._transport.request("OPTIONS", "/v1/widget/search", headers=headers))

    def search_widget(
        self, query: str, origin: str, *, limit: int | None = None, locale: str | None = None
    ) -> answers.Widget:
        """Ask as a page of ``origin`` does, with a widget's token."""
        question = given(query=query, limit=limit, locale=locale)
        answer = self._transport.request("POST", "/v1/widget/search", body=question, headers={"Origin": origin})
        return cast(answers.Widget, answer)

    def retrieve_knowledge(
        self, registration_id: str, question: Mapping[str, Any], headers: Mapping[str, str]
    ) -> answers.Retrieve:
        """Ask Larder's own provider. ``headers`` hold the signature over the body as ``requests`` writes it."""
        path = f"/v1/provider/{segment(registration_id)}/retrieve"
        return cast(answers.Retrieve, self._transport.request("POST", path, body=question, headers=headers))

    def show_capabilities(self, registration_id: str) -> answers.Capabilities:
        """What Larder's own provider declares."""
        return self._get(answers.Capabilities, f"/v1/provider/{segment(registration_id)}/capabilities")

    def _alter(self, kind: type[Answer], method: str, path: str, change: Mapping[str, Any] | None = None) -> Answer:
        return cast(Answer, self._transport.request(method, path, body=change, as_admin=True))


def _capability(assistant_id: str, capability: str) -> str:
    return f"/v1/assistants/{segment(assistant_id)}/capabilities/{segment(capability)}"
