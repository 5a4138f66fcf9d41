"""Metrics in the formats that Prometheus scrapes."""

from prometheus_client import (
    CollectorRegistry,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.openmetrics import exposition as openmetrics

__all__ = ["CollectorRegistry", "metrics_text", "new_registry"]

OPENMETRICS = "application/openmetrics-text"
PLAIN_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def new_registry() -> CollectorRegistry:
    """Return a registry with the standard metrics of this process.

    These are the metrics of its memory, CPU, files and Python's garbage collection.
    """
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


def metrics_text(registry: CollectorRegistry, *, accept: str = "") -> tuple[str, bytes]:
    """Return the content type and the text of the metrics in ``registry``.

    The format is OpenMetrics if ``accept``, the scraper's Accept header, contains it. Otherwise the
    format is the text format of Prometheus.
    """
    if _accepts_openmetrics(accept):
        text: bytes = openmetrics.generate_latest(registry)  # type: ignore[no-untyped-call]
        return OPENMETRICS_TYPE, text
    return PLAIN_TYPE, generate_latest(registry)


def _accepts_openmetrics(accept: str) -> bool:
    for each in accept.split(","):
        kind, *parameters = (part.strip().lower() for part in each.split(";"))
        if kind == OPENMETRICS:
            return not any(part in ("q=0", "q=0.0", "q=0.00", "q=0.000") for part in parameters)
    return False
