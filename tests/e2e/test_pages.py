"""The pages through the gateway, which puts a stage before every path."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urljoin, urlsplit

import requests
from bs4 import BeautifulSoup
from selenium.webdriver.common.by import By

from tests.chromium import browser
from tests.e2e.cloud import PrivateCloud


def test_somebody_signs_in_and_finds_style_links_and_cookie_behind_the_stage(
    cloud: PrivateCloud, tmp_path: Path
) -> None:
    tenant = cloud.tenant("Acme Preserves")
    base = urlsplit(cloud.url).path
    assert base, "there is something before /ui"
    with browser(tmp_path / "profile") as window:
        window.get(f"{cloud.url}/ui/sign-in")
        window.find_element(By.ID, "api_token").send_keys(tenant.api_token)
        window.find_element(By.ID, "admin_token").send_keys(tenant.admin_token)
        window.find_element(By.CSS_SELECTOR, "main button").click()
        assert window.find_element(By.ID, "mode").text == "Mode"
        assert window.current_url == f"{cloud.url}/ui/admin/memory/firewall"
        cookie = window.get_cookie("larder")
        assert (cookie["path"], cookie["httpOnly"]) == (f"{base}/ui", True)
        style = window.find_element(By.TAG_NAME, "link").get_attribute("href")
        assert style == f"{cloud.url}/ui/style.css"
        font = window.find_element(By.TAG_NAME, "body").value_of_css_property("font-family")
        assert "system-ui" in font, "the style sheet has come"
        window.find_element(By.LINK_TEXT, "Memory audit").click()
        assert window.find_element(By.ID, "quarantine").text == "Quarantine"
        assert window.get_log("browser") == []


def test_a_page_is_text_with_its_headers_and_its_status(cloud: PrivateCloud) -> None:
    refused = requests.get(f"{cloud.url}/ui/admin/memory-audit", timeout=60)
    assert (refused.status_code, refused.headers["Content-Type"]) == (401, "text/html; charset=utf-8")
    assert refused.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert refused.headers["Cache-Control"] == "private, no-store"
    links = [link["href"] for link in BeautifulSoup(refused.text, "lxml").find_all("a")]
    assert f"{cloud.url}/ui/sign-in" in [urljoin(refused.url, link) for link in links]
