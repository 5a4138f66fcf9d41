"""The usage of one quota. No I/O.

The usage is stored per object, so a change of an object requires an evaluation of this object only.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TypeAlias

from steersman.kinds import Resource, core_v1
from steersman.names import GroupResource, ObjectKey
from steersman.units import Quantity
from steersman_cluster.workloads.quotas.evaluators import (
    PODS,
    kind_of_resource,
    released_time,
    usage,
)
from steersman_cluster.workloads.quotas.pod_requests import Usage
from steersman_cluster.workloads.quotas.scopes import is_in_scope, rules_of

Place: TypeAlias = tuple[GroupResource, ObjectKey]


class QuotaUsage:
    """The usage of one ResourceQuota by the objects in its namespace."""

    def __init__(self, spec: core_v1.ResourceQuotaSpec) -> None:
        self.spec = spec
        self._rules = rules_of(spec)
        names: dict[GroupResource, list[str]] = {}
        for name in sorted(spec.hard or {}):
            kind = kind_of_resource(name)
            if kind is not None:
                names.setdefault(kind, []).append(name)
        self._names: Mapping[GroupResource, list[str]] = names
        self._entries: dict[Place, Usage] = {}
        # Pods that are being deleted, and when they stop counting.
        self._ending: dict[Place, tuple[datetime, core_v1.Pod]] = {}
        self._totals: Usage = {name: Quantity(0) for each in names.values() for name in each}

    def __repr__(self) -> str:
        return f"<Ledger of {len(self._entries)} objects, {len(self._totals)} names>"

    @property
    def kinds(self) -> tuple[GroupResource, ...]:
        """Return the kinds whose objects can use a resource that the quota limits."""
        return tuple(self._names)

    def used(self, served: Mapping[GroupResource, object]) -> Usage:
        """Return the total usage of each resource whose kind is in ``served``."""
        return {
            name: self._totals[name]
            for kind, names in self._names.items()
            if kind in served
            for name in names
        }

    def put(self, resource: GroupResource, key: ObjectKey, obj: Resource, now: datetime) -> int:
        """Add or update ``obj``, an object of the kind ``resource``.

        Return a negative number if the usage of any quota resource decreases, and a positive number
        if usage only increases. Return 0 if nothing changes.
        """
        names = self._names.get(resource)
        if names is None:
            return 0
        place = resource, key
        used: Usage = {}
        self._ending.pop(place, None)
        if is_in_scope(obj, self._rules):
            every = usage(resource, obj, now)
            used = {name: every[name] for name in names if name in every}
            if isinstance(obj, core_v1.Pod):
                ends = released_time(obj)
                if ends is not None and ends >= now:
                    self._ending[place] = ends, obj
        return self._enter(place, used)

    def remove(self, resource: GroupResource, key: ObjectKey) -> int:
        """Remove the object ``key`` of the kind ``resource``.

        The result has the same meaning as the result of ``put``.
        """
        self._ending.pop((resource, key), None)
        return self._enter((resource, key), {})

    def release(self, now: datetime) -> float | None:
        """Stop counting the Pods whose deletion is overdue at the time ``now``.

        Return the seconds until the deletion of the next Pod becomes overdue, or ``None`` if no
        counted Pod is being deleted.
        """
        for place, (ends, pod) in list(self._ending.items()):
            if ends < now:
                self.put(PODS, place[1], pod, now)
        waits = [(ends - now).total_seconds() for ends, _ in self._ending.values()]
        # A little later: at that very moment it still counts.
        return min(waits) + 0.001 if waits else None

    def _enter(self, place: Place, used: Usage) -> int:
        before = self._entries.pop(place, {})
        if used:
            self._entries[place] = used
        change = 0
        for name in {**before, **used}:
            old, new = before.get(name, Quantity(0)), used.get(name, Quantity(0))
            if old != new:
                self._totals[name] = self._totals[name] - old + new
                change = -1 if new < old or change < 0 else 1
        return change
