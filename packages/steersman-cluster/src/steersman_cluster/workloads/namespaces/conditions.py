"""The conditions of a terminating namespace, with the same messages as in Kubernetes. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from steersman.names import ResourceType

ObjectsWithFinalizers: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]

# In the order of the conditions, each with its message for the absence of a problem.
FINE: Final[Mapping[str, tuple[str, str]]] = {
    "NamespaceDeletionDiscoveryFailure": (
        "ResourcesDiscovered",
        "All resources successfully discovered",
    ),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": (
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
    ),
}


@dataclass(slots=True, kw_only=True)
class Findings:
    """The remaining content of a namespace, and the errors of its deletion.

    ``stale`` contains the API versions for which discovery failed, and ``failures`` the errors of
    deletions. ``remaining`` is the number of remaining objects by kind, such as ``pods.``;
    ``finalizers`` is the number of remaining objects by finalizer. The conditions include these
    numbers only if ``is_counted`` is true: while Pods terminate, no other kind has been listed.
    ``objects_with_finalizers`` contains the uids and finalizers of the remaining objects, by kind.
    """

    stale: Sequence[str] = ()
    failures: list[str] = field(default_factory=list)
    remaining: dict[str, int] = field(default_factory=dict)
    finalizers: dict[str, int] = field(default_factory=dict)
    objects_with_finalizers: dict[ResourceType, ObjectsWithFinalizers] = field(default_factory=dict)
    is_counted: bool = True
    estimate_seconds: int = 0

    @property
    def has_failed(self) -> bool:
        """Return whether an error occurred. If so, the deletion has to be retried."""
        return bool(self.stale or self.failures)


def conditions_after(
    before: Sequence[Mapping[str, Any]], findings: Findings, *, now: str
) -> list[dict[str, Any]]:
    """Return the previous conditions ``before``, updated to report ``findings``.

    ``now`` becomes the transition time of each condition whose status changes.
    """
    after = [dict(each) for each in before]
    known = {each["type"]: each for each in after}
    troubles = _troubles(findings)
    for name, fine in FINE.items():
        reason, message = troubles.get(name, fine)
        status = "True" if name in troubles else "False"
        said = {"type": name, "status": status, "reason": reason, "message": message}
        found = known.get(name)
        if found is None:
            after.append({**said, "lastTransitionTime": now})
        else:
            if found.get("status") != status:
                found["lastTransitionTime"] = now
            found.update(said)
    return after


def _troubles(findings: Findings) -> dict[str, tuple[str, str]]:
    troubles: dict[str, tuple[str, str]] = {}
    if findings.stale:
        groups = ", ".join(sorted(f"{each}: {_stale(each)}" for each in findings.stale))
        troubles["NamespaceDeletionDiscoveryFailure"] = (
            "DiscoveryFailed",
            f"Discovery failed for some groups, {len(findings.stale)} failing:"
            f" unable to retrieve the complete list of server APIs: {groups}",
        )
    if findings.failures:
        troubles["NamespaceDeletionContentFailure"] = (
            "ContentDeletionFailed",
            f"Failed to delete all resource types, {len(findings.failures)} remaining:"
            f" {', '.join(sorted(findings.failures))}",
        )
    if findings.is_counted and findings.remaining:
        counts = sorted(f"{k} has {n} resource instances" for k, n in findings.remaining.items())
        troubles["NamespaceContentRemaining"] = (
            "SomeResourcesRemain",
            f"Some resources are remaining: {', '.join(counts)}",
        )
    if findings.is_counted and findings.finalizers:
        counts = sorted(f"{f} in {n} resource instances" for f, n in findings.finalizers.items())
        troubles["NamespaceFinalizersRemaining"] = (
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {', '.join(counts)}",
        )
    return troubles


def _stale(api_version: str) -> str:
    return f"stale GroupVersion discovery: {api_version}"
