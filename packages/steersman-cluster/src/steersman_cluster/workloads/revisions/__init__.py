"""ControllerRevisions: the history of Pod templates of StatefulSets and DaemonSets.

Takes:     the Pod template of a StatefulSet or DaemonSet, and its history so far
Gives:     the revision for that template, with the highest number; the revisions beyond the limit
Promises:  - an earlier template keeps its revision with a new number
           - a revision is a patch that restores its template
           - revisions are named as kube-controller-manager names them
           - a revision in use is never deleted
           - a revision whose create response was lost is found again
Never:     changes the data of a revision, or a revision with another controller
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
    CurrentRevision,
    history_of,
    revision_for,
    shorten,
)
from steersman_cluster.workloads.revisions.history import (
    CreateRevision,
    KeepRevision,
    RenumberRevision,
    excess,
    in_order,
    make_plan,
    next_number,
)

__all__ = [
    "HASH_LABEL",
    "WATCHED",
    "CreateRevision",
    "CurrentRevision",
    "KeepRevision",
    "RenumberRevision",
    "content_hash",
    "excess",
    "history_of",
    "in_order",
    "make_plan",
    "next_number",
    "revision_for",
    "revision_name",
    "shorten",
    "template_of",
    "template_patch",
]
