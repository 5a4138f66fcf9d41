"""Metrics as plain data, which a function of the operator author returns at each scrape."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec
from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

#: The cumulative counts of a histogram by upper bound, ``+Inf`` last.
Buckets: TypeAlias = Sequence[tuple[str, float]]


class HistogramValue(msgspec.Struct, frozen=True):
    """The value of a histogram sample: the cumulative buckets and the sum."""

    buckets: Buckets
    sum: float


class MetricFamily(msgspec.Struct, frozen=True, kw_only=True):
    """A metric with all its samples.

    Each sample contains the label values in the order of ``labels``. Omit the
    suffix ``_total`` from the ``name`` of a counter; prometheus_client adds it.
    """

    name: str
    help: str
    type: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    samples: Sequence[tuple[tuple[str, ...], float | HistogramValue]]


def register_families(
    registry: CollectorRegistry, collect: Callable[[], Iterable[MetricFamily]]
) -> None:
    """Call ``collect`` at each scrape of ``registry``; the metrics that it returns are added."""
    registry.register(_FamilyCollector(collect))


class _FamilyCollector(Collector):
    """A collector that passes the families to prometheus_client."""

    def __init__(self, collect: Callable[[], Iterable[MetricFamily]]) -> None:
        self._collect = collect

    def collect(self) -> Iterator[Metric]:
        """Return all families as metrics of prometheus_client."""
        return map(_metric, self._collect())


def _metric(family: MetricFamily) -> Metric:
    labels = list(family.labels)
    if family.type == "histogram":
        histogram = HistogramMetricFamily(family.name, family.help, labels=labels)
        for values, value in family.samples:
            if isinstance(value, HistogramValue):
                histogram.add_metric(list(values), list(value.buckets), value.sum)
        return histogram
    plain = CounterMetricFamily if family.type == "counter" else GaugeMetricFamily
    metric: CounterMetricFamily | GaugeMetricFamily = plain(family.name, family.help, labels=labels)
    for values, value in family.samples:
        if not isinstance(value, HistogramValue):
            metric.add_metric(list(values), value)
    return metric
