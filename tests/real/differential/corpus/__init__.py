"""The corpus: every story, in order."""

from dataclasses import replace
from itertools import chain

from tests.real.differential.corpus import (
    access,
    aggregation,
    cel_rules,
    custom,
    defining,
    definitions,
    discovery,
    edges,
    following,
    generic,
    listening,
    living,
    looking,
    merging,
    options,
    rules,
    tables,
    wholes,
)
from tests.real.differential.corpus.definitions import CUSTOM_KINDS
from tests.real.differential.corpus.kinds import Kind, builtin_kinds
from tests.real.differential.story import Story

__all__ = ["corpus", "kinds_of_corpus"]


def kinds_of_corpus() -> dict[str, Kind]:
    """Every kind that all verbs and options are asked of, by its title."""
    kinds = (*builtin_kinds().values(), *CUSTOM_KINDS)
    return {kind.title: kind for kind in kinds if kind.title not in generic.ONLY}


def corpus() -> list[Story]:
    """Every story, in order."""
    kinds = [kind for kind in builtin_kinds().values() if kind.title not in generic.ONLY]
    return list(
        chain(
            discovery.stories(),
            definitions.setups(),
            # What is refused is told with the bindings of others that lead nowhere.
            (replace(story, first=True) for story in access.stories()),
            chain.from_iterable(map(generic.stories_about, builtin_kinds().values())),
            chain.from_iterable(map(following.stories_about, kinds)),
            chain.from_iterable(map(options.stories_about, kinds)),
            chain.from_iterable(map(wholes.stories_about, kinds)),
            rules.stories(),
            merging.stories(),
            living.stories(),
            looking.stories(),
            listening.stories(),
            defining.stories(),
            custom.stories(),
            edges.stories(),
            tables.stories(),
            cel_rules.stories(),
            aggregation.stories(),
        )
    )
