"""The indexer: objects by key, and by whatever a function says of them."""

from collections.abc import Iterable

from steersman.cache import Indexer, by_controller, by_label
from steersman.kinds import core_v1


def by_image(pod: core_v1.Pod) -> Iterable[str]:
    """Under each image that it runs: a Pod can be under several values, or under none."""
    return {each.image for each in pod.spec.containers if each.image} if pod.spec else ()


def pods() -> Indexer[core_v1.Pod]:
    """An empty store of Pods, with what they will be looked up by."""
    return Indexer(
        indexes={"image": by_image, "tier": by_label("tier"), "controller": by_controller},
        failed=lambda index, key, error: print(f"{key} is not in {index}: {error}"),
    )
