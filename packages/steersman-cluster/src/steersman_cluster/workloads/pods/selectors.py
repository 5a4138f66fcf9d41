"""Label selectors, and indexes that find objects by selector. No I/O.

A selector with labels matches only objects that have all these labels. An object with a selector is
therefore indexed under one of the selector's labels. An object without a controller is indexed
under each of its own labels. Therefore no scan is needed to find the objects that a selector
matches, or the selectors that match an object.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from steersman.kinds import Resource, Unstructured, meta_v1

#: The index of selected objects: by the uid of their controller, or by label if they have none.
CONTROLLER_INDEX = "controller"
#: The index of selecting objects: by one label of their selector.
SELECTOR_INDEX = "selector"


def selects(selector: meta_v1.LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Return whether ``selector`` matches ``labels``.

    ``None`` matches no labels, and an empty selector matches all labels.
    """
    if selector is None:
        return False
    for key, value in (selector.match_labels or {}).items():
        if labels.get(key) != value:
            return False
    return all(_holds(each, labels) for each in selector.match_expressions or ())


def is_empty(selector: meta_v1.LabelSelector | None) -> bool:
    """Return whether ``selector`` is empty and therefore matches all labels."""
    return selector is not None and not selector.match_labels and not selector.match_expressions


def by_controller_or_labels(obj: Resource | Unstructured) -> Iterable[str]:
    """Return the index keys of ``obj``.

    If it has a controller, its only key is the uid of the controller. Otherwise, it has one key for
    each of its labels, prefixed with the namespace, and one key with only the namespace, for
    selectors without labels.
    """
    if isinstance(obj, Unstructured):
        raise TypeError("only typed objects can be indexed by controller")
    for owner in obj.metadata.owner_references or ():
        if owner.controller:
            return (owner.uid,)
    namespace = obj.metadata.namespace or ""
    labels = obj.metadata.labels
    if not labels:
        return (f"{namespace}/",)
    return (f"{namespace}/", *(f"{namespace}/{key}={value}" for key, value in labels.items()))


def selector_of(obj: Any) -> meta_v1.LabelSelector | None:
    """Return ``spec.selector`` of ``obj``.

    A ReplicationController's selector is a map of labels, which is converted to a selector.
    """
    selector = obj.spec.selector if obj.spec is not None else None
    if selector is None or isinstance(selector, meta_v1.LabelSelector):
        return selector
    return meta_v1.LabelSelector(match_labels=selector)


def by_selector(obj: Any) -> Iterable[str]:
    """Return the index key of ``obj``: one label of its selector, prefixed with the namespace."""
    return (selector_index_key(obj.namespace, selector_of(obj)),) if obj.spec is not None else ()


def selector_index_key(namespace: str | None, selector: meta_v1.LabelSelector | None) -> str:
    """Return a key of ``CONTROLLER_INDEX`` for the objects that ``selector`` may match.

    These are objects in ``namespace`` without a controller.
    """
    labels = selector.match_labels if selector is not None else None
    if not labels:
        return f"{namespace or ''}/"
    # Any label would do; preferred is the template hash.
    key = max(labels)
    return f"{namespace or ''}/{key}={labels[key]}"


def _holds(requirement: meta_v1.LabelSelectorRequirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in (requirement.values or ())
        case "NotIn":
            return value is None or value not in (requirement.values or ())
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case _:
            return False
