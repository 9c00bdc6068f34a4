"""Plays what a page of the documentation tells its reader to type, line by line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from click.testing import Result

from examples.serve import ExampleSite
from tests.api.cli.conftest import Cli

ROOT = Path(__file__).resolve().parents[3]
EDITION = re.compile(r"curl -X POST \S+/edition/(\w+)")
NOW = re.compile(r"(\w+)=\$\(date -u \+%Y-%m-%dT%H:%M:%SZ\)")
SITE = "http://127.0.0.1:8080"


def lines(page: str) -> list[str]:
    """What stands in the page's blocks of shell, a line each."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return [line.strip() for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]


class Reader:
    """Types the lines. ``words`` says what stands for a word in capitals; the schedule and the workers keep up.

    What is no matter of a running Larder is passed over: setting up, clearing away, starting the example site.
    """

    def __init__(self, cli: Cli, site: ExampleSite, words: Mapping[str, Callable[[], str]]) -> None:
        self._cli, self._site, self._words = cli, site, words
        self._variables: dict[str, str] = {}

    def follow(self, page: str) -> Iterator[tuple[str, Result]]:
        """Each call of the command and what came of it."""
        for line in lines(page):
            if edition := EDITION.match(line):
                self._site.edition = edition[1]
            elif now := NOW.fullmatch(line):
                self._variables[f"${now[1]}"] = datetime.now(UTC).isoformat()
            elif "./larder " in line:
                self._cli.work_off()
                yield line, self._call(line.replace(SITE, self._site.url))
            else:
                assert line.startswith(("make ", ".venv/bin/python -m examples.serve")), line

    def _call(self, line: str) -> Result:
        before, _, after = line.partition("./larder ")
        words = [self._word(word) for word in shlex.split(after)]
        redirected = words[words.index(">") + 1] if ">" in words else None
        arguments = words[: words.index(">")] if redirected else words
        variables = dict(word.split("=", 1) for word in map(self._assigned, shlex.split(before)))
        result = self._cli(*arguments, **variables)
        if redirected:
            Path(redirected).write_bytes(result.stdout_bytes)
        return result

    def _assigned(self, word: str) -> str:
        name, _, value = word.partition("=")
        return f"{name}={self._word(value)}"

    def _word(self, word: str) -> str:
        if word in self._words:
            return self._words[word]()
        return self._variables.get(word, word)
