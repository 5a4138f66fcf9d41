"""Prometheus metrics: the observer that counts observations, and the text for a scraper.

Takes:     observations, through ``MetricsObserver``; a ``CollectorRegistry``
Gives:     metrics in Prometheus' text format
Promises:  - labels of metrics come from a bounded set
Never:     serves HTTP: ``manager.endpoints`` does
"""

__all__: list[str] = []  # steersman.observe exports the public names
