"""The pages in a real browser, on a socket, as an operator uses them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from chalicelib.services import tokens
from tests.api.live_app import serving_app
from tests.chromium import browser
from tests.postgres import TestServer
from tests.security import marked
from tests.security.marked import Marked
from tests.tenants import Deployment, deployed


@pytest.fixture(scope="module")
def deployment(server: TestServer) -> Iterator[Deployment]:
    with deployed(server) as deployment:
        yield deployment


@pytest.fixture(scope="module")
def url(deployment: Deployment) -> Iterator[str]:
    with serving_app(deployment) as url:
        yield url


@pytest.fixture
def made(deployment: Deployment, url: str) -> Marked:
    """A tenant whose every chunk has been sought once."""
    made = marked.mark(deployment.tenant(f"Acme Preserves {uuid4()}"))
    made.tenant.read_only("POST", "/v1/kb/search", {"query": marked.WORD, "limit": 50})
    return made


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """One browser for all tests: to start it takes longer than they do."""
    with browser(tmp_path_factory.mktemp("browser") / "profile") as running:
        yield running


@pytest.fixture
def window(running: Chrome) -> Chrome:
    """Signed in nowhere, of its own size, with an empty log."""
    running.execute_cdp_cmd("Network.clearBrowserCookies", {})
    running.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    running.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    running.get_log("browser")
    return running


def find(window: Chrome, selector: str) -> WebElement:
    return window.find_element(By.CSS_SELECTOR, selector)


def press(window: Chrome, name: str) -> None:
    follow(window, window.find_element(By.XPATH, f"//main//button[.='{name}']"))


def follow(window: Chrome, element: WebElement) -> None:
    """Click on what leads to another page, and wait for that. Between two pages the driver may say anything."""
    window.execute_script("document.documentElement.id = 'left'")
    element.click()
    there = "return document.documentElement.id !== 'left' && document.readyState === 'complete'"
    WebDriverWait(window, 60, ignored_exceptions=[WebDriverException]).until(lambda _: window.execute_script(there))


def text(window: Chrome) -> str:
    return find(window, "body").text


def sign_in(window: Chrome, url: str, made: Marked) -> None:
    with made.tenant.deployment.owner.transaction() as tx:
        operator = tokens.mint(tx, made.tenant.id, tokens.Minted("admin", operator="Robin"), datetime.now(UTC))
    window.get(f"{url}/ui/sign-in")
    find(window, "#api_token").send_keys(made.tenant.api_token)
    find(window, "#admin_token").send_keys(operator)
    press(window, "Sign in")


def width(window: Chrome, pixels: int) -> int:
    """How much room the page needs in a window that is so wide."""
    size = {"width": pixels, "height": 800, "deviceScaleFactor": 1, "mobile": pixels < 600}
    window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    return int(window.execute_script("return document.documentElement.scrollWidth"))


def colours(window: Chrome, scheme: str) -> tuple[Any, Any]:
    """The colours of text and ground where a reader prefers ``scheme``."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    body = find(window, "body")
    return body.value_of_css_property("color"), body.value_of_css_property("background-color")


def test_an_operator_signs_in_sees_the_chart_changes_a_policy_and_finds_it_in_the_history(
    window: Chrome, url: str, made: Marked
) -> None:
    sign_in(window, url, made)
    assert window.current_url == f"{url}/ui/admin/memory/firewall"
    cookie = window.get_cookie("larder")
    assert (cookie["path"], cookie["httpOnly"], cookie["sameSite"], cookie["secure"]) == ("/ui", True, "Strict", False)

    parts = window.find_elements(By.CSS_SELECTOR, "svg.chart rect")
    assert len(parts) >= 4, "a part for each kind of decision of today"
    assert all(part.rect["height"] > 1 and part.rect["width"] > 5 for part in parts)
    fills = {part.value_of_css_property("fill") for part in parts}
    assert len(fills) == len(parts), "the style sheet has a colour for each"
    assert "allowed" in find(window, ".key").text

    window.get(f"{url}/ui/admin/memory/firewall?chunk_id={made.chunks['zqeditors']}")
    follow(window, window.find_element(By.PARTIAL_LINK_TEXT, "The policy of this chunk"))
    Select(find(window, "#sensitivity")).select_by_visible_text("restricted")
    names = find(window, "#role_names")
    assert names.get_attribute("value") == "editor"
    names.send_keys("\nreviewer")
    press(window, "Save the policy")
    assert find(window, "[role=status]").text == "The policy was saved."
    history = find(window, "section[aria-labelledby=history] tbody").text
    assert "Robin" in history
    assert "sensitivity: restricted" in history
    assert "permitted_roles: editor, reviewer" in history
    policy = made.tenant.get(f"/v1/memory/chunks/{made.chunks['zqeditors']}/policy").json["policy"]
    assert (policy["sensitivity"], policy["permitted_roles"]) == ("restricted", ["editor", "reviewer"])

    find(window, "#role").send_keys("guest")
    press(window, "Explain")
    assert "It is blocked: role not permitted." in text(window)

    needed = {width(window, 390)}
    assert len({colours(window, "light"), colours(window, "dark")}) == 2
    for path in ("admin/memory-audit", "admin/memory/firewall"):
        window.get(f"{url}/ui/{path}")
        needed.add(width(window, 390))
    assert needed == {390}, "on a phone a table scrolls, the page does not"

    assert window.get_log("browser") == [], "nothing that the pages ask for is refused by their own policy"
    follow(window, find(window, "header button"))
    assert window.current_url == f"{url}/ui/sign-in"
    assert window.get_cookie("larder")["path"] == "/ui", "that of the form to sign in with"
    window.get(f"{url}/ui/admin/memory/firewall")
    assert "nobody is signed in here" in text(window).lower()


def test_a_page_of_another_site_can_not_send_a_form_for_an_operator(
    window: Chrome, url: str, made: Marked, tmp_path: Path
) -> None:
    sign_in(window, url, made)
    token = find(window, "[name=csrf]").get_attribute("value")
    evil = tmp_path / "evil.html"
    action = f"{url.replace('127.0.0.1', 'localhost')}/ui/admin/memory/firewall/mode"
    for target in (f"{url}/ui/admin/memory/firewall/mode", action):
        evil.write_text(
            f'<form method="post" action="{target}"><input name="csrf" value="{token}">'
            '<input name="mode" value="off"><main><button>Win</button></main></form>'
        )
        window.get(evil.as_uri())
        press(window, "Win")
        assert "401" in text(window) or "403" in text(window)
        assert made.tenant.get("/v1/memory/firewall/mode").json["mode"] is None
