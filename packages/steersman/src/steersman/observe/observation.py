"""``Observation``: something that happened, as a frozen value with its log line and its metrics.

Structs, because some happen several times for each object, and a frozen dataclass takes ten times
as long to create.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Literal, TypeAlias

import msgspec

Fields: TypeAlias = Mapping[str, str | int | float]


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """A metric as plain data, because programs that only log need no Prometheus library.

    The name of a counter is without ``_total``.
    """

    kind: Literal["counter", "gauge", "histogram", "summary"]
    name: str
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    initial: float = 0.0

    def sample(self, value: float, *labels: str) -> "Sample":
        """A value for these labels: added to a counter, observed by a histogram, set otherwise."""
        return Sample(metric=self, value=value, labels=labels)

    def change(self, value: float, *labels: str) -> "Sample":
        """A change of a gauge."""
        return Sample(metric=self, value=value, labels=labels, is_change=True)


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """A value for a metric, with the values of its labels."""

    metric: Metric
    value: float
    labels: tuple[str, ...] = ()
    is_change: bool = False


def counter(name: str, text: str, *labels: str) -> Metric:
    """A counter, whose labels are attributes of the observation unless it says otherwise."""
    return Metric(kind="counter", name=name, help=text, labels=labels)


def gauge(name: str, text: str, *labels: str, initial: float = 0.0) -> Metric:
    """A gauge."""
    return Metric(kind="gauge", name=name, help=text, labels=labels, initial=initial)


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened.

    A subclass has a ``LEVEL``, or ``level`` if that depends on its fields; ``describe``; and
    ``METRICS``, with ``samples`` if they are not one count each. Without ``METRICS`` it is for the
    log only.
    """

    LEVEL: ClassVar[int] = logging.INFO
    METRICS: ClassVar[tuple[Metric, ...]] = ()

    def level(self) -> int:
        """The level of its log line."""
        return self.LEVEL

    def describe(self) -> tuple[str, Fields]:
        """The text of its log line, and its searchable fields."""
        raise NotImplementedError

    def traced_error(self, *, is_debug: bool) -> Exception | None:  # noqa: ARG002
        """The error whose trace belongs in the log: one of an author's code."""
        return None

    def samples(self) -> Iterable[Sample]:
        """Its contribution to its metrics: by default one count each."""
        return [
            metric.sample(1, *[str(getattr(self, label)) for label in metric.labels])
            for metric in self.METRICS
        ]


# It must not raise, because it is called in the middle of other code; ``fan_out`` makes any
# observer safe.
Observer: TypeAlias = Callable[[Observation], None]


def observation_classes(base: type[Observation] = Observation) -> list[type[Observation]]:
    """All defined classes of observations."""
    below = [each for direct in base.__subclasses__() for each in observation_classes(direct)]
    return below if base is Observation or below else [base]
