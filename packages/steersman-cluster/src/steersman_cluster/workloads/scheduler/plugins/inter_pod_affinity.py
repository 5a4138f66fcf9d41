"""InterPodAffinity: affinity and anti-affinity between Pods. No I/O.

The matches of a Pod's terms are computed once, before its nodes are filtered and scored.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from steersman.kinds import core_v1
from steersman_cluster.workloads.pods import is_empty, selects
from steersman_cluster.workloads.scheduler.cache import PodInfo, SchedulerCache

POD_AFFINITY_UNMET: Final = "node(s) didn't match pod affinity rules"
POD_ANTI_AFFINITY_UNMET: Final = "node(s) didn't match pod anti-affinity rules"
EXISTING_ANTI_AFFINITY_UNMET: Final = "node(s) didn't satisfy existing pods anti-affinity rules"

#: The labels of a namespace.
LabelsOf: TypeAlias = Callable[[str], Mapping[str, str]]
#: A label of nodes, and one value of it: the nodes that have it are one topology domain.
Topology: TypeAlias = tuple[str, str]


class InterPodAffinity:
    """The affinity and anti-affinity between one Pod and the cached Pods."""

    __slots__ = (
        "_affinity_terms",
        "_existing_anti_affinity",
        "_incoming_affinity",
        "_incoming_anti_affinity",
        "_is_first",
        "_preferred",
    )

    def __init__(self, pod: core_v1.Pod, cache: SchedulerCache, labels_of: LabelsOf) -> None:
        affinity = pod.spec.affinity if pod.spec is not None else None
        near = affinity.pod_affinity if affinity is not None else None
        far = affinity.pod_anti_affinity if affinity is not None else None
        self._existing_anti_affinity = _existing_anti_affinity(pod, cache, labels_of)
        self._incoming_anti_affinity = _incoming_anti_affinity(pod, far, cache, labels_of)
        self._affinity_terms = (
            near.required_during_scheduling_ignored_during_execution if near is not None else None
        ) or ()
        self._incoming_affinity = _incoming_affinity(pod, self._affinity_terms, cache, labels_of)
        self._is_first = not self._incoming_affinity and all(
            _term_matches(term, pod.namespace or "", pod.namespace or "", pod.labels, labels_of)
            for term in self._affinity_terms
        )
        self._preferred = _preferred(pod, near, far, cache, labels_of)

    def filter(self, node: core_v1.Node) -> tuple[str, bool] | None:
        """Return why ``node`` does not fit the Pod, or ``None`` if it fits.

        The second part of the result is whether removing Pods from the node could help.
        """
        labels = node.labels
        if self._affinity_terms and not self._matches_affinity(labels):
            return POD_AFFINITY_UNMET, False
        if self._incoming_anti_affinity and _is_in(labels, self._incoming_anti_affinity):
            return POD_ANTI_AFFINITY_UNMET, True
        if self._existing_anti_affinity and _is_in(labels, self._existing_anti_affinity):
            return EXISTING_ANTI_AFFINITY_UNMET, True
        return None

    def score(self, node: core_v1.Node) -> int:
        """Return the sum of the weights of the Pod's preferred terms that match on ``node``."""
        labels = node.labels
        return sum(
            weight for (key, value), weight in self._preferred.items() if labels.get(key) == value
        )

    def _matches_affinity(self, labels: Mapping[str, str]) -> bool:
        keys = [(term.topology_key, labels.get(term.topology_key)) for term in self._affinity_terms]
        if any(value is None for _, value in keys):
            return False
        if self._is_first:
            return True
        return all(self._incoming_affinity.get((key, value or ""), 0) > 0 for key, value in keys)


def _existing_anti_affinity(
    pod: core_v1.Pod, cache: SchedulerCache, labels_of: LabelsOf
) -> set[Topology]:
    """Return the topologies of the Pods whose anti-affinity repels ``pod``."""
    found: set[Topology] = set()
    for existing in cache.pods_with_anti_affinity(pod):
        for term in existing.required_anti_affinity_terms:
            if _term_matches(term, existing.namespace, pod.namespace or "", pod.labels, labels_of):
                _add_topology(found, term.topology_key, existing, cache)
    return found


def _incoming_anti_affinity(
    pod: core_v1.Pod,
    far: core_v1.PodAntiAffinity | None,
    cache: SchedulerCache,
    labels_of: LabelsOf,
) -> set[Topology]:
    found: set[Topology] = set()
    terms = far.required_during_scheduling_ignored_during_execution if far is not None else None
    for term in terms or ():
        for pod_info in _matching_pods(term, pod, cache, labels_of):
            _add_topology(found, term.topology_key, pod_info, cache)
    return found


def _incoming_affinity(
    pod: core_v1.Pod,
    terms: Iterable[core_v1.PodAffinityTerm],
    cache: SchedulerCache,
    labels_of: LabelsOf,
) -> dict[Topology, int]:
    """Return, for each topology domain, how many Pods in the domain match all terms."""
    terms = tuple(terms)
    counts: dict[Topology, int] = {}
    if not terms:
        return counts
    first, *others = terms
    home = pod.namespace or ""
    for pod_info in _matching_pods(first, pod, cache, labels_of):
        if all(
            _term_matches(t, home, pod_info.namespace, pod_info.labels, labels_of) for t in others
        ):
            for term in terms:
                topology = _topology(term.topology_key, pod_info, cache)
                if topology is not None:
                    counts[topology] = counts.get(topology, 0) + 1
    return counts


def _preferred(
    pod: core_v1.Pod,
    near: core_v1.PodAffinity | None,
    far: core_v1.PodAntiAffinity | None,
    cache: SchedulerCache,
    labels_of: LabelsOf,
) -> dict[Topology, int]:
    likes: dict[Topology, int] = {}
    for preference, sign in ((near, 1), (far, -1)):
        weighted = (
            preference.preferred_during_scheduling_ignored_during_execution
            if preference is not None
            else None
        )
        for each in weighted or ():
            term = each.pod_affinity_term
            for pod_info in _matching_pods(term, pod, cache, labels_of):
                topology = _topology(term.topology_key, pod_info, cache)
                if topology is not None:
                    likes[topology] = likes.get(topology, 0) + sign * each.weight
    return likes


def _matching_pods(
    term: core_v1.PodAffinityTerm, pod: core_v1.Pod, cache: SchedulerCache, labels_of: LabelsOf
) -> Iterable[PodInfo]:
    """Return the Pods that an affinity term of ``pod`` matches."""
    home = pod.namespace or ""
    namespaces: list[str] | None = [home]
    if term.namespace_selector is not None:
        namespaces = None  # of any name
    elif term.namespaces:
        namespaces = list(term.namespaces)
    return (
        pod_info
        for pod_info in cache.pods(namespaces, term.label_selector)
        if _term_matches(term, home, pod_info.namespace, pod_info.labels, labels_of)
    )


def _term_matches(
    term: core_v1.PodAffinityTerm,
    home: str,
    namespace: str,
    labels: Mapping[str, str],
    labels_of: LabelsOf,
) -> bool:
    """Return whether a term of a Pod in the namespace ``home`` matches a Pod in ``namespace``."""
    if term.namespaces or term.namespace_selector is not None:
        is_named = namespace in (term.namespaces or ())
        chosen = term.namespace_selector
        if not is_named and not (
            is_empty(chosen) or (chosen is not None and selects(chosen, labels_of(namespace)))
        ):
            return False
    elif namespace != home:
        return False
    return selects(term.label_selector, labels)


def _topology(key: str, pod_info: PodInfo, cache: SchedulerCache) -> Topology | None:
    node_info = cache.node_info(pod_info.node)
    value = node_info.node.labels.get(key) if node_info is not None else None
    return None if value is None else (key, value)


def _add_topology(found: set[Topology], key: str, pod_info: PodInfo, cache: SchedulerCache) -> None:
    topology = _topology(key, pod_info, cache)
    if topology is not None:
        found.add(topology)


def _is_in(labels: Mapping[str, str], topologies: set[Topology]) -> bool:
    return any(item in topologies for item in labels.items())
