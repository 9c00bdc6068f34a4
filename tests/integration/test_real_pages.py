"""Thirty real pages, out of a distribution's documentation packages, read as their reader sees them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from chalicelib.domain.chunking import chunk
from chalicelib.fetching.extract import extract

PACKAGES = ("git-doc", "sqlite3-doc")
PAGES = 30


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("pages")
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        pytest.skip("no apt-get here: the pages come from Debian's packages")
    for package in PACKAGES:
        fetched = subprocess.run(["apt-get", "download", package], cwd=folder, capture_output=True, check=False)
        if fetched.returncode:
            subprocess.run(["apt-get", "update"], capture_output=True, check=False)
            fetched = subprocess.run(["apt-get", "download", package], cwd=folder, capture_output=True, check=False)
        if fetched.returncode:
            pytest.skip(f"{package} can't be had here")
        archive = next(folder.glob(f"{package}_*.deb"))
        subprocess.run(["dpkg-deb", "-x", archive, folder / package], check=True)
    found = [sorted((folder / package).rglob("*.html"), key=lambda page: page.stat().st_size) for package in PACKAGES]
    sizes = [[page for page in some if 4_000 < page.stat().st_size < 400_000] for some in found]
    chosen = [page for some in sizes for page in some[:: max(1, len(some) * len(PACKAGES) // PAGES)]]
    assert len(chosen) >= PAGES
    return chosen[:PAGES]


def test_real_pages_keep_their_headings_code_tables_and_links(pages: list[Path]) -> None:
    for page in pages:
        body = page.read_bytes()
        text = extract(body, "text/html").text
        flat = re.sub(r"\s+", " ", text)
        soup = BeautifulSoup(body, "lxml")
        for element in soup.find_all(["script", "style", "noscript", "template"]):
            element.decompose()
        for name in ("h1", "h2", "td", "a"):
            for element in [one for one in soup.find_all(name) if shown(one)][:20]:
                words = re.sub(r"\s+", " ", element.get_text()).strip()
                if words and not element.find(["br", "p", "div", "li", "pre", "table", "ul"]):
                    assert words in flat, f"{page.name}: {name} {words[:80]!r}"
        for element in [one for one in soup.find_all("pre") if shown(one)][:5]:
            lines = [line.rstrip() for line in element.get_text().split("\n") if line.strip()]
            kept = [line for line in lines if line in text]
            assert len(kept) >= 0.9 * len(lines), f"{page.name}: code lost its lines"
        chunks = chunk(text)
        assert "".join(one.body for one in chunks) == text
        assert all(0 < len(one.text) <= 1200 for one in chunks)


def shown(element: object) -> bool:
    """Whether no element around it is hidden by itself."""
    hidden = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
    around = [element, *element.parents]  # type: ignore[attr-defined]
    return not any(hidden.search(one.get("style") or "") or one.has_attr("hidden") for one in around if one.name)
