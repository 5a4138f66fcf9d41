"""Which Pods an autoscaler is about, and whether another one is about them as well. Pure."""

from collections.abc import Iterable, Sequence
from typing import Final

from steersman.cache import Lister
from steersman.client import Labels
from steersman.errors import BadValue
from steersman.kinds import core_v1
from steersman.names import ObjectKey
from steersman_cluster.workloads.podautoscalers.decision import Event, Refused

Pod = core_v1.Pod

#: The index of Pods by namespace and label.
LABEL_INDEX: Final = f"{__name__}/label"


def by_label(pod: Pod) -> Iterable[str]:
    """Under its namespace with each of its labels."""
    namespace = pod.namespace
    return [f"{namespace}/{key}={value}" for key, value in pod.labels.items()]


def pods_in(lister: Lister[Pod], namespace: str, selector: Labels) -> list[Pod]:
    """All Pods that are selected, by name; from memory."""
    buckets = [
        lister.by_index(LABEL_INDEX, f"{namespace}/{each.key}={each.values[0]}")
        for each in selector.requirements
        if each.operator == "in" and len(each.values) == 1
    ]
    among = min(buckets, key=len) if buckets else lister.list(namespace=namespace)
    found = [pod for pod in among if selector.matches(pod.labels)]
    return sorted(found, key=lambda pod: pod.name)


class Selectors:
    """What each autoscaler selects, as far as it is known."""

    def __init__(self) -> None:
        self._known: dict[ObjectKey, Labels] = {}

    def forget(self, key: ObjectKey) -> None:
        """It is gone."""
        self._known.pop(key, None)

    def read(self, key: ObjectKey, text: str) -> Labels | Refused:
        """The selector of what an autoscaler scales, or why it is of no use."""
        if not text:
            return Refused(
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
            return Refused(
                event=Event("InvalidSelector", why), reason="InvalidSelector", message=why
            )
        self._known[key] = selector
        return selector

    def ambiguity(self, key: ObjectKey, text: str, pods: Sequence[Pod]) -> Refused | None:
        """Why nothing can be done, if others select the same Pods."""
        about = [
            each
            for each, selector in self._known.items()
            if each.namespace == key.namespace and any(selector.matches(pod.labels) for pod in pods)
        ]
        if len(about) < 2:
            return None
        shown = " ".join(f"{{{each.name} {each.namespace}}}" for each in sorted(about))
        why = f"pods by selector {text} are controlled by multiple HPAs: [{shown}]"
        return Refused(
            event=Event("AmbiguousSelector", why), reason="AmbiguousSelector", message=why
        )
