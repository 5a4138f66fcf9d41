"""The scopes of a quota, which restrict the objects that the quota counts. No I/O."""

from collections.abc import Iterable

from steersman.kinds import Resource, core_v1
from steersman_cluster.workloads.quotas.pod_requests import is_best_effort

Rule = core_v1.ScopedResourceSelectorRequirement


def rules_of(spec: core_v1.ResourceQuotaSpec) -> tuple[Rule, ...]:
    """Return the scopes and the scope selector of a quota with ``spec``, as one list of rules."""
    named = (Rule(scope_name=each, operator="Exists") for each in spec.scopes or ())
    selector = spec.scope_selector
    return (*named, *((selector.match_expressions if selector is not None else None) or ()))


def is_in_scope(obj: Resource, rules: Iterable[Rule]) -> bool:
    """Return whether ``obj`` matches all ``rules``; an unknown scope matches no object."""
    return all(_is_in(obj, rule) for rule in rules)


def _is_in(obj: Resource, rule: Rule) -> bool:
    if isinstance(obj, core_v1.Pod):
        return obj.spec is not None and _pod_is_in(obj.spec, rule)
    if isinstance(obj, core_v1.PersistentVolumeClaim):
        return rule.scope_name == "VolumeAttributesClass" and _claim_is_in(obj, rule)
    return False


def _pod_is_in(spec: core_v1.PodSpec, rule: Rule) -> bool:
    match rule.scope_name:
        case "Terminating":
            return _has_deadline(spec)
        case "NotTerminating":
            return not _has_deadline(spec)
        case "BestEffort":
            return is_best_effort(spec)
        case "NotBestEffort":
            return not is_best_effort(spec)
        case "CrossNamespacePodAffinity":
            return _selects_other_namespaces(spec)
        case "PriorityClass":
            return _fulfils(rule, spec.priority_class_name or "")
        case _:
            return False


def _claim_is_in(claim: core_v1.PersistentVolumeClaim, rule: Rule) -> bool:
    names = (
        claim.spec.volume_attributes_class_name if claim.spec is not None else None,
        claim.status.current_volume_attributes_class_name if claim.status is not None else None,
    )
    found = [each for each in names if each]
    return any(_fulfils(rule, each) for each in found) if found else _fulfils(rule, "")


def _fulfils(rule: Rule, value: str) -> bool:
    values = rule.values or ()
    match rule.operator:
        case "In":
            return bool(value) and value in values
        case "NotIn":
            return not value or value not in values
        case "Exists":
            return bool(value)
        case _:
            return not value


def _has_deadline(spec: core_v1.PodSpec) -> bool:
    deadline = spec.active_deadline_seconds
    return deadline is not None and deadline >= 0


def _selects_other_namespaces(spec: core_v1.PodSpec) -> bool:
    """Return whether the Pod's affinity terms select Pods of other namespaces."""
    if spec.affinity is None:
        return False
    terms: list[core_v1.PodAffinityTerm] = []
    for each in (spec.affinity.pod_affinity, spec.affinity.pod_anti_affinity):
        if each is not None:
            terms += each.required_during_scheduling_ignored_during_execution or ()
            preferred = each.preferred_during_scheduling_ignored_during_execution or ()
            terms += [weighted.pod_affinity_term for weighted in preferred]
    return any(term.namespaces or term.namespace_selector is not None for term in terms)
