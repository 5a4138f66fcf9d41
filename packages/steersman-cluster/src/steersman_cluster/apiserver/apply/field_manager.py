"""Field management of one resource: the effect of each write on metadata.managedFields."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from steersman.names import GroupVersionKind
from steersman.units import same_json
from steersman_cluster.apiserver.apply.field_sets import (
    difference,
    intersection,
    ordered,
    outside,
    paths,
    union,
)
from steersman_cluster.apiserver.apply.last_applied import (
    KUBECTL,
    fields_of_last_applied,
    with_last_applied,
)
from steersman_cluster.apiserver.apply.managed_fields import (
    Managed,
    ManagerEntry,
    Managers,
    applier,
    capped,
    decoded,
    decoded_from_client,
    encoded,
    updater,
)
from steersman_cluster.apiserver.apply.merge import merged, pruned
from steersman_cluster.apiserver.apply.path_elements import NoElement
from steersman_cluster.apiserver.apply.typed_values import (
    UNDECLARED,
    applied_fields,
    as_divided,
    compared,
)
from steersman_cluster.apiserver.apply.validation import mismatches
from steersman_cluster.apiserver.meta.reset_fields import FieldSet
from steersman_cluster.apiserver.meta.status_errors import StatusError, apply_conflict, bad_request
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.schema.defaults import copied
from steersman_cluster.apiserver.schema.node import UNSET, Schema

BEFORE_FIRST_APPLY = "before-first-apply"

# Fields that have no manager: the server sets them, or they identify the object.
_STRIP_SET: FieldSet = {
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": {
        ".": {},
        "f:name": {},
        "f:namespace": {},
        "f:creationTimestamp": {},
        "f:selfLink": {},
        "f:uid": {},
        "f:clusterName": {},
        "f:generation": {},
        "f:managedFields": {},
        "f:resourceVersion": {},
    },
}


@dataclass(frozen=True, kw_only=True)
class FieldManager:
    """Field management for one resource in one API version, or for one subresource.

    It caches what it derives from the schema, so create an instance once and reuse it.
    """

    gvk: GroupVersionKind
    schemas: Mapping[str, Schema]  # of every served version, by apiVersion
    subresource: str = ""
    # Fields that a write here never changes, as kube-apiserver's resetFields.
    reset: FieldSet = field(default_factory=dict)
    # Converts an object to a version, for kinds whose versions have different fields.
    convert: Callable[[Object, str], Object] | None = None

    def update(self, live: Object | None, new: Object, *, manager: str, time: str) -> None:
        """Set the managedFields of ``new`` after a create, an update, or a patch other than apply.

        ``live`` is the stored object, or None. Call this method after ``new`` is decoded and
        defaulted, but before the strategy and admission set further fields: the fields that they
        set must have no manager. ``new`` still contains the managedFields that the client sent.
        """
        managers = self._managers_for_update(live, new)
        new["metadata"].pop("managedFields", None)
        if self._has_unfit_status(live, new):
            return
        if not managers and live is not None:
            # A client removed all managedFields. The next apply adds them again.
            return
        # The manager owns the fields that this version has.
        shown = new if self.convert is None else self.convert(new, self.gvk.api_version)
        try:
            managers = self._updated(live or self._blank, shown, managers, name=manager, time=time)
        except NoElement:
            # Items without a valid key have no manager.
            return
        if managers := capped(managers):
            new["metadata"]["managedFields"] = encoded(managers)

    def apply(
        self, live: Object | None, applied: Object, *, manager: str, force: bool, time: str
    ) -> Object:
        """Return ``applied`` merged into ``live``: a new object, with its managedFields set.

        Call this method before defaults, the strategy and admission add fields: the fields that
        they add must have no manager. If nothing changes, the result is ``live`` itself, and
        nothing has to be written.
        """
        self._check(applied)
        try:
            result = self._applied(live, applied, manager, force=force, time=time)
        except NoElement as error:
            raise StatusError(500, "", f"failed to create typed live object: {error}") from None
        if manager == KUBECTL and (noted := with_last_applied(result, applied)) is not result:
            result = copied(noted)
        return result

    def _has_unfit_status(self, live: Object | None, new: Object) -> bool:
        """Whether a custom resource's status does not match the schema and will be dropped.

        The request handler drops such a status later and does not validate it. Therefore
        managedFields does not list its fields.
        """
        status = new.get("status")
        if not status or self._schema.name is not None or "f:status" not in self.reset:
            return False
        if live is not None and same_json(live.get("status"), status):
            return False
        return bool(mismatches(status, self._schema.properties.get("status") or UNDECLARED))

    @cached_property
    def _schema(self) -> Schema:
        return self.schemas[self.gvk.api_version]

    @cached_property
    def _blank(self) -> Object:
        """Return an object without any fields set."""
        return _blank(self._schema)

    def _managers_for_apply(self, live: Object | None, *, time: str) -> Managers:
        if live is None:
            return {}
        known = self._known(decoded(live["metadata"].get("managedFields")))
        # Fields of an object without managedFields belong to before-first-apply.
        return known or self._updated(self._blank, live, {}, name=BEFORE_FIRST_APPLY, time=time)

    def _managers_for_update(self, live: Object | None, new: Object) -> Managers:
        stored = live["metadata"].get("managedFields") if live is not None else None
        sent = new["metadata"].get("managedFields")
        # A write of a subresource cannot set managedFields.
        if self.subresource or not isinstance(sent, list) or sent == stored:
            return self._known(decoded(stored))
        if not any(sent) and len(sent) <= 1:
            return {}
        try:
            managers = decoded_from_client(sent)
        except ValueError:
            managers = {}
        return self._known(managers or decoded(stored))

    def _known(self, managers: Managers) -> Managers:
        """Return the managers of served API versions, with field sets that match the schema."""
        known = {}
        for manager, managed in managers.items():
            if (schema := self.schemas.get(managed.api_version)) is not None:
                if schema.name is None:  # schemas of built-in types do not change
                    divided = as_divided(managed.fields, schema)
                    managed = Managed(divided, managed.api_version, managed.time)
                known[manager] = managed
        return known

    def _updated(
        self, live: Object, new: Object, managers: Managers, *, name: str, time: str
    ) -> Managers:
        api_version = self.gvk.api_version
        changes = _Changes(self, live, new)
        result = changes.left_of_all(managers)
        changed, _ = changes.in_version(api_version)
        if fields := difference(changed, _STRIP_SET):
            manager = updater(name or "unknown", api_version, self.subresource)
            if (previous := result.get(manager)) is not None:
                fields = union(fields, previous.fields)
            result[manager] = Managed(ordered(fields), api_version, time)
        return result

    def _check(self, applied: Object) -> None:
        """Raise an error if the configuration cannot be applied to any object."""
        metadata = applied.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        kind = _go_kind(applied)
        if kind != _go_kind({"apiVersion": self.gvk.api_version, "kind": self.gvk.kind}):
            raise bad_request(f"invalid object type: {kind}")
        if isinstance(metadata.get("managedFields"), list):
            raise bad_request("metadata.managedFields must be nil")
        if found := mismatches(applied, self._schema):
            name = f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}"
            what = found[0] if len(found) == 1 else "\n  ".join(("errors:", *found))
            raise StatusError(
                500, "", f"failed to create typed patch object ({name}; {kind}): {what}"
            )

    def _applied(
        self, live: Object | None, applied: Object, name: str, *, force: bool, time: str
    ) -> Object:
        me = applier(name, self.subresource)
        managers = self._managers_for_apply(live, time=time)
        last = managers.pop(me, None)
        wanted = outside(applied_fields(applied, self._schema), self.reset)
        result = applied
        # The stored version may differ, but only in its name.
        current = live and {**live, "apiVersion": self.gvk.api_version, "kind": self.gvk.kind}
        if current is not None:
            result = merged(current, applied, self._schema)
            if last is not None and difference(last.fields, wanted):
                owned = [wanted, *(managed.fields for managed in managers.values())]
                result = pruned(result, self._schema, last=last.fields, owned=owned)
            changes = _Changes(self, current, result)
            if not force:
                self._check_conflicts(current, managers, changes, name)
            managers = changes.left_of_all(managers)
        same = same_json(result, current)
        since = (last.time if last is not None else None) if same else time
        if fields := ordered(difference(wanted, _STRIP_SET)):
            managers[me] = Managed(fields, self.gvk.api_version, since)
        entries = encoded(managers)
        if live is not None and same and entries == live["metadata"].get("managedFields", []):
            return live
        fresh: Object = copied(result)
        metadata = fresh["metadata"] = fresh.get("metadata") or {}
        metadata.pop("managedFields", None)
        if entries:
            metadata["managedFields"] = entries
        return fresh

    def _check_conflicts(
        self, live: Object, managers: Managers, changes: "_Changes", name: str
    ) -> None:
        """Raise a conflict error if the write changes fields of other managers."""
        disputed = {each: changes.taken_from(managed) for each, managed in managers.items()}
        if name == KUBECTL and any(disputed.values()):
            # kubectl may apply fields of its earlier client-side apply without a conflict.
            own = fields_of_last_applied(live, self._schema, self.gvk)
            disputed = {each: difference(fields, own) for each, fields in disputed.items()}
        if any(disputed.values()):
            raise _conflict_error({each: fields for each, fields in disputed.items() if fields})


class _Changes:
    """The changes of a write, in each version in which fields are managed."""

    def __init__(self, management: FieldManager, old: Object, new: Object) -> None:
        self._management = management
        self._old = old
        self._new = new
        self._found: dict[str, tuple[FieldSet, FieldSet]] = {}

    def in_version(self, api_version: str) -> tuple[FieldSet, FieldSet]:
        """Return two sets: the fields that the write changes or adds, and the removed fields."""
        if api_version not in self._found:
            management, old, new = self._management, self._old, self._new
            if management.convert is not None and api_version != management.gvk.api_version:
                old, new = (
                    management.convert(old, api_version),
                    management.convert(new, api_version),
                )
            changed, removed = compared(old, new, management.schemas[api_version])
            reset = management.reset
            self._found[api_version] = outside(changed, reset), outside(removed, reset)
        return self._found[api_version]

    def taken_from(self, managed: Managed) -> FieldSet:
        """Return the fields of ``managed`` that the write changes."""
        changed, _ = self.in_version(managed.api_version)
        return intersection(managed.fields, changed)

    def left_of_all(self, managers: Managers) -> Managers:
        """Return the managers with their remaining fields; managers without fields are omitted."""
        left = {manager: self._left_of(managed) for manager, managed in managers.items()}
        return {manager: managed for manager, managed in left.items() if managed.fields}

    def _left_of(self, managed: Managed) -> Managed:
        changed, removed = self.in_version(managed.api_version)
        if not changed and not removed:
            return managed
        left = difference(difference(managed.fields, changed), removed)
        return Managed(left, managed.api_version, managed.time)


def keep_times(old: Object, new: Object) -> None:
    """Copy the times in ``old``'s managedFields to ``new`` if the objects are otherwise equal.

    The resourceVersion is ignored, because a client does not have to send one. Call this function
    immediately before ``new`` is written: the strategy and admission may have reverted all changes
    of the write, and then nothing has to be written.
    """
    before = old["metadata"].get("managedFields", [])
    after = new["metadata"].get("managedFields", [])
    if before == after or len(before) != len(after):
        return
    if _timeless(before) == _timeless(after) and same_json(_unmanaged(old), _unmanaged(new)):
        new["metadata"]["managedFields"] = [dict(entry) for entry in before]


def _timeless(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**entry, "time": None} for entry in entries]


def _unmanaged(obj: Object) -> Object:
    metadata = {**obj["metadata"], "managedFields": None, "resourceVersion": None}
    return {**obj, "metadata": metadata}


def _go_kind(obj: Object) -> str:
    group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
    return f"{group}/{version}, Kind={obj.get('kind') or ''}"


def _blank(schema: Schema) -> Object:
    return {
        name: _blank(child) if child.absent == {} else child.absent
        for name, child in schema.properties.items()
        if child.absent is not UNSET
    }


def _conflict_error(disputed: Mapping[ManagerEntry, FieldSet]) -> StatusError:
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
