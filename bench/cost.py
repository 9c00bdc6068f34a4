"""What a month costs: list prices as assumptions, named, and the sum over what runs.

Prices are us-east-1's in US dollars as they were published in 2025. They change: read the sum as a shape, and put your
own numbers in.
"""

from __future__ import annotations

from collections.abc import Mapping

NIGHTS = 30.4  # in a month
SECONDS = NIGHTS * 86_400

PRICES: Mapping[str, float] = {
    "Lambda, a GB-second on x86": 0.0000166667,
    "Lambda, a million requests": 0.20,
    "SQS, a million requests": 0.40,
    "API Gateway REST, a million requests": 3.50,
    "Aurora Serverless v2, an ACU-hour": 0.12,
    "Aurora Standard storage, a GB-month": 0.10,
    "NAT gateway, an hour": 0.045,
    "NAT gateway, a GB": 0.045,
    "CloudWatch Logs, a GB taken in": 0.50,
}

WORKER_GB, API_GB, TICK_GB = 2.0, 1.0, 0.25  # memory of the functions, as .chalice/config.json has it
TICK_SECONDS = 2.0
PAGE_GB = 100_000 / 1e9  # what a fetch brings through the NAT gateway
LOG_GB = 1_500 / 1e9  # what a refresh or a request logs, metrics included
SQS_REQUESTS = 3  # a message: sent (a tenth of a batch, rounded up), received, deleted


def report(
    *, thousands: float, refreshes: float, worker_seconds: float, reads: float, read_seconds: float
) -> list[str]:
    """A line a service, without the database; ``thousands``: of sources, over which the sum is spread."""
    lines = monthly(refreshes=refreshes, worker_seconds=worker_seconds, reads=reads, read_seconds=read_seconds)
    listed = ", ".join(f"{name} {dollars:.0f}" for name, dollars in lines.items())
    total = sum(lines.values())
    return [
        f"a month without the database, in US$: {listed}",
        f"  = {total:.0f}, {total / thousands:.3f} for 1000 sources",
    ]


def monthly(*, refreshes: float, worker_seconds: float, reads: float, read_seconds: float) -> dict[str, float]:
    """Dollars a month by service."""
    second, million = PRICES["Lambda, a GB-second on x86"], 1_000_000
    ticks = SECONDS / 60
    calls = refreshes + reads + ticks
    return {
        "workers": worker_seconds * WORKER_GB * second,
        "API function": reads * read_seconds * API_GB * second,
        "tick": ticks * TICK_SECONDS * TICK_GB * second,
        "Lambda requests": calls / million * PRICES["Lambda, a million requests"],
        "SQS": refreshes * SQS_REQUESTS / million * PRICES["SQS, a million requests"],
        "API Gateway": reads / million * PRICES["API Gateway REST, a million requests"],
        "NAT": SECONDS / 3600 * PRICES["NAT gateway, an hour"] + refreshes * PAGE_GB * PRICES["NAT gateway, a GB"],
        "logs": calls * LOG_GB * PRICES["CloudWatch Logs, a GB taken in"],
    }


def database(acu: float, gigabytes: float) -> float:
    """Dollars a month of an Aurora cluster that holds ``acu`` on average, and its storage."""
    hours = SECONDS / 3600
    return (
        acu * hours * PRICES["Aurora Serverless v2, an ACU-hour"]
        + gigabytes * PRICES["Aurora Standard storage, a GB-month"]
    )
