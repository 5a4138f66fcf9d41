"""The scheduling queue, which contains the Pods that need a node. No I/O.

Each Pod is active or unschedulable. Pods with the same signature fit on the same nodes, so they
become unschedulable together. After a change in the cluster, the queue activates only one Pod of
each signature. It activates the next Pod only if this one fits. Five thousand unschedulable Pods
with the same signature therefore cost one attempt.
"""

from heapq import heappop, heappush
from itertools import count

from steersman_cluster.workloads.scheduler.schedule_one import QueuedPodInfo


class SchedulingQueue:
    """A queue of the Pods that need a node, by uid."""

    def __init__(self) -> None:
        self._pods: dict[str, QueuedPodInfo] = {}
        self._heap: list[tuple[int, float, int, str]] = []
        self._active: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._groups: dict[bytes, _Group] = {}
        self._group_of: dict[str, bytes] = {}
        self._next_number = count()
        self._constrained_groups = 0  # of the groups, how many have affinity

    def __len__(self) -> int:
        """Return how many Pods are in the queue."""
        return len(self._pods)

    def __contains__(self, uid: str) -> bool:
        return uid in self._pods

    def __repr__(self) -> str:
        return f"<SchedulingQueue {len(self)}, {len(self._active)} active>"

    @property
    def signatures(self) -> int:
        """Return the number of different signatures of unschedulable Pods."""
        return len(self._groups)

    @property
    def has_pod_constraints(self) -> bool:
        """Return whether an unschedulable Pod has constraints that depend on other Pods."""
        return self._constrained_groups > 0

    def queued_pod_info(self, uid: str) -> QueuedPodInfo:
        """Return the Pod with the uid ``uid``; it must be in the queue."""
        return self._pods[uid]

    def is_unchanged(self, queued_pod_info: QueuedPodInfo) -> bool:
        """Return whether the queue contains this Pod with the same signature and priority."""
        known = self._pods.get(queued_pod_info.pod.uid)
        return known is not None and (known.signature, known.priority) == (
            queued_pod_info.signature,
            queued_pod_info.priority,
        )

    def add(self, queued_pod_info: QueuedPodInfo) -> None:
        """Add a Pod as active; if it is already in the queue, replace it because it has changed."""
        uid = queued_pod_info.pod.uid
        self._leave_group(uid)
        self._pods[uid] = queued_pod_info
        self._numbers.setdefault(uid, next(self._next_number))
        self._activate(uid)

    def activate(self, uid: str) -> None:
        """Activate the Pod with the uid ``uid``, if it is in the queue."""
        if uid in self._pods:
            self._activate(uid)

    def remove(self, uid: str) -> None:
        """Remove a Pod."""
        self._leave_group(uid)
        self._pods.pop(uid, None)
        self._numbers.pop(uid, None)
        self._active.discard(uid)

    def pop(self) -> QueuedPodInfo | None:
        """Return the next active Pod, which is then no longer active, or ``None``.

        The Pods are ordered by priority, the highest first, and then by creation time.
        """
        while self._heap:
            *_, uid = heappop(self._heap)
            if uid in self._active:
                self._active.remove(uid)
                return self._pods[uid]
        return None

    def message(self, signature: bytes) -> str | None:
        """Return why Pods with ``signature`` are unschedulable, or ``None`` if they may fit."""
        group = self._groups.get(signature)
        return None if group is None or group.is_retried else group.message

    def add_unschedulable(
        self, queued_pod_info: QueuedPodInfo, signature: bytes, message: str
    ) -> None:
        """Mark all Pods with ``signature`` as unschedulable until the next relevant change.

        ``queued_pod_info`` is one of these Pods, and ``message`` is why it fits on no node.
        """
        uid = queued_pod_info.pod.uid
        self._leave_group(uid, goes_to=signature)
        group = self._groups.get(signature)
        if group is None:
            group = self._groups[signature] = _Group(
                has_pod_constraints=queued_pod_info.has_pod_constraints
            )
            self._constrained_groups += group.has_pod_constraints
        group.message = message
        group.is_retried = False
        group.members[uid] = None
        self._group_of[uid] = signature

    def move_all_to_active(self, *, only_pod_constraints: bool = False) -> None:
        """Activate one unschedulable Pod of each signature.

        With ``only_pod_constraints``, activate only Pods whose constraints depend on other Pods.
        """
        for group in self._groups.values():
            if group.has_pod_constraints or not only_pod_constraints:
                self._activate_first(group)

    def _activate_first(self, group: "_Group") -> None:
        group.is_retried = True
        self._activate(next(iter(group.members)))

    def _activate(self, uid: str) -> None:
        if uid not in self._active:
            self._active.add(uid)
            queued_pod_info = self._pods[uid]
            made = queued_pod_info.pod.metadata.creation_timestamp
            since = made.timestamp() if made is not None else 0.0
            heappush(self._heap, (-queued_pod_info.priority, since, self._numbers[uid], uid))

    def _leave_group(self, uid: str, *, goes_to: bytes | None = None) -> None:
        signature = self._group_of.pop(uid, None)
        if signature is None:
            return
        group = self._groups[signature]
        del group.members[uid]
        if not group.members:
            if signature != goes_to:
                del self._groups[signature]
                self._constrained_groups -= group.has_pod_constraints
        elif signature != goes_to and group.is_retried:
            # The group's active Pod has left: the next one takes its place.
            self._activate_first(group)


class _Group:
    __slots__ = ("has_pod_constraints", "is_retried", "members", "message")

    def __init__(self, *, has_pod_constraints: bool) -> None:
        self.has_pod_constraints = has_pod_constraints
        self.message = ""
        # Whether one of them is active: until it is tried, the others may fit or not.
        self.is_retried = False
        self.members: dict[str, None] = {}
