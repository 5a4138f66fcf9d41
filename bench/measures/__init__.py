"""One module for each measure.

Each has the attributes that ``python -m bench`` uses:

- ``TITLE``, the title of the measure;
- ``sections(options)``, which measures and yields one table after the other;
- ``charts(sections)``, which yields charts of the tables.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from bench.harness.runner import Measure

# The modules, by the names on the command line, in the order in which they run.
MEASURES: Mapping[str, str] = {
    "client": "bench.measures.client",
    "cold-sync": "bench.measures.cold_sync",
    "reconcile": "bench.measures.reconcile",
    "latency": "bench.measures.latency",
    "restart": "bench.measures.restart",
    "failover": "bench.measures.failover",
    "embedded": "bench.measures.embedded",
    "growth": "bench.measures.growth",
}


def measure(name: str) -> Measure:
    """Import the measure with this name."""
    return cast(Measure, import_module(MEASURES[name]))
