"""Validation and preparation of ObjectMeta, which is the same for all kinds.

The functions receive decoded ``metadata``: its fields have the right types, and empty values are
absent.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final, TypeAlias

import msgspec

from steersman_cluster.apiserver.meta import name_validation, status_errors
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    immutable,
    invalid,
    required,
    too_long,
)

Metadata: TypeAlias = dict[str, Any]

# The characters of generated suffixes. No vowels and no characters that resemble others, so that a
# suffix neither spells a word nor is misread.
ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
SUFFIX_LENGTH = 5
MAX_BASE = 63 - SUFFIX_LENGTH

MAX_ANNOTATION_BYTES = 256 * 1024
MAX_MANAGER_BYTES = 128
MAX_SUBRESOURCE_BYTES = 256

# The error of each additional controller contains all owners, so that the response grows
# quadratically. kube-apiserver has no limit.
MAX_CONTROLLER_ERRORS = 100

# Fields that only the server sets in a new object.
_SYSTEM_FIELDS = (
    "creationTimestamp",
    "uid",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
)
_NEVER_CHANGES = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)

_OWNER_FIELDS = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
STANDARD_FINALIZERS = frozenset(("kubernetes", "orphan", "foregroundDeletion"))
# Groups whose kinds may have finalizers of any name, as custom resources may.
_GROUPS_WITH_ANY_FINALIZER = frozenset(
    (
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "coordination.k8s.io",
        "node.k8s.io",
    )
)

# The fields of ObjectMeta in Go's order.
IN_ORDER = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)


def generate_name(base: str, rng: Random) -> str:
    """Return a name that begins with ``base`` and has a random suffix."""
    return base[:MAX_BASE] + "".join(rng.choices(ALPHABET, k=SUFFIX_LENGTH))


def new_uid(rng: Random) -> str:
    """Return a random UUID."""
    digits = f"{rng.getrandbits(128):032x}"
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def set_namespace(metadata: Metadata, namespace: str) -> None:
    """Set the namespace in ``metadata`` to ``namespace``, the namespace of the request.

    ``namespace`` is ``""`` for cluster-scoped kinds. Raises an error if ``metadata`` contains a
    different namespace.
    """
    given = metadata.get("namespace", "")
    if given and namespace and given != namespace:
        raise status_errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if namespace:
        metadata["namespace"] = namespace
    else:
        metadata.pop("namespace", None)


def check_name(metadata: Metadata, name: str) -> None:
    """Raise an error unless ``metadata`` contains ``name``, the name in the request's path."""
    given = metadata.get("name", "")
    if not given:
        raise status_errors.bad_request(
            f"the name of the object ({name} based on URL) was undeterminable:"
            " name must be provided"
        )
    if given != name:
        raise status_errors.bad_request(
            f"the name of the object ({given}) does not match the name on the URL ({name})"
        )


def clear_system_fields(metadata: Metadata) -> None:
    """Remove from ``metadata`` the fields that only the server sets."""
    for field in _SYSTEM_FIELDS:
        metadata.pop(field, None)


def prepare_create(metadata: Metadata, *, rng: Random, time: str) -> None:
    """Set the uid and the creation timestamp of a new object, and remove other system fields."""
    clear_system_fields(metadata)
    metadata["uid"] = new_uid(rng)
    metadata["creationTimestamp"] = time


def reject_resource_version(metadata: Metadata) -> None:
    """Raise an error if the metadata of a new object contains a resourceVersion.

    The status code is 500, because kube-apiserver treats this error as an internal one.
    """
    if metadata.get("resourceVersion"):
        raise status_errors.StatusError(
            500, "", "resourceVersion should not be set on objects to be created"
        )


def prepare_update(metadata: Metadata, old: Metadata) -> None:
    """Copy from ``old`` the fields that a client can omit, and those that it cannot change."""
    metadata.setdefault("uid", old["uid"])
    for field in ("generation", "creationTimestamp"):
        if field in old:
            metadata[field] = old[field]
        else:
            metadata.pop(field, None)
    if "deletionTimestamp" in old:
        metadata["deletionTimestamp"] = old["deletionTimestamp"]
    if "deletionGracePeriodSeconds" in old:
        metadata.setdefault("deletionGracePeriodSeconds", old["deletionGracePeriodSeconds"])


def drop_repeated_owners(metadata: Metadata) -> list[str]:
    """Remove duplicate owner references from ``metadata``, and return warnings about them."""
    owners = metadata.get("ownerReferences")
    if owners is None or len(owners) < 2:
        return []
    kept: dict[bytes, Any] = {}
    repeated = [
        owner["uid"]
        for owner in owners
        if kept.setdefault(bytes(_in_order(owner)), owner) is not owner
    ]
    if not repeated:
        return []
    metadata["ownerReferences"] = list(kept.values())
    return [
        ".metadata.ownerReferences contains duplicate entries; API server dedups owner references"
        " in 1.20+, and may reject such requests as early as 1.24; please fix your requests;"
        f" duplicate UID(s) observed: {', '.join(repeated)}"
    ]


def has_standard_finalizers(group: str, *, custom: bool) -> bool:
    """Return whether finalizers of kinds in ``group`` must be well known or contain a domain.

    The rule does not apply if ``custom`` is true, which means that the kind is a custom one.
    """
    return not custom and group not in _GROUPS_WITH_ANY_FINALIZER


def validate_create(
    metadata: Metadata,
    *,
    namespaced: bool,
    name_errors: Callable[[str, bool], list[str]],
    standard_finalizers: bool = True,
) -> list[FieldError]:
    """Return the errors in the metadata of a new object."""
    errors: list[FieldError] = []
    if base := metadata.get("generateName"):
        errors += [invalid("metadata.generateName", base, why) for why in name_errors(base, True)]
    if name := metadata.get("name"):
        errors += [invalid("metadata.name", name, why) for why in name_errors(name, False)]
    else:
        errors.append(required("metadata.name", "name or generateName is required"))
    errors += _namespace_errors(metadata.get("namespace", ""), namespaced=namespaced)
    errors += _common_errors(metadata, {})
    if standard_finalizers:
        errors += _finalizer_name_errors(metadata)
    return errors


def validate_update(
    metadata: Metadata, old: Metadata, *, standard_finalizers: bool = True
) -> list[FieldError]:
    """Return the errors in ``metadata``, which replaces ``old``.

    Call ``prepare_update`` first.
    """
    errors = _common_errors(metadata, old) + _change_errors(metadata, old)
    if standard_finalizers:
        errors += _finalizer_name_errors(metadata)
    return errors


def _change_errors(metadata: Metadata, old: Metadata) -> list[FieldError]:
    errors: list[FieldError] = []
    if "deletionTimestamp" in old:
        added = set(metadata.get("finalizers", ())) - set(old.get("finalizers", ()))
        if added:
            listed = ", ".join(f'"{each}"' for each in sorted(added))
            why = (
                "no new finalizers can be added if the object is being deleted,"
                f" found new finalizers []string{{{listed}}}"
            )
            errors.append(forbidden("metadata.finalizers", why))
    for field in _NEVER_CHANGES:
        if (now := metadata.get(field)) != old.get(field):
            empty = "" if field in ("name", "namespace", "uid") else None
            errors.append(immutable(f"metadata.{field}", empty if now is None else now))
    return errors


def _namespace_errors(namespace: str, *, namespaced: bool) -> Iterator[FieldError]:
    if not namespaced:
        if namespace:
            yield forbidden("metadata.namespace", "not allowed on this type")
    elif not namespace:
        yield required("metadata.namespace")
    else:
        for why in name_validation.dns_label(namespace):
            yield invalid("metadata.namespace", namespace, why)


def _common_errors(metadata: Metadata, old: Metadata) -> list[FieldError]:
    errors: list[FieldError] = []
    if (generation := metadata.get("generation", 0)) < 0:
        errors.append(invalid("metadata.generation", generation, name_validation.NOT_NEGATIVE))
    for field, errors_of in _CHECKS:
        value = metadata.get(field)
        if value and value != old.get(field):  # an unchanged value has been validated before
            errors += errors_of(value)
    return errors


def label_errors(labels: dict[str, str]) -> Iterator[FieldError]:
    """Yield the errors in the keys and values of ``labels``."""
    for key, value in labels.items():
        for why in name_validation.label_key(key):
            yield invalid("metadata.labels", key, why)
        for why in name_validation.label_value(value):
            yield invalid("metadata.labels", value, why)


def annotation_errors(annotations: dict[str, str]) -> Iterator[FieldError]:
    """Yield the errors in ``annotations``: in the keys, and in the total size."""
    size = 0
    for key, value in annotations.items():
        size += len(key.encode()) + len(value.encode())
        for why in name_validation.label_key(key.lower()):
            yield invalid("metadata.annotations", key, why)
    if size > MAX_ANNOTATION_BYTES:
        yield too_long("metadata.annotations", "", MAX_ANNOTATION_BYTES)


def _owner_errors(owners: list[dict[str, Any]]) -> Iterator[FieldError]:
    where = "metadata.ownerReferences"
    controller = ""
    controller_errors = 0
    for owner in owners:
        # The owners of an embedded resource may lack required fields, which Go would decode as "".
        api_version, kind = owner.get("apiVersion", ""), owner.get("kind", "")
        if not api_version or api_version.count("/") > 1 or api_version.endswith("/"):
            yield invalid(f"{where}.apiVersion", api_version, "version must not be empty")
        for field in ("kind", "name", "uid"):
            if not owner.get(field):
                yield invalid(f"{where}.{field}", "", "must not be empty")
        if (api_version, kind) == ("v1", "Event"):
            why = "/v1, Kind=Event is disallowed from being an owner"
            yield invalid(where, _in_order(owner), why)
        if owner.get("controller"):
            described = f"{kind}/{owner.get('name', '')}"
            if controller:
                controller_errors += 1
                if controller_errors > MAX_CONTROLLER_ERRORS:
                    continue
                why = (
                    "Only one reference can have Controller set to true."
                    f' Found "true" in references for {controller} and {described}'
                )
                yield invalid(where, [_in_order(each) for each in owners], why)
            else:
                controller = described


def _in_order(owner: dict[str, Any]) -> msgspec.Raw:
    """Encode an owner reference in the order in which Go prints the fields of its type.

    Go sorts the keys of maps, but not the fields of structs.
    """
    return msgspec.Raw(
        msgspec.json.encode({name: owner[name] for name in _OWNER_FIELDS if name in owner})
    )


def _finalizer_errors(finalizers: list[str]) -> Iterator[FieldError]:
    for finalizer in finalizers:
        for why in name_validation.label_key(finalizer):
            yield invalid("metadata.finalizers", finalizer, why)
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        why = "finalizer orphan and foregroundDeletion cannot be both set"
        yield invalid("metadata.finalizers", finalizers, why)


def _finalizer_name_errors(metadata: Metadata) -> Iterator[FieldError]:
    for index, finalizer in enumerate(metadata.get("finalizers", ())):
        if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid(f"metadata.finalizers[{index}]", finalizer, why)


def _managed_field_errors(managed: list[dict[str, Any]]) -> Iterator[FieldError]:
    for index, entry in enumerate(managed):
        where = f"metadata.managedFields[{index}]"
        if (operation := entry.get("operation", "")) not in ("Apply", "Update"):
            yield invalid(f"{where}.operation", operation, "must be `Apply` or `Update`")
        if (fields_type := entry.get("fieldsType", "FieldsV1")) != "FieldsV1":
            yield invalid(f"{where}.fieldsType", fields_type, "must be `FieldsV1`")
        manager = entry.get("manager", "")
        if len(manager.encode()) > MAX_MANAGER_BYTES:
            yield too_long(f"{where}.manager", "", MAX_MANAGER_BYTES)
        # A shortcut: nearly all names are printable.
        for at, character in () if manager.isprintable() else enumerate(manager):
            if not character.isprintable():
                why = f"invalid character U+{ord(character):04X} (at position {at})"
                yield invalid(f"{where}.manager", manager, why)
        if len(entry.get("subresource", "").encode()) > MAX_SUBRESOURCE_BYTES:
            yield too_long(f"{where}.subresource", "", MAX_SUBRESOURCE_BYTES)


_CHECKS: Final[tuple[tuple[str, Callable[[Any], Iterator[FieldError]]], ...]] = (
    ("labels", label_errors),
    ("annotations", annotation_errors),
    ("ownerReferences", _owner_errors),
    ("finalizers", _finalizer_errors),
    ("managedFields", _managed_field_errors),
)
