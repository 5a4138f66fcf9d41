"""The interface of a kind's strategy: defaults, admission, preparation and validation.

The functions of a strategy use plain JSON, and add to what the schema requires. They may
change only the new object, which belongs to the request. The old object is the stored one, which
all requests share.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, Protocol, TypeAlias

from steersman.clock import Clock
from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.field_errors import FieldError
from steersman_cluster.apiserver.meta.users import User

Object: TypeAlias = dict[str, Any]


class StrategyContext(Protocol):
    """What a strategy uses besides the object: time, random numbers, other objects."""

    @property
    def clock(self) -> Clock: ...

    @property
    def rng(self) -> Random: ...

    def find(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        """Return the stored object, or None if it does not exist.

        ``namespace`` is ``""`` for a cluster-scoped object.
        """
        ...

    def every(self, resource: GroupResource, *, namespace: str = "") -> Iterable[Object]:
        """Return all stored objects of a resource in ``namespace``.

        If ``namespace`` is empty, the objects of every namespace are returned.
        """
        ...


class ObjectReader(StrategyContext, Protocol):
    """Access to the stored objects, for code that caches what it derives from them."""

    def last_change(self, *resources: GroupResource) -> int:
        """Return the revision of the last change of any object of ``resources``."""
        ...


def _nothing(*_: object) -> None:
    pass


def _no(*_: object) -> bool:
    return False


def _no_errors(*_: object) -> list[FieldError]:
    return []


def _no_sentences(*_: object) -> list[str]:
    return []


def name_and_namespace(obj: Object) -> Mapping[str, str]:
    """Return the fields that the field selectors of every kind support."""
    metadata = obj["metadata"]
    return {
        "metadata.name": metadata.get("name", ""),
        "metadata.namespace": metadata.get("namespace", ""),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """The strategy of a kind. Every function that is not set does nothing.

    The functions run in this order. Create: default, admit, prepare_create, set_requester,
    validate, validate_create, validate_admission. Update: default, admit, prepare_update, validate,
    validate_update, validate_admission. Update of the status: default, prepare_status,
    validate_status. Webhooks change the object after admit and before the preparation; then admit
    may run a second time. Other modules do what is common to all kinds: they prepare metadata,
    increment the generation, and keep writes of the status apart from writes of the other fields.
    """

    # Sets the defaults in place.
    default: Callable[[Object], None] = _nothing
    # (new, old or None, context): the changes of built-in admission plugins, before webhooks see
    # the object. The object has the version of the request.
    admit: Callable[[Object, Object | None, StrategyContext], None] = _nothing
    # (new, context): allocates and normalizes; also runs for dry runs.
    prepare_create: Callable[[Object, StrategyContext], None] = _nothing
    # (new, user): sets the fields that identify the requester.
    set_requester: Callable[[Object, User], None] = _nothing
    # Arguments: new, old, context.
    prepare_update: Callable[[Object, Object, StrategyContext], None] = _nothing
    prepare_status: Callable[[Object, Object, StrategyContext], None] = _nothing
    # Arguments: new, and old for updates. They return all errors.
    validate: Callable[[Object], list[FieldError]] = _no_errors
    validate_create: Callable[[Object], list[FieldError]] = _no_errors
    validate_update: Callable[[Object, Object], list[FieldError]] = _no_errors
    validate_status: Callable[[Object, Object], list[FieldError]] = _no_errors
    # (new, old or None, context): built-in admission plugins, after all other validation. They
    # reject the object, or return warnings.
    validate_admission: Callable[[Object, Object | None, StrategyContext], Iterable[str]] = (
        _no_sentences
    )
    # (old, new), None if there is none: called after every stored write.
    after_write: Callable[[Object | None, Object | None], None] = _nothing
    # (name, is_prefix): the errors in a name, or in a generateName.
    name_errors: Callable[[str, bool], list[str]] = _no_sentences
    # For kinds whose names depend on the rest of the object: returns its name_errors.
    name_errors_of: Callable[[Object], Callable[[str, bool], list[str]]] | None = None
    # Returns warnings for the errors that the last validation of this object ignored because of
    # ratcheting. They are sent even if the object is rejected.
    ratcheted_errors: Callable[[Object], list[str]] = _no_sentences
    # Return warnings. (new, old or None), (new, old)
    warnings: Callable[[Object, Object | None], list[str]] = _no_sentences
    status_warnings: Callable[[Object, Object], list[str]] = _no_sentences
    # Returns the fields that field selectors support, with the object's values.
    selectable: Callable[[Object], Mapping[str, str]] = name_and_namespace

    # An annotation that is a field in kube-apiserver's internal type: tables and metadata do not
    # show it.
    hidden_annotation: str = ""
    # The parts of an object whose changes increment the generation; empty: it has no generation.
    generation_fields: tuple[str, ...] = ()
    # Whether the metadata errors of a new object precede or follow those of validate, or are
    # reported only without other errors. With "last", finalizers may have any name.
    metadata_errors_order: Literal["first", "second", "last"] = "first"
    update_first: bool = False  # the errors of validate_update precede those of validate
    has_status: bool = False  # only writes of the status subresource change the status
    status_on_create: bool = False  # a new object keeps the status in the request
    allow_unconditional_update: bool = True  # a PUT may omit the resourceVersion
    allow_create_on_update: bool = False  # a PUT creates a missing object
    stores_unchanged_first_update: bool = (
        False  # the first update is stored even if it changes nothing
    )
    generates_names: bool = True  # otherwise, generateName is used as the name, without a suffix
    return_deleted_object: bool = False  # DELETE returns the object; otherwise a Status
    has_dependents: bool = True  # otherwise, DELETE ignores propagation policies
    orphan_by_default: bool = False  # the default propagation policy of DELETE is Orphan
    orphan_warning: str = ""  # the warning for a DELETE without a propagation policy
    # How long an object is kept after its last write; None: until it is deleted.
    ttl_seconds: float | None = None
    # Returns the grace period of a deletion: (obj, requested seconds or None).
    grace_seconds: Callable[[Object, int | None], int] | None = None
    # For kinds that are deleted only when they are empty: returns the object that DELETE stores
    # first. (obj, now)
    begin_deletion: Callable[[Object, str], Object] | None = None
    # Whether something other than metadata.finalizers blocks the deletion.
    blocks_deletion: Callable[[Object], bool] = _no
