"""A real browser: the distribution's Chromium with its own driver; nothing is downloaded but by its package manager."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

PACKAGES = ("chromium", "chromium-driver")
PROGRAMS = ("chromium", "chromedriver")
ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-background-networking", "--window-size=1280,1000")
_INSTALL = ("apt-get", "-o", "DPkg::Lock::Timeout=300", "install", "--yes", "--no-install-recommends", *PACKAGES)


@contextmanager
def browser(profile: Path) -> Iterator[Chrome]:
    """A window of its own, with a fresh profile. Raises RuntimeError where there is no Chromium and none can be had."""
    program, driver = _programs()
    options = ChromeOptions()
    options.binary_location = program
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    window = Chrome(options=options, service=Service(driver))
    try:
        window.set_page_load_timeout(60)
        window.implicitly_wait(30)
        yield window
    finally:
        window.quit()


def _programs() -> tuple[str, str]:
    """Chromium and its driver, installed from Debian's packages if they are missing; that needs root."""
    told = ""
    for prepare in ((), (_INSTALL,), (("apt-get", "update"), _INSTALL)):
        for command in prepare:
            told = _run(command)
        program, driver = (shutil.which(name) for name in PROGRAMS)
        if program and driver:
            return program, driver
    wanted = " ".join(PACKAGES)
    raise RuntimeError(
        f"there is no Chromium with a driver here, and apt-get install {wanted} as root gives none:\n{told}"
    )


def _run(command: tuple[str, ...]) -> str:
    """What the command printed last."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=900)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (run.stdout + run.stderr)[-2000:]
