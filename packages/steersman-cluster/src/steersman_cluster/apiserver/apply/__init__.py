"""Field management and server-side apply: which manager owns which fields of an object.

Takes:     objects before and after a write, the field manager, and the schema that divides fields
Gives:     their managedFields, and the result of merging an applied configuration into a live
           object
Promises:  - who changes a field owns it from then on
           - who applies what others apply owns it with them
           - applying what someone else owns is a conflict that names owner and field
           - what its only applier no longer applies is gone
           - an apply that changes nothing gives back the live object itself
           - a live object is never changed
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
