"""Indexes that find the Pods of a PodDisruptionBudget and the budgets of a Pod."""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from steersman.controller import CacheReader, Context, Watch
from steersman.kinds import apps_v1, core_v1, meta_v1, policy_v1
from steersman.names import ObjectKey
from steersman_cluster.workloads.pods import SELECTOR_INDEX, condition, selector_index_key, selects

Pod = core_v1.Pod
Budget = policy_v1.PodDisruptionBudget
# The kinds whose ``spec.replicas`` counts.
Sized: TypeAlias = apps_v1.Deployment | apps_v1.ReplicaSet | apps_v1.StatefulSet

TARGET: Final = "DisruptionTarget"
_LABEL_INDEX: Final = "label"


def by_labels(pod: Pod) -> Iterable[str]:
    """Return the index keys of ``pod``: one for each label, prefixed with the Pod's namespace."""
    return _places(pod.metadata.namespace, pod.metadata.labels or {})


def matters(old: Pod | None, new: Pod) -> bool:
    """Return whether the change of a Pod from ``old`` to ``new`` can change a budget's status."""
    if old is None:
        return True
    before, after = old.metadata, new.metadata
    return (
        (before.deletion_timestamp is None) != (after.deletion_timestamp is None)
        or before.labels != after.labels
        or before.owner_references != after.owner_references
        or _condition_status(old, "Ready") != _condition_status(new, "Ready")
        or _condition_status(old, TARGET) != _condition_status(new, TARGET)
    )


def budgets_of(pod: Pod, cached: CacheReader) -> list[ObjectKey]:
    """Return the keys of the PodDisruptionBudgets that select ``pod``."""
    return [ObjectKey(each.namespace, each.name) for each in _budgets(pod, cached)]


def is_resized(old: Sized | None, new: Sized) -> bool:
    """Return whether the number of Pods that should exist differs between ``old`` and ``new``.

    The result is ``True`` if ``old`` is ``None``.
    """
    return old is None or _size(old) != _size(new)


def budgets_above(sized: Sized, cached: CacheReader) -> list[ObjectKey]:
    """Return the keys of the PodDisruptionBudgets that select the Pods of ``sized``.

    ``sized`` is a controller such as a ReplicaSet, whose template contains the labels of its Pods.
    """
    template = sized.spec.template if sized.spec is not None else None
    metadata = template.metadata if template is not None else None
    labels = (metadata.labels if metadata is not None else None) or {}
    return [
        ObjectKey(each.namespace, each.name)
        for each in _budgets_selecting(sized.namespace, labels, cached)
    ]


def shared_budgets(pod: Pod, ctx: Context) -> list[Budget]:
    """Return the PodDisruptionBudgets that select ``pod``, sorted by name.

    More than one budget for a Pod is an error of the user.
    """
    return sorted(_budgets(pod, ctx), key=lambda budget: budget.name)


def pods_of(budget: Budget, ctx: Context) -> list[Pod]:
    """Return the cached Pods that ``budget`` selects."""
    selector = budget.spec.selector if budget.spec is not None else None
    if selector is None:
        return []
    if selector.match_labels:
        under = selector_index_key(budget.namespace, selector)
        found = ctx.by_index(Pod, _LABEL_INDEX, under)
    else:
        found = ctx.list(Pod)
    return [pod for pod in found if selects(selector, pod.labels)]


def go_form(selector: meta_v1.LabelSelector | None) -> str:
    """Return ``selector`` as Go prints it in the messages of kube-controller-manager."""
    if selector is None:
        return "nil"
    labels = "".join(
        f"{key}: {value}," for key, value in sorted((selector.match_labels or {}).items())
    )
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each.key},Operator:{each.operator},"
        f"Values:[{' '.join(each.values or ())}],}},"
        for each in selector.match_expressions or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


WATCHED_PODS: Final = Watch(Pod, to=budgets_of, when=matters, indexes={_LABEL_INDEX: by_labels})


def _budgets(pod: Pod, readable: CacheReader | Context) -> list[Budget]:
    return _budgets_selecting(pod.namespace, pod.labels, readable)


def _budgets_selecting(
    namespace: str | None, labels: Mapping[str, str], readable: CacheReader | Context
) -> list[Budget]:
    return [
        budget
        for place in (f"{namespace or ''}/", *_places(namespace, labels))
        for budget in readable.by_index(Budget, SELECTOR_INDEX, place)
        if budget.spec is not None and selects(budget.spec.selector, labels)
    ]


def _places(namespace: str | None, labels: Mapping[str, str]) -> list[str]:
    return [f"{namespace or ''}/{key}={value}" for key, value in labels.items()]


def _size(sized: Sized) -> int | None:
    return sized.spec.replicas if sized.spec is not None else None


def _condition_status(pod: Pod, type: str) -> str | None:
    found = condition(pod, type)
    return None if found is None else found.status
