"""The corpus: every scenario, in order."""

from dataclasses import replace
from itertools import chain

from tests.recorded.differential.corpus import (
    access,
    aggregation,
    cel_rules,
    custom,
    custom_resource_definitions,
    definitions,
    discovery,
    edges,
    extremes,
    generic,
    lifecycles,
    lists_and_watches,
    open_watches,
    options,
    patches,
    rules,
    seconds,
    tables,
    watch_events,
)
from tests.recorded.differential.corpus.definitions import CUSTOM_KINDS
from tests.recorded.differential.corpus.kinds import Kind, builtin_kinds
from tests.recorded.differential.scenario import Scenario

__all__ = ["corpus", "kinds_of_corpus"]


def kinds_of_corpus() -> dict[str, Kind]:
    """Every kind for which all verbs and options are compared, by its title."""
    kinds = (*builtin_kinds().values(), *CUSTOM_KINDS)
    return {kind.title: kind for kind in kinds if kind.title not in generic.ONLY}


def corpus() -> list[Scenario]:
    """Every scenario, in order."""
    kinds = [kind for kind in builtin_kinds().values() if kind.title not in generic.ONLY]
    return list(
        chain(
            discovery.scenarios(),
            definitions.setups(),
            # A rejection mentions the bindings whose roles do not exist.
            (replace(scenario, first=True) for scenario in access.scenarios()),
            chain.from_iterable(map(generic.scenarios_about, builtin_kinds().values())),
            chain.from_iterable(map(open_watches.scenarios_about, kinds)),
            chain.from_iterable(map(options.scenarios_about, kinds)),
            chain.from_iterable(map(extremes.scenarios_about, kinds)),
            rules.scenarios(),
            patches.scenarios(),
            lifecycles.scenarios(),
            lists_and_watches.scenarios(),
            watch_events.scenarios(),
            custom_resource_definitions.scenarios(),
            custom.scenarios(),
            edges.scenarios(),
            seconds.scenarios(),
            tables.scenarios(),
            cel_rules.scenarios(),
            aggregation.scenarios(),
        )
    )
