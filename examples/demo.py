"""The whole refresh cycle, for real, on this machine.

    python -m examples.demo [--url https://example.com/your-page]

The exit status is 0 only if everything that the demo says was true. ``--url`` takes a page of your own through the
same steps; whether it can be fetched is told, not judged: what a stranger's server does proves nothing about Larder.
"""

from __future__ import annotations

import argparse
import signal
import sys

from chalicelib.client import ClientError
from chalicelib.domain.source_url import canonicalise
from examples import changes, night, refusals
from examples.playing import Play
from examples.stage import set_stage
from examples.telling import Telling
from infra.model import ModelError
from infra.package import PackageError
from infra.stack import DeployError

STEPS = (
    night.add_sources,
    night.list_suggestions,
    night.approve,
    night.wait_for,
    changes.search,
    changes.refresh_now,
    changes.look_back,
    refusals.refuse,
)


def perform(telling: Telling, own_url: str | None) -> bool:
    """Set up, play every step, clear away; whether everything was true."""
    telling.step("Setting up")
    with set_stage(telling.say) as stage:
        telling.restart()
        told = Play(stage, telling, own_url)
        for step in STEPS:
            step(told)
            if telling.false:
                telling.say("what follows builds on this, so the demo ends here")
                break
        took = telling.elapsed
        telling.step("Clearing away")
    telling.step("In short")
    minutes, seconds = divmod(round(took), 60)
    telling.say(f"{telling.true} true, {telling.false} not, in {minutes} min {seconds} s after set-up")
    return telling.false == 0


def page_address(text: str) -> str:
    """The address of a page. Raises argparse.ArgumentTypeError."""
    try:
        return canonicalise(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from error


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.demo", description="The whole refresh cycle, for real, on this machine."
    )
    parser.add_argument(
        "--url",
        type=page_address,
        help="a page of your own to take through the same steps; whether it can be fetched is told, not judged",
    )
    chosen = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _terminated)
    if hasattr(sys.stdout, "reconfigure"):  # a terminal without ✓ shows a question mark
        sys.stdout.reconfigure(errors="replace", line_buffering=True)
    try:
        return 0 if perform(Telling(), chosen.url) else 1
    except KeyboardInterrupt:
        print("\ninterrupted: what the demo started is stopped", file=sys.stderr)
        return 130
    except (ClientError, DeployError, ModelError, PackageError, OSError, RuntimeError) as error:
        print(f"\nthe demo could not go on: {error}", file=sys.stderr)
        return 1


def _terminated(*_: object) -> None:
    raise SystemExit(143)  # so that a termination clears away as Ctrl-C does


if __name__ == "__main__":
    sys.exit(main())
