"""The Pods of autoscalers, and conflicts between their selectors. No I/O."""

from collections.abc import Iterable, Sequence
from typing import Final

from steersman.cache import Lister
from steersman.client import Labels
from steersman.errors import BadValue
from steersman.kinds import core_v1
from steersman.names import ObjectKey
from steersman_cluster.workloads.podautoscalers.decision import Event, InvalidSelector

Pod = core_v1.Pod

#: The index of Pods by namespace and label.
LABEL_INDEX: Final = f"{__name__}/label"


def by_label(pod: Pod) -> Iterable[str]:
    """Return the index keys of ``pod``: one for each label, prefixed with the Pod's namespace."""
    namespace = pod.namespace
    return [f"{namespace}/{key}={value}" for key, value in pod.labels.items()]


def pods_in(lister: Lister[Pod], namespace: str, selector: Labels) -> list[Pod]:
    """Return the cached Pods in ``namespace`` that ``selector`` matches, sorted by name."""
    buckets = [
        lister.by_index(LABEL_INDEX, f"{namespace}/{each.key}={each.values[0]}")
        for each in selector.requirements
        if each.operator == "in" and len(each.values) == 1
    ]
    among = min(buckets, key=len) if buckets else lister.list(namespace=namespace)
    found = [pod for pod in among if selector.matches(pod.labels)]
    return sorted(found, key=lambda pod: pod.name)


class Selectors:
    """The selectors of all known autoscalers' targets, by autoscaler."""

    def __init__(self) -> None:
        self._known: dict[ObjectKey, Labels] = {}

    def forget(self, key: ObjectKey) -> None:
        """Remove the selector of the autoscaler ``key``."""
        self._known.pop(key, None)

    def read(self, key: ObjectKey, text: str) -> Labels | InvalidSelector:
        """Parse ``text``, the selector of the target of the autoscaler ``key``.

        Return the selector, or the reason why it is invalid.
        """
        if not text:
            return InvalidSelector(
                event=Event("SelectorRequired", "selector is required"),
                reason="InvalidSelector",
                message="the HPA target's scale is missing a selector",
            )
        try:
            selector = Labels.parse(text)
        except BadValue as error:
            why = (
                f"couldn't convert selector into a corresponding internal selector object: {error}"
            )
            return InvalidSelector(
                event=Event("InvalidSelector", why), reason="InvalidSelector", message=why
            )
        self._known[key] = selector
        return selector

    def ambiguity(self, key: ObjectKey, text: str, pods: Sequence[Pod]) -> InvalidSelector | None:
        """Return why the autoscaler ``key`` is disabled because others select the same Pods.

        Return ``None`` if no other autoscaler selects one of ``pods``.
        """
        about = [
            each
            for each, selector in self._known.items()
            if each.namespace == key.namespace and any(selector.matches(pod.labels) for pod in pods)
        ]
        if len(about) < 2:
            return None
        shown = " ".join(f"{{{each.name} {each.namespace}}}" for each in sorted(about))
        why = f"pods by selector {text} are controlled by multiple HPAs: [{shown}]"
        return InvalidSelector(
            event=Event("AmbiguousSelector", why), reason="AmbiguousSelector", message=why
        )
