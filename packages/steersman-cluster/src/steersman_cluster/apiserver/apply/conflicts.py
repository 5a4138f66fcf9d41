"""The conflict error of an apply that would change fields of other managers."""

from collections.abc import Mapping

from steersman_cluster.apiserver.apply.field_sets import ordered, paths
from steersman_cluster.apiserver.apply.managed_fields import ManagerEntry
from steersman_cluster.apiserver.meta.reset_fields import FieldSet
from steersman_cluster.apiserver.meta.status_errors import StatusError, apply_conflict


def conflict(disputed: Mapping[ManagerEntry, FieldSet]) -> StatusError:
    """Return a conflict error that names the managers, with one cause for each field."""
    owners = [
        (str(manager), list(paths(ordered(disputed[manager]))))
        for manager in sorted(disputed, key=lambda each: each.identity)
    ]
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {owner}", "field": path}
        for owner, fields in owners
        for path in fields
    ]
    if len(causes) == 1:
        what = f"1 conflict: {causes[0]['message']}: {causes[0]['field']}"
    else:
        lines = [
            line
            for owner, fields in owners
            for line in (f"conflicts with {owner}:", *(f"- {path}" for path in fields))
        ]
        what = f"{len(causes)} conflicts: " + "\n".join(lines)
    return apply_conflict(f"Apply failed with {what}", causes)
