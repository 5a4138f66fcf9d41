"""On which terms an object is to be deleted. Pure."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from steersman.client.questions import query

Propagation: TypeAlias = Literal["Background", "Foreground", "Orphan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preconditions:
    """What must still be true of an object for its deletion to go ahead."""

    uid: str | None = None
    resource_version: str | None = None


def delete_options(
    dry_run: str | None,
    preconditions: Preconditions | None,
    propagation: Propagation | None,
    grace_seconds: int | None,
) -> dict[str, object] | None:
    """The body of a delete; ``None`` where there are no terms."""
    terms: dict[str, object] = {}
    if dry_run is not None:
        # Not in the query: the server reads that only where there is no body, and would delete.
        terms["dryRun"] = [dry_run]
    if preconditions is not None:
        terms["preconditions"] = dict(
            query(uid=preconditions.uid, resourceVersion=preconditions.resource_version)
        )
    if propagation is not None:
        terms["propagationPolicy"] = propagation
    if grace_seconds is not None:
        terms["gracePeriodSeconds"] = grace_seconds
    return {"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions", **terms} if terms else None
