"""Makes the two virtual environments and the model folder, side by side, and only what is missing or out of date.

Runs on a bare Python: it imports nothing but the standard library.

    python3 infra/environments.py
"""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST, TOO_NEW = (3, 11), (3, 14)


@dataclass(frozen=True)
class Environment:
    """A virtual environment in ``folder`` that holds ``requirements``, all of it pinned by ``files``."""

    folder: Path
    files: tuple[str, ...]
    install: tuple[str, ...]

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def wanted(self) -> str:
        """What the stamp must say: the interpreter's version and a digest of every file that pins something."""
        pins = b"\0".join((ROOT / name).read_bytes() for name in self.files)
        return f"{_version()} {hashlib.sha256(pins).hexdigest()}"

    def ready(self) -> bool:
        """Whether it was made from exactly these files, and is still there."""
        return self.python.exists() and self._stamp.is_file() and self._stamp.read_text() == self.wanted()

    def make(self) -> None:
        """Create it if it is missing, broken or of another Python, and install. Raises CalledProcessError."""
        print(f"installing into {self.folder.name} (Python {_version()})", flush=True)
        self._stamp.unlink(missing_ok=True)
        if self._python_version() != _version():
            subprocess.run([sys.executable, "-m", "venv", "--clear", self.folder], check=True)
        # Twice quiet: errors alone. A pip that is set up for several indexes may warn of each package in each of them.
        pip = [str(self.python), "-m", "pip", "--disable-pip-version-check", "install", "-qq", "--no-compile"]
        # The pip that comes with a Python may be years old, and then takes twice as long as the pinned one.
        subprocess.run([*pip, "pip", "-c", "constraints.txt"], cwd=ROOT, check=True)
        subprocess.run([*pip, *self.install], cwd=ROOT, check=True)
        self._stamp.write_text(self.wanted())

    @property
    def _stamp(self) -> Path:
        return self.folder / ".larder-stamp"

    def _python_version(self) -> str | None:
        ask = "import pip, sys; print(*sys.version_info[:2], sep='.')"
        try:
            run = subprocess.run([self.python, "-c", ask], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return run.stdout.strip()


# The emulator pins another botocore than Larder's; it runs Larder's functions, so both are of one Python version.
ENVIRONMENTS = (
    Environment(
        ROOT / ".venv",
        ("requirements.txt", "requirements-dev.txt", "constraints.txt"),
        ("-r", "requirements-dev.txt", "-c", "constraints.txt"),
    ),
    Environment(ROOT / ".venv-emulator", ("requirements-emulator.txt",), ("-r", "requirements-emulator.txt")),
)


def main() -> int:
    """Make what is missing; returns the exit status."""
    if not OLDEST <= sys.version_info[:2] < TOO_NEW:
        print(f"Larder needs Python 3.11, 3.12 or 3.13; this is {sys.version.split()[0]}.", file=sys.stderr)
        return 1
    missing = [environment for environment in ENVIRONMENTS if not environment.ready()]
    if missing and importlib.util.find_spec("ensurepip") is None:
        package = f"python{_version()}-venv"
        print(
            f"This Python can't make virtual environments. On Debian or Ubuntu: apt install {package}", file=sys.stderr
        )
        return 1
    try:
        with ThreadPoolExecutor() as pool:
            list(pool.map(Environment.make, missing))
        subprocess.run([ENVIRONMENTS[0].python, "-m", "infra.model"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    except subprocess.CalledProcessError as error:
        print(f"setup failed: {' '.join(map(str, error.cmd))}", file=sys.stderr)
        return 1
    return 0


def _version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


if __name__ == "__main__":
    sys.exit(main())
