"""One module for each kind of work.

Each has the same names, which ``python -m bench`` asks for:

- ``TITLE``, what is measured, in a few words;
- ``sections(effort)``, the measuring itself, one table after another as they are done;
- ``pictures(sections)``, charts of them, drawn from nothing but the figures.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from bench.harness.running import Measure

# By the name that the command line knows, in the order in which they run.
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
    """The one with this name, imported when it is asked for."""
    return cast(Measure, import_module(MEASURES[name]))
