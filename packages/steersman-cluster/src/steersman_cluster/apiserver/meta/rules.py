"""The interface of a kind's strategy: defaults, admission, preparation and validation.

The rules of a kind are plain functions over plain JSON, and add to what the schema requires. They
may change only the new object, which belongs to the request. The old object is the stored one,
which is shared.
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


class RuleContext(Protocol):
    """A protocol for what rules may use besides the object: time, random numbers, other objects."""

    @property
    def clock(self) -> Clock: ...

    @property
    def rng(self) -> Random: ...

    def find(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        """Return the stored object, or None; the namespace of cluster-scoped objects is ``""``."""
        ...

    def every(self, resource: GroupResource, *, namespace: str = "") -> Iterable[Object]:
        """Return all stored objects of a resource, in every namespace or in one."""
        ...


class ObjectReader(RuleContext, Protocol):
    """A protocol for code that caches something derived from the stored objects."""

    def last_change(self, *resources: GroupResource) -> int:
        """Return the revision at which any of the resources last changed."""
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
class Rules:
    """The strategy of a kind. Every function that is not set does nothing.

    The functions run in this order. Create: default, admit, prepare_create, set_requester,
    validate, validate_create, validate_admission. Update: default, admit, prepare_update, validate,
    validate_update, validate_admission. Update of the status: default, prepare_status,
    validate_status. Webhooks change the object between admit and the preparation; admit may then
    run a second time. Other modules do what is common to all kinds: metadata, the generation, and
    the separation of the status from the rest by the status subresource.
    """

    # Fills in what the author left out, in place.
    default: Callable[[Object], None] = _nothing
    # The new object, the old one or None, and the context: what the server's own plugins
    # change, before webhooks see the object; in the version of the request.
    admit: Callable[[Object, Object | None, RuleContext], None] = _nothing
    # The new object and the context: allocates, normalises; a dry run goes through it too.
    prepare_create: Callable[[Object, RuleContext], None] = _nothing
    # The new object and who asks: writes into it who it is from.
    set_requester: Callable[[Object, User], None] = _nothing
    # The new object, the old one, and the context.
    prepare_update: Callable[[Object, Object, RuleContext], None] = _nothing
    prepare_status: Callable[[Object, Object, RuleContext], None] = _nothing
    # The new object, and the old one where there is one.
    validate: Callable[[Object], list[FieldError]] = _no_errors
    validate_create: Callable[[Object], list[FieldError]] = _no_errors
    validate_update: Callable[[Object, Object], list[FieldError]] = _no_errors
    validate_status: Callable[[Object, Object], list[FieldError]] = _no_errors
    # The new object, the old one or None, and the context: what the server's own plugins
    # refuse, once everything else is right, and what they warn of.
    validate_admission: Callable[[Object, Object | None, RuleContext], Iterable[str]] = (
        _no_sentences
    )
    # (old, new): called after every write that is stored; None: there was, or is, nothing.
    stored: Callable[[Object | None, Object | None], None] = _nothing
    # What is wrong with a name, in sentences; (name, is_prefix of generateName).
    name_errors: Callable[[str, bool], list[str]] = _no_sentences
    # Of kinds whose names follow from the rest of the object: name_errors for this one.
    name_errors_of: Callable[[Object], Callable[[str, bool], list[str]]] | None = None
    # What the last validation of this object found wrong but let through, as sentences for Warning
    # headers: they are said even if the object is refused.
    ratcheted_errors: Callable[[Object], list[str]] = _no_sentences
    # Sentences for Warning headers: (new, old or None).
    warnings: Callable[[Object, Object | None], list[str]] = _no_sentences
    status_warnings: Callable[[Object, Object], list[str]] = _no_sentences
    # What field selectors may name, with the object's values.
    selectable: Callable[[Object], Mapping[str, str]] = name_and_namespace

    # An annotation that stands for a field inside the real server: seen only in whole objects.
    hidden_annotation: str = ""
    # The parts of an object whose change makes a new generation; none: it has no generation.
    generation_of: tuple[str, ...] = ()
    # When errors in the metadata of a new object are reported: before what validate says, after
    # it, or only if all else is right; a kind of the last sort lets finalizers have any name.
    metadata_errors_order: Literal["first", "second", "last"] = "first"
    update_first: bool = False  # what validate_update says stands before what validate does
    has_status: bool = False  # kept by writes of the object, written by writes of its status
    status_on_create: bool = False  # a new object keeps the status that it was sent with
    unconditional_update: bool = True  # a PUT without resourceVersion is fine
    create_on_update: bool = False  # a PUT of what is not there creates it
    settles_late: bool = False  # the first update is a write, even if it changes nothing
    generates_names: bool = True  # otherwise what generateName says is the whole name
    returns_deleted: bool = False  # DELETE answers the object; otherwise a Status
    has_dependents: bool = True  # otherwise DELETE takes no notice of propagation policies
    orphans: bool = False  # DELETE without a propagation policy leaves its dependents alone
    orphan_warning: str = ""  # the warning where the request names no policy
    # How long an object is kept after it was last written; None: until it is deleted.
    kept_seconds: float | None = None
    # How long deletion may take, of an object for which so much (or nothing) was asked.
    grace_seconds: Callable[[Object, int | None], int] | None = None
    # Of kinds that go only when they are empty: what DELETE stores at first, (obj, now).
    begin_end: Callable[[Object, str], Object] | None = None
    # Whether something other than metadata.finalizers still holds what is being deleted.
    is_held: Callable[[Object], bool] = _no
