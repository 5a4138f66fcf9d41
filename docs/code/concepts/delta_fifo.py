"""The delta FIFO: what was heard becomes what has changed, in order."""

from collections.abc import Iterator

from steersman.cache import Added, Deleted, DeltaFifo, Replaced, Updated
from steersman.kinds import core_v1


def changes(fifo: DeltaFifo[core_v1.Pod]) -> Iterator[str]:
    """All changes that wait, as people would say them."""
    for popped in fifo.drain():
        # A list is one change, however much is different from what was known.
        for delta in popped.deltas if isinstance(popped, Replaced) else (popped,):
            match delta:
                case Added(obj=pod, is_initial=is_initial):
                    yield f"{pod.name} was there" if is_initial else f"{pod.name} is new"
                case Updated(old=old, obj=pod):
                    yield f"{pod.name} went from {old.resource_version} to {pod.resource_version}"
                case Deleted(obj=pod, is_missed=is_missed):
                    yield f"{pod.name} went unseen" if is_missed else f"{pod.name} is gone"
                case _:
                    pass  # a place in the story, at which nothing changed
