"""What the firewall costs, and how much the secret scan finds: ``python -m bench.firewall``.

Prints microseconds a decision; what judging, writing down and proving 50 hits add to a search, with the same search
without a firewall beside it; then the secret scan. The exit code is 1 if a bound of spec 2.2 or 2.4 is broken.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from bench import firewall_scan, firewall_share
from chalicelib.domain.evaluation import Request, evaluate
from chalicelib.domain.policy import Policy, digest

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)


def main() -> int:
    """Measure all, print each line, and say which bounds are broken."""
    parser = argparse.ArgumentParser(description="What the firewall costs.")
    parser.add_argument("--chunks", type=int, default=6000, help="of the tenant that is searched")
    parser.add_argument("--questions", type=int, default=150, help="each is asked a few times in each way")
    arguments = parser.parse_args()
    bounds = [*_evaluation(), *firewall_share.bounds(arguments.chunks, arguments.questions), *firewall_scan.bounds()]
    broken = [name for name, holds in bounds if not holds]
    print("broken: " + ", ".join(broken) if broken else "every bound holds")
    return 1 if broken else 0


def _evaluation() -> list[tuple[str, bool]]:
    cases = {
        "allow, open policy": (Policy("t"), Request("t")),
        "allow, every field set": (
            Policy("t", "restricted", NOW + timedelta(days=1), frozenset({"lead"}), frozenset({"operational"})),
            Request("t", role="lead", purpose="operational", operator="marta"),
        ),
        "block, expired": (Policy("t", expires_at=NOW), Request("t")),
        "block, role": (Policy("t", permitted_roles=frozenset({"lead"})), Request("t", role="coder")),
    }
    slowest = 0.0
    for name, (policy, request) in cases.items():
        median = _microseconds(partial(evaluate, policy, request, NOW))
        slowest = max(slowest, median)
        print(f"evaluate ({name}): {median:.2f} µs")
    policy = cases["allow, every field set"][0]
    for name, hash_of in (("computed", digest.__wrapped__), ("remembered", digest)):
        print(f"digest ({name}): {_microseconds(partial(hash_of, policy)):.1f} µs")
    return [("evaluation below 50 µs", slowest < 50)]


def _microseconds(call: Callable[[], object], rounds: int = 2000) -> float:
    samples = []
    for _ in range(rounds):
        started = time.perf_counter_ns()
        call()
        samples.append(time.perf_counter_ns() - started)
    return statistics.median(samples) / 1000


if __name__ == "__main__":
    sys.exit(main())
