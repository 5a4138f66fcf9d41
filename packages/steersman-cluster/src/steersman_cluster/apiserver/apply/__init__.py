"""Field management and server-side apply: which manager owns which fields of an object.

Takes:     objects before and after a write, the field manager, and the schema, which determines
           which values are single fields
Gives:     their managedFields, and the result of merging an applied configuration into a live
           object
Promises:  - a manager that changes a field becomes its owner
           - managers that apply the same value share the field
           - an apply to a field of another manager is a conflict that names manager and field
           - a field that its only applier no longer applies is removed
           - an apply that changes nothing returns the live object itself
           - the live object is never modified
Never:     reads the clock, sets defaults, or writes to the store
"""

from steersman_cluster.apiserver.apply.field_manager import FieldManager, keep_times
from steersman_cluster.apiserver.apply.scale_entries import entries_after_scale, scale_entries
from steersman_cluster.apiserver.meta.reset_fields import FieldSet

__all__ = [
    "FieldManager",
    "FieldSet",
    "entries_after_scale",
    "keep_times",
    "scale_entries",
]
