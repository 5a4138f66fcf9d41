"""The delta FIFO: turns watch events into deltas, in order."""

from collections.abc import Iterator

from steersman.cache import Added, Deleted, DeltaFifo, Replaced, Updated
from steersman.kinds import core_v1


def changes(fifo: DeltaFifo[core_v1.Pod]) -> Iterator[str]:
    """The queued deltas, as text."""
    for popped in fifo.drain():
        # A list is one delta, regardless of the number of changed objects.
        for delta in popped.deltas if isinstance(popped, Replaced) else (popped,):
            match delta:
                case Added(obj=pod, is_initial=is_initial):
                    yield f"{pod.name} was there" if is_initial else f"{pod.name} is new"
                case Updated(old=old, obj=pod):
                    yield f"{pod.name} went from {old.resource_version} to {pod.resource_version}"
                case Deleted(obj=pod, is_missed=is_missed):
                    yield f"{pod.name} was missed" if is_missed else f"{pod.name} is gone"
                case _:
                    pass  # a bookmark: a new position, and no change
