"""The indexer: finds objects by key, and by the values of index functions."""

from collections.abc import Iterable

from steersman.cache import Indexer, by_controller, by_label
from steersman.kinds import core_v1


def by_image(pod: core_v1.Pod) -> Iterable[str]:
    """Return the images of a Pod. An object can have several values, or none."""
    return {each.image for each in pod.spec.containers if each.image} if pod.spec else ()


def pods() -> Indexer[core_v1.Pod]:
    """Return an empty store of Pods with its index."""
    return Indexer(
        indexes={"image": by_image, "tier": by_label("tier"), "controller": by_controller},
        failed=lambda index, key, error: print(f"{key} is not in {index}: {error}"),
    )
