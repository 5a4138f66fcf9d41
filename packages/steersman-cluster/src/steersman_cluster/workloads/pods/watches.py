"""Watches of Pods, and of other objects with selectors and controllers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from steersman.controller import CacheReader, Watch, controller_of
from steersman.kinds import Resource, core_v1
from steersman.names import ObjectKey
from steersman_cluster.workloads.pods.pod_status import condition, phase
from steersman_cluster.workloads.pods.selectors import (
    CONTROLLER_INDEX,
    SELECTOR_INDEX,
    by_controller_or_labels,
    selector_of,
    selects,
)

Obj = TypeVar("Obj", bound=Resource)


@dataclass(frozen=True, slots=True)
class ControllerOfKind:
    """A mapping from an object to the key of its controller, if the controller is of ``kind``.

    An object without a controller maps to all objects of ``kind`` whose selector matches its
    labels, because one of them may adopt it. The ``Watch`` of ``kind`` needs
    ``indexes={SELECTOR_INDEX: by_selector}``.
    """

    kind: type[Any]

    def __call__(self, obj: Resource, cached: CacheReader) -> Iterable[ObjectKey]:
        controller = controller_of(obj)
        if controller is not None:
            gvk = self.kind.resource_type.gvk
            if (
                controller.kind != gvk.kind
                or controller.api_version.rpartition("/")[0] != gvk.group
            ):
                return ()
            return (ObjectKey(obj.namespace, controller.name),)
        return objects_selecting(self.kind, obj, cached)


def objects_selecting(kind: type[Any], obj: Resource, cached: CacheReader) -> list[ObjectKey]:
    """Return the keys of the objects of ``kind`` whose selector matches the labels of ``obj``."""
    labels = obj.labels
    if not labels:
        return []  # no controller selects everything
    return [
        ObjectKey(each.namespace, each.name)
        for value in label_index_keys(obj)
        for each in cached.by_index(kind, SELECTOR_INDEX, value)
        if selects(selector_of(each), labels)
    ]


def label_index_keys(obj: Resource) -> list[str]:
    """Return the keys of ``SELECTOR_INDEX`` under which selectors that match ``obj`` can be."""
    namespace = obj.namespace or ""
    return [f"{namespace}/", *(f"{namespace}/{key}={value}" for key, value in obj.labels.items())]


def watching(
    kind: type[Obj],
    *,
    controller: type[Any],
    when: Callable[[Obj | None, Obj], bool] | None = None,
) -> Watch[Obj]:
    """Return a watch of ``kind``.

    A change of an object of ``kind`` enqueues the object that controls it. ``controller`` is the
    kind of the controlling objects. With ``when``, only the additions and updates for which it
    returns true are processed.
    """
    return Watch(
        kind,
        to=ControllerOfKind(controller),
        when=when,
        indexes={CONTROLLER_INDEX: by_controller_or_labels},
    )


def watching_pods(
    controller: type[Any],
    *,
    when: Callable[[core_v1.Pod | None, core_v1.Pod], bool] | None = None,
) -> Watch[core_v1.Pod]:
    """Return a watch of Pods.

    A change of a Pod enqueues the object that controls it. ``controller`` is the kind of the
    controlling objects. With ``when``, only the additions and updates for which it returns true are
    processed.
    """
    return watching(core_v1.Pod, controller=controller, when=when)


def only_deletions(_old: object, _new: object) -> bool:
    """Return ``False``. As the ``when`` of a watch, this function drops additions and updates.

    Deletions are never dropped, because ``when`` is not called for deletions.
    """
    return False


def is_counted_differently(old: core_v1.Pod | None, new: core_v1.Pod) -> bool:
    """Return whether the change of a Pod from ``old`` to ``new`` affects its controller's counts.

    Of a thousand Pods that wait for a node, each gets a new condition again and again. Without this
    predicate, the controller would count a thousand Pods a thousand times.
    """
    if old is None:
        return True
    before, after = old.metadata, new.metadata
    return (
        before.deletion_timestamp != after.deletion_timestamp
        or before.labels != after.labels
        or before.owner_references != after.owner_references
        or phase(old) != phase(new)
        or condition(old, "Ready") != condition(new, "Ready")
    )
