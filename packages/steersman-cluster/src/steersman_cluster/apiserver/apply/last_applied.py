"""The annotation in which kubectl stores the configuration of its client-side apply.

Because of this annotation, a user who migrates from client-side to server-side apply gets no
conflicts with the user's own earlier applies. Server-side apply updates the annotation if the
object has it.
"""

import json
from typing import Any

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.apply.field_sets import difference
from steersman_cluster.apiserver.apply.path_elements import written
from steersman_cluster.apiserver.apply.typed_values import applied_fields, compared
from steersman_cluster.apiserver.apply.validation import mismatches
from steersman_cluster.apiserver.meta.reset_fields import FieldSet
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.schema.node import Schema

KUBECTL = "kubectl"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

# The limit of the total size of an object's annotations.
MAX_BYTES = 256 * 1024


def fields_of_last_applied(live: Object, schema: Schema, gvk: GroupVersionKind) -> FieldSet:
    """Return the fields in the annotation whose values are still equal in the object ``live``."""
    try:
        last = json.loads(_annotations(live).get(LAST_APPLIED) or "null")
        if not isinstance(last, dict) or last.get("apiVersion") != gvk.api_version:
            return {}
        if mismatches(last, schema):
            return {}
        changed, removed = compared(last, live, schema)
    except (ValueError, RecursionError):
        return {}
    return difference(difference(applied_fields(last, schema), changed), removed)


def with_last_applied(obj: Object, applied: Object) -> Object:
    """Return ``obj`` with ``applied`` in the annotation, if ``obj`` has the annotation.

    If all annotations together become too long, this annotation is removed.
    """
    annotations = _annotations(obj)
    text = _written(applied)
    if annotations.get(LAST_APPLIED) in (None, "", text):
        return obj
    annotations = {**annotations, LAST_APPLIED: text}
    if sum(len(f"{key}{value}".encode()) for key, value in annotations.items()) > MAX_BYTES:
        del annotations[LAST_APPLIED]
    return {**obj, "metadata": {**obj["metadata"], "annotations": annotations}}


def _annotations(obj: Object) -> dict[str, Any]:
    return (obj.get("metadata") or {}).get("annotations") or {}


def _written(applied: Object) -> str:
    annotations = _annotations(applied)
    if annotations:
        kept = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
        applied = {**applied, "metadata": {**applied["metadata"], "annotations": kept}}
    return written(applied, order="sorted") + "\n"
