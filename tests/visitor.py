"""A browser without script, in process: it keeps cookies, follows relative links and fills forms in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from bs4 import BeautifulSoup, Tag
from chalice.test import Client

from tests.tenants import Deployment, Tenant

HOST = "127.0.0.1:8000"
FORM = "application/x-www-form-urlencoded"
OWN_FORM = {"Origin": "null", "Sec-Fetch-Site": "same-origin"}
"""What a browser says of a form that was sent from a page of the same site without a referrer."""


@dataclass
class Page:
    """What came back, and from where."""

    url: str
    status: int
    headers: dict[str, str]
    html: str

    @property
    def soup(self) -> BeautifulSoup:
        return BeautifulSoup(self.html, "lxml")

    @property
    def text(self) -> str:
        return " ".join(self.soup.get_text(" ").split())

    def form(self, action: str) -> tuple[str, dict[str, Any]]:
        """The URL and the fields, as they stand, of the form whose action ends so."""
        [form] = [one for one in self.soup.find_all("form") if one["action"].partition("#")[0].endswith(action)]
        fields: dict[str, Any] = {}
        for control in form.find_all(["input", "select", "textarea"]):
            if control["name"] not in fields or control.get("type") in ("radio", "checkbox"):
                _fill(fields, control)
        return urljoin(self.url, form["action"]), fields

    def links(self) -> list[str]:
        return [urljoin(self.url, link["href"]) for link in self.soup.find_all("a")]


def _fill(fields: dict[str, Any], control: Tag) -> None:
    name = control["name"]
    if control.name == "select":
        chosen = control.find("option", selected=True) or control.find("option")
        fields[name] = chosen.get("value", chosen.get_text()) if chosen else ""
    elif control.name == "textarea":
        fields[name] = control.get_text().lstrip("\n")
    elif control.get("type") == "checkbox":
        fields.setdefault(name, [])
        fields[name] += [control["value"]] if control.has_attr("checked") else []
    elif control.get("type") == "radio":
        fields.setdefault(name, control["value"]) if control.has_attr("checked") else None
    else:
        fields[name] = control.get("value", "")


@dataclass
class Visitor:
    """``said`` are headers that every request has."""

    deployment: Deployment
    cookies: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=lambda: {"Host": HOST})

    def get(self, path: str) -> Page:
        return self._ask("GET", urljoin(f"http://{HOST}/", path), {}, b"")

    def post(self, path: str, fields: dict[str, Any], headers: dict[str, str] | None = None) -> Page:
        """Send a form as given, and go where the answer leads."""
        headers = OWN_FORM if headers is None else headers
        content = urlencode(fields, doseq=True).encode()
        url = urljoin(f"http://{HOST}/", path)
        page = self._ask("POST", url, {"Content-Type": FORM, **headers}, content)
        return self.get(urljoin(page.url, page.headers["location"])) if page.status == 303 else page

    def submit(self, page: Page, action: str, **filled: Any) -> Page:
        """Fill in a form of the page and send it."""
        url, fields = page.form(action)
        return self.post(url, {**fields, **filled})

    def sign_in(self, tenant: Tenant, admin_token: str | None = None) -> Page:
        page = self.get("/ui/sign-in")
        return self.submit(page, "sign-in", api_token=tenant.api_token, admin_token=admin_token or tenant.admin_token)

    def _ask(self, method: str, url: str, headers: dict[str, str], content: bytes) -> Page:
        from app import app

        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        cookie = (
            {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} if self.cookies else {}
        )
        with Client(app) as client:
            answer = client.http.request(method, path, headers={**self.said, **cookie, **headers}, body=content)
        named = {name.lower(): value for name, value in answer.headers.items()}
        if "set-cookie" in named:
            name, _, value = named["set-cookie"].partition(";")[0].partition("=")
            self.cookies = {**self.cookies, name: value} if value else {}
        return Page(url, answer.status_code, named, answer.body.decode())
