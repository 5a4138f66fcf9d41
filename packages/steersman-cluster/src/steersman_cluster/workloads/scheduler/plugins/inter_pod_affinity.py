"""Whom a Pod wants near and whom far: affinity between Pods, and how they are spread. Pure.

Looked at once for a Pod, before the nodes are gone through one by one.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from steersman.kinds import core_v1
from steersman_cluster.workloads.pods import is_empty, selects
from steersman_cluster.workloads.scheduler.cache import Board, Guest
from steersman_cluster.workloads.scheduler.plugins.node_affinity import matches_node
from steersman_cluster.workloads.scheduler.plugins.taint_toleration import untolerated

NOT_NEAR: Final = "node(s) didn't match pod affinity rules"
NOT_FAR: Final = "node(s) didn't match pod anti-affinity rules"
NOT_WANTED: Final = "node(s) didn't satisfy existing pods anti-affinity rules"
NOT_SPREAD: Final = "node(s) didn't match pod topology spread constraints"
NO_DOMAIN: Final = f"{NOT_SPREAD} (missing required label)"

#: The labels of a namespace.
LabelsOf: TypeAlias = Callable[[str], Mapping[str, str]]
#: A label of nodes, and one value of it: all nodes that have it are one place.
Domain: TypeAlias = tuple[str, str]


class Neighbours:
    """What a Pod's constraints mean on the board as it is."""

    __slots__ = (
        "_avoided",
        "_is_first",
        "_liked",
        "_near",
        "_near_counts",
        "_spreads",
        "_taken",
        "_unspread",
    )

    def __init__(self, pod: core_v1.Pod, board: Board, labels_of: LabelsOf) -> None:
        affinity = pod.spec.affinity if pod.spec is not None else None
        near = affinity.pod_affinity if affinity is not None else None
        far = affinity.pod_anti_affinity if affinity is not None else None
        self._taken = _guarded(pod, board, labels_of)
        self._avoided = _avoided(pod, far, board, labels_of)
        self._near = (
            near.required_during_scheduling_ignored_during_execution if near is not None else None
        ) or ()
        self._near_counts = _near_counts(pod, self._near, board, labels_of)
        self._is_first = not self._near_counts and all(
            _concerns(term, pod.namespace or "", pod.namespace or "", pod.labels, labels_of)
            for term in self._near
        )
        self._liked = _liked(pod, near, far, board, labels_of)
        constraints = (pod.spec.topology_spread_constraints if pod.spec is not None else None) or ()
        self._spreads = [
            _Spread(pod, each, board)
            for each in constraints
            if each.when_unsatisfiable == "DoNotSchedule"
        ]
        self._unspread = [
            _Spread(pod, each, board)
            for each in constraints
            if each.when_unsatisfiable != "DoNotSchedule"
        ]

    def refusal(self, node: core_v1.Node) -> tuple[str, bool] | None:
        """Why not this node, and whether it might do if somebody left it."""
        labels = node.labels
        for spread in self._spreads:
            reason = spread.refusal(labels)
            if reason is not None:
                return reason, reason != NO_DOMAIN
        if self._near and not self._is_near(labels):
            return NOT_NEAR, False
        if self._avoided and _is_in(labels, self._avoided):
            return NOT_FAR, True
        if self._taken and _is_in(labels, self._taken):
            return NOT_WANTED, True
        return None

    def liking(self, node: core_v1.Node) -> int:
        """By how much the Pod would rather be there, or not."""
        labels = node.labels
        return sum(
            weight for (key, value), weight in self._liked.items() if labels.get(key) == value
        )

    def crowding(self, node: core_v1.Node) -> int:
        """How many like it there are in the places that it would rather be spread over."""
        return sum(each.count(node.labels) for each in self._unspread)

    def _is_near(self, labels: Mapping[str, str]) -> bool:
        places = [(term.topology_key, labels.get(term.topology_key)) for term in self._near]
        if any(value is None for _, value in places):
            return False
        if self._is_first:
            return True
        return all(self._near_counts.get((key, value or ""), 0) > 0 for key, value in places)


def has_neighbours(spec: core_v1.PodSpec) -> bool:
    """Whether where it can be depends on where others are."""
    affinity = spec.affinity
    return bool(spec.topology_spread_constraints) or (
        affinity is not None
        and (affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None)
    )


# Affinity


def _guarded(pod: core_v1.Pod, board: Board, labels_of: LabelsOf) -> set[Domain]:
    """Where those who keep it away are."""
    found: set[Domain] = set()
    for guard in board.guards(pod):
        for term in guard.keeps_away:
            if _concerns(term, guard.namespace, pod.namespace or "", pod.labels, labels_of):
                _add_domain(found, term.topology_key, guard, board)
    return found


def _avoided(
    pod: core_v1.Pod, far: core_v1.PodAntiAffinity | None, board: Board, labels_of: LabelsOf
) -> set[Domain]:
    found: set[Domain] = set()
    terms = far.required_during_scheduling_ignored_during_execution if far is not None else None
    for term in terms or ():
        for guest in _concerned(term, pod, board, labels_of):
            _add_domain(found, term.topology_key, guest, board)
    return found


def _near_counts(
    pod: core_v1.Pod,
    terms: Iterable[core_v1.PodAffinityTerm],
    board: Board,
    labels_of: LabelsOf,
) -> dict[Domain, int]:
    """How many of those whom it wants near are where: such as all terms are about."""
    terms = tuple(terms)
    counts: dict[Domain, int] = {}
    if not terms:
        return counts
    first, *others = terms
    home = pod.namespace or ""
    for guest in _concerned(first, pod, board, labels_of):
        if all(_concerns(t, home, guest.namespace, guest.labels, labels_of) for t in others):
            for term in terms:
                domain = _domain(term.topology_key, guest, board)
                if domain is not None:
                    counts[domain] = counts.get(domain, 0) + 1
    return counts


def _liked(
    pod: core_v1.Pod,
    near: core_v1.PodAffinity | None,
    far: core_v1.PodAntiAffinity | None,
    board: Board,
    labels_of: LabelsOf,
) -> dict[Domain, int]:
    likes: dict[Domain, int] = {}
    for preference, sign in ((near, 1), (far, -1)):
        weighted = (
            preference.preferred_during_scheduling_ignored_during_execution
            if preference is not None
            else None
        )
        for each in weighted or ():
            term = each.pod_affinity_term
            for guest in _concerned(term, pod, board, labels_of):
                domain = _domain(term.topology_key, guest, board)
                if domain is not None:
                    likes[domain] = likes.get(domain, 0) + sign * each.weight
    return likes


def _concerned(
    term: core_v1.PodAffinityTerm, pod: core_v1.Pod, board: Board, labels_of: LabelsOf
) -> Iterable[Guest]:
    """Those whom a term of the Pod is about."""
    home = pod.namespace or ""
    namespaces: list[str] | None = [home]
    if term.namespace_selector is not None:
        namespaces = None  # whichever they are
    elif term.namespaces:
        namespaces = list(term.namespaces)
    return (
        guest
        for guest in board.guests(namespaces, term.label_selector)
        if _concerns(term, home, guest.namespace, guest.labels, labels_of)
    )


def _concerns(
    term: core_v1.PodAffinityTerm,
    home: str,
    namespace: str,
    labels: Mapping[str, str],
    labels_of: LabelsOf,
) -> bool:
    """Whether a term of a Pod at home in one namespace is about a Pod in another."""
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


def _domain(key: str, guest: Guest, board: Board) -> Domain | None:
    room = board.room(guest.node)
    value = room.node.labels.get(key) if room is not None else None
    return None if value is None else (key, value)


def _add_domain(found: set[Domain], key: str, guest: Guest, board: Board) -> None:
    domain = _domain(key, guest, board)
    if domain is not None:
        found.add(domain)


def _is_in(labels: Mapping[str, str], domains: set[Domain]) -> bool:
    return any(item in domains for item in labels.items())


# Spreading


class _Spread:
    __slots__ = ("_counts", "_is_one", "_least", "_most_skew", "key")

    def __init__(
        self, pod: core_v1.Pod, constraint: core_v1.TopologySpreadConstraint, board: Board
    ) -> None:
        self.key = constraint.topology_key
        self._most_skew = constraint.max_skew
        self._is_one = selects(constraint.label_selector, pod.labels)
        counts: dict[str, int] = {}
        domains: dict[str, str] = {}  # of the nodes that count
        for room in board.rooms:
            value = room.node.labels.get(self.key)
            if value is not None and _counts_for(pod, constraint, room.node):
                domains[room.node.name] = value
                counts.setdefault(value, 0)
        home, selector = pod.namespace or "", constraint.label_selector
        for guest in board.guests((home,), selector):
            value = domains.get(guest.node)
            if value is not None and not guest.is_ending and selects(selector, guest.labels):
                counts[value] += 1
        self._counts = counts
        is_short = len(counts) < (constraint.min_domains or 1)
        self._least = 0 if is_short or not counts else min(counts.values())

    def count(self, labels: Mapping[str, str]) -> int:
        value = labels.get(self.key)
        return self._counts.get(value, 0) if value is not None else 0

    def refusal(self, labels: Mapping[str, str]) -> str | None:
        if self.key not in labels:
            return NO_DOMAIN
        skew = self.count(labels) + self._is_one - self._least
        return NOT_SPREAD if skew > self._most_skew else None


def _counts_for(
    pod: core_v1.Pod, constraint: core_v1.TopologySpreadConstraint, node: core_v1.Node
) -> bool:
    """Whether the node is one that Pods are to be spread over."""
    spec = pod.spec
    if spec is None:
        return True
    if (constraint.node_affinity_policy or "Honor") == "Honor" and not matches_node(spec, node):
        return False
    is_honored = (constraint.node_taints_policy or "Ignore") == "Honor"
    return not is_honored or untolerated(node, spec.tolerations) is None
