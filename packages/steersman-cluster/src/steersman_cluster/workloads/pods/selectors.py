"""Selectors and the indexes that make them cheap: whom labels belong to. Pure.

A selector with labels in it can only match what has one of them, whichever. So those who select
are found under one of their labels, what nobody controls under each of its own, and no one has to
be looked at whom it does not concern.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from steersman.kinds import Resource, Unstructured, meta_v1

#: The index of what is selected: by the uid of whoever controls it, and otherwise by its labels.
HOLDER_INDEX = "holder"
#: The index of those who select: by one label of their selector.
SELECTOR_INDEX = "selector"


def selects(selector: meta_v1.LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether the selector matches: none matches nothing, and an empty one everything."""
    if selector is None:
        return False
    for key, value in (selector.match_labels or {}).items():
        if labels.get(key) != value:
            return False
    return all(_holds(each, labels) for each in selector.match_expressions or ())


def is_empty(selector: meta_v1.LabelSelector | None) -> bool:
    """Whether it is a selector that matches everything."""
    return selector is not None and not selector.match_labels and not selector.match_expressions


def by_holder(obj: Resource | Unstructured) -> Iterable[str]:
    """Under the uid of its controller; what has none is under its namespace and each label."""
    if isinstance(obj, Unstructured):
        raise TypeError("only typed objects are indexed by who holds them")
    for owner in obj.metadata.owner_references or ():
        if owner.controller:
            return (owner.uid,)
    namespace = obj.metadata.namespace or ""
    labels = obj.metadata.labels
    if not labels:
        return (f"{namespace}/",)
    return (f"{namespace}/", *(f"{namespace}/{key}={value}" for key, value in labels.items()))


def selector_of(obj: Any) -> meta_v1.LabelSelector | None:
    """Its ``spec.selector``; that of a ReplicationController is a plain map of labels."""
    selector = obj.spec.selector if obj.spec is not None else None
    if selector is None or isinstance(selector, meta_v1.LabelSelector):
        return selector
    return meta_v1.LabelSelector(match_labels=selector)


def by_selector(obj: Any) -> Iterable[str]:
    """Under its namespace and one label that its ``spec.selector`` asks for, if there is one."""
    return (selected_under(obj.namespace, selector_of(obj)),) if obj.spec is not None else ()


def selected_under(namespace: str | None, selector: meta_v1.LabelSelector | None) -> str:
    """A value of ``HOLDER_INDEX`` under which all that matches the selector is, held by nobody."""
    labels = selector.match_labels if selector is not None else None
    if not labels:
        return f"{namespace or ''}/"
    # Any of them would do; this one is the hash of the template where there is one.
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
