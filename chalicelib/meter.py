"""How metrics go out: as lines of the log, in CloudWatch's embedded metric format, which it counts by itself."""

from __future__ import annotations

from itertools import groupby

from chalicelib.metrics import NAMESPACE, Sample


class Meter:
    """Sends samples under the name of a deployment. It keeps nothing between two calls."""

    def __init__(self, service: str) -> None:
        self._service = service

    def emit(self, *samples: Sample) -> None:
        """Send all of them at once: one line for those without a dimension, and one for each word of one."""
        for (dimension, word), group in groupby(sorted(samples, key=_stands_under), key=_stands_under):
            self._write({dimension: word} if dimension else {}, list(group))

    def _write(self, dimensions: dict[str, str], samples: list[Sample]) -> None:
        from aws_lambda_powertools.metrics import EphemeralMetrics

        line = EphemeralMetrics(namespace=NAMESPACE, service=self._service)
        for name, word in dimensions.items():
            line.add_dimension(name, word)
        for sample in samples:
            line.add_metric(sample.metric.name, sample.metric.unit, sample.value)
        line.flush_metrics()


def _stands_under(sample: Sample) -> tuple[str, str]:
    dimension = sample.metric.dimension
    return (dimension.name, sample.word) if dimension else ("", "")
