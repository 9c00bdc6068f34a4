from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import requests

from examples.serve import ExampleSite, read_pages

ROOT = Path(__file__).resolve().parents[3]
PAGES = ("/changelog.html", "/handbook.html", "/prices.html")


def test_edition_two_changes_prices_and_handbook_and_leaves_the_changelog() -> None:
    one, two = read_pages("one"), read_pages("two")
    assert tuple(one) == tuple(two) == PAGES
    assert [one[path].etag == two[path].etag for path in PAGES] == [True, False, False]
    assert [one[path].changed_at == two[path].changed_at for path in PAGES] == [True, False, False]


def test_a_known_page_is_not_sent_again_until_it_changes() -> None:
    with ExampleSite() as site:
        first = requests.get(f"{site.url}/prices.html")
        known = {"If-None-Match": first.headers["ETag"], "If-Modified-Since": first.headers["Last-Modified"]}
        again = requests.get(f"{site.url}/prices.html", headers=known)
        site.edition = "two"
        changed = requests.get(f"{site.url}/prices.html", headers=known)
        assert [request.status for request in site.asked_for("/prices.html")] == [200, 304, 200]
    assert "Heather honey" in first.content.decode()
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
    assert changed.content != first.content


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"If-None-Match": '"other"'}, 200),
        ({"If-None-Match": "*"}, 304),
        ({"If-None-Match": '"other", W/{etag}'}, 304),
        ({"If-None-Match": '"other"', "If-Modified-Since": "{date}"}, 200),
        ({"If-Modified-Since": "{date}"}, 304),
        ({"If-Modified-Since": "Mon, 02 Mar 2026 06:29:59 GMT"}, 200),
        ({"If-Modified-Since": "yesterday"}, 200),
    ],
)
def test_a_condition_is_judged_as_rfc_9110_says(headers: dict[str, str], status: int) -> None:
    with ExampleSite() as site:
        page = site.page("/changelog.html")
        assert page is not None
        sent = {
            name: value.format(etag=page.etag, date="Mon, 02 Mar 2026 06:30:00 GMT") for name, value in headers.items()
        }
        assert requests.get(f"{site.url}/changelog.html", headers=sent).status_code == status


def test_redirects_unknown_pages_and_the_switch_of_editions() -> None:
    with ExampleSite(redirects={"/moved": "http://192.0.2.1/"}) as site, requests.Session() as session:
        moved = session.get(f"{site.url}/moved", allow_redirects=False)
        assert (moved.status_code, moved.headers["Location"]) == (302, "http://192.0.2.1/")
        assert session.get(f"{site.url}/../../serve.py").status_code == 404
        assert session.head(f"{site.url}/prices.html").headers["Content-Length"] != "0"
        assert session.post(f"{site.url}/edition/two", data=b"ignored").text == "This is edition two now.\n"
        assert site.edition == "two"


@pytest.mark.parametrize("path", ["/edition/three", "/edition/", "/prices.html"])
def test_an_edition_that_there_is_not_is_refused_with_those_that_there_are(path: str) -> None:
    with ExampleSite() as site:
        refused = requests.post(f"{site.url}{path}")
        assert (refused.status_code, site.edition) == (404, "one")
    assert refused.text == "Refused: nothing is taken but /edition/one and /edition/two.\n"


def test_a_second_site_on_one_port_says_so_in_two_lines() -> None:
    with ExampleSite() as site:
        command = [sys.executable, "-m", "examples.serve", "--port", str(site.port)]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout, len(run.stderr.splitlines())) == (1, "", 2)
    assert run.stderr.startswith(f"can't listen on port {site.port} of 127.0.0.1: ")


def test_the_port_is_free_again_afterwards() -> None:
    with ExampleSite() as site:
        port = site.port
    with ExampleSite(port=port):
        pass
