"""The corpus: every story, in order."""

from itertools import chain

from tests.real.differential.corpus import (
    access,
    custom,
    defining,
    definitions,
    discovery,
    generic,
    living,
    looking,
    merging,
    rules,
)
from tests.real.differential.corpus.kinds import builtin_kinds
from tests.real.differential.story import Story

__all__ = ["corpus"]


def corpus() -> list[Story]:
    """Every story, in order."""
    return list(
        chain(
            discovery.stories(),
            definitions.setups(),
            access.stories(),
            chain.from_iterable(map(generic.stories_about, builtin_kinds().values())),
            rules.stories(),
            merging.stories(),
            living.stories(),
            looking.stories(),
            defining.stories(),
            custom.stories(),
        )
    )
