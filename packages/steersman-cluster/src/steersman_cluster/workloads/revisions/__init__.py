"""ControllerRevisions: what a set of Pods has looked like, so that it can look like that again.

Takes:     the Pod template of a StatefulSet or DaemonSet, and its history so far
Gives:     the revision for that template, numbered as the newest; what of the history is too much
Promises:  - a template that was there before keeps its revision under a new number
           - a revision holds what restores its template as a patch
           - revisions are named as the real controllers name them
           - no revision that is in use is taken out of a history
           - a revision whose answer was lost is found again
Never:     changes what a revision holds, or touches one that somebody else controls
"""

from steersman_cluster.workloads.revisions.content import (
    content_hash,
    revision_name,
    template_of,
    template_patch,
)
from steersman_cluster.workloads.revisions.controller_history import (
    HASH_LABEL,
    WATCHED,
    Kept,
    history_of,
    revision_for,
    shorten,
)
from steersman_cluster.workloads.revisions.history import (
    Keep,
    Make,
    Renumber,
    excess,
    in_order,
    next_number,
    planned,
)

__all__ = [
    "HASH_LABEL",
    "WATCHED",
    "Keep",
    "Kept",
    "Make",
    "Renumber",
    "content_hash",
    "excess",
    "history_of",
    "in_order",
    "next_number",
    "planned",
    "revision_for",
    "revision_name",
    "shorten",
    "template_of",
    "template_patch",
]
