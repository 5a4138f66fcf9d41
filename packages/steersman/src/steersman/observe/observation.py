"""``Observation``: something that happened, as a frozen value with its log line and its metrics.

Observations are structs, because some of them occur several times for each object, and a frozen
dataclass takes ten times as long to create.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Literal, TypeAlias

import msgspec

Fields: TypeAlias = Mapping[str, str | int | float]


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """A metric as plain data, so that programs that only log need no Prometheus library.

    The name of a counter is given without the suffix ``_total``.
    """

    kind: Literal["counter", "gauge", "histogram", "summary"]
    name: str
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    initial: float = 0.0

    def sample(self, value: float, *labels: str) -> "Sample":
        """Return a sample with ``value``; ``labels`` are the values of the metric's labels.

        ``value`` is added to a counter, observed by a histogram or summary, and set for a gauge.
        """
        return Sample(metric=self, value=value, labels=labels)

    def change(self, value: float, *labels: str) -> "Sample":
        """Return a sample that adds ``value`` to a gauge; ``labels`` are the label values."""
        return Sample(metric=self, value=value, labels=labels, is_change=True)


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """A value for a metric; ``labels`` are the values of the metric's labels."""

    metric: Metric
    value: float
    labels: tuple[str, ...] = ()
    is_change: bool = False


def counter(name: str, text: str, *labels: str) -> Metric:
    """Return a counter; by default, the values of its labels are attributes of the observation.

    An observation without such attributes must override ``samples``.
    """
    return Metric(kind="counter", name=name, help=text, labels=labels)


def gauge(name: str, text: str, *labels: str, initial: float = 0.0) -> Metric:
    """Return a gauge whose labels are called ``labels``."""
    return Metric(kind="gauge", name=name, help=text, labels=labels, initial=initial)


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened in an operator, with its log line and its metrics.

    A subclass defines ``describe``. It also defines ``LEVEL``, or ``level`` if the level depends on
    its fields. It may define ``METRICS``: by default, each observation counts as one in each of
    these metrics, and ``samples`` can be overridden to change this. An observation without
    ``METRICS`` is only logged.
    """

    LEVEL: ClassVar[int] = logging.INFO
    METRICS: ClassVar[tuple[Metric, ...]] = ()

    def level(self) -> int:
        """Return the level of the log line."""
        return self.LEVEL

    def describe(self) -> tuple[str, Fields]:
        """Return the text of the log line, and its searchable fields."""
        raise NotImplementedError

    def traced_error(self, *, is_debug: bool) -> Exception | None:  # noqa: ARG002
        """Return an error of the operator author's code, to log its traceback.

        ``None`` (the default) means that no traceback is logged.
        """
        return None

    def samples(self) -> Iterable[Sample]:
        """Return the samples for ``METRICS``: by default, one that adds 1 to each metric."""
        return [
            metric.sample(1, *[str(getattr(self, label)) for label in metric.labels])
            for metric in self.METRICS
        ]


# It must not raise, because it is called in the middle of other code; ``fan_out`` makes any
# observer safe.
Observer: TypeAlias = Callable[[Observation], None]


def observation_classes(base: type[Observation] = Observation) -> list[type[Observation]]:
    """Return all classes of observations that are currently defined."""
    below = [each for direct in base.__subclasses__() for each in observation_classes(direct)]
    return below if base is Observation or below else [base]
