"""``Codec``: JSON to kinds and back, with one decoder for each class, created on first use.

The fast path decodes bytes into structs. If that fails, the slow path decodes the object again. In
required lists and maps, it replaces the ``null`` that Go servers send by an empty value. Any other
mismatch raises an ``InvalidObject`` that concerns this object only.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import msgspec

from steersman._collector import gc_paused
from steersman.errors import BadValue, InvalidObject, InvalidResponse
from steersman.kinds.base import Part
from steersman.kinds.metadata_only import PARTIAL_METADATA, MetadataOnly
from steersman.kinds.resource import Resource
from steersman.kinds.unstructured import Unstructured
from steersman.names import GroupVersionKind, ObjectRef, ResourceType
from steersman.units import MicroTime, Quantity, format_micro_time, parse_time

E = TypeVar("E")
R = TypeVar("R", bound=Resource | Unstructured)
T = TypeVar("T", bound=Part | Unstructured)


class DecodedList(msgspec.Struct, Generic[E], frozen=True, kw_only=True):
    """The decoded items of a list, and ``invalid``, the errors for all other items.

    ``resource_version``, ``continue_token`` and ``remaining`` are from the metadata of the list.
    They are empty if only a part of the list's items was decoded.
    """

    items: tuple[E, ...]
    invalid: tuple[InvalidObject, ...] = ()
    resource_version: str = ""
    continue_token: str = ""
    remaining: int | None = None


class DecodedEvent(msgspec.Struct, Generic[E], frozen=True, gc=False):
    """A watch event about an object."""

    # First on the wire, so that decoding stops here for other types of events.
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    object: E


class Codec:
    """Encodes objects as JSON, and decodes objects from JSON."""

    def encode(self, value: object) -> bytes:
        """Return ``value`` as JSON.

        ``value`` is a Part, an Unstructured, or plain data that contains such objects.
        """
        return _ENCODER.encode(value)

    def decode(self, kind: type[T], data: bytes | msgspec.Raw, *, wanted: str) -> T:
        """Decode ``data``, one object of ``kind``; ``wanted`` describes the request in errors."""
        decoded = self.decode_fast(kind, data)
        return self.decode_slowly(kind, data, wanted=wanted) if decoded is None else decoded

    def decode_fast(self, kind: type[T], data: bytes | msgspec.Raw) -> T | None:
        """Decode ``data``, one object of ``kind``, by the fast path.

        Return ``None`` if the fast path fails.
        """
        if issubclass(kind, Unstructured):
            return None
        try:
            return _decoded(kind, data)
        except _DECODE_ERRORS:
            return None

    def decode_slowly(self, kind: type[T], data: bytes | msgspec.Raw, *, wanted: str) -> T:
        """Decode ``data``, one object of ``kind``, by the slow path.

        The slow path repairs nulls, and its error names the invalid field.
        """
        body = _any_json(data, wanted)
        _check_kind(body, kind, wanted)
        return self._decode_slowly(kind, body)

    def decode_list(self, kind: type[R], data: bytes | bytearray, *, wanted: str) -> DecodedList[R]:
        """Decode ``data``, one page of a list of ``kind``."""
        if issubclass(kind, Unstructured):
            return self._decode_one_by_one(kind, data, wanted)
        try:
            with gc_paused():
                page: _Page[R] = _page_decoder(kind).decode(data)
        except _DECODE_ERRORS:
            return self._decode_one_by_one(kind, data, wanted)
        _check_list(page, kind, wanted)
        return page.decoded(page.items or ())

    def decode_events(self, kind: type[R], lines: bytes) -> list[DecodedEvent[R]] | None:
        """Decode ``lines``, some complete lines of a watch.

        Return ``None`` if an event contains no object or cannot be decoded. The caller must then
        decode the lines one by one.
        """
        try:
            if issubclass(kind, Unstructured):
                plain = _PLAIN_EVENTS.decode_lines(lines)
                return [DecodedEvent(each.type, kind(each.object)) for each in plain]
            events: list[DecodedEvent[R]] = _event_decoder(kind).decode_lines(lines)
        except (*_DECODE_ERRORS, BadValue):
            return None
        return events

    def decode_items(self, kind: type[R], array: bytes, *, wanted: str) -> DecodedList[R] | None:
        """Decode ``array``, a JSON array with some items of a list.

        Return ``None`` if the first or last item is incomplete.
        """
        if not issubclass(kind, Unstructured):
            try:
                with gc_paused():
                    return DecodedList(items=_items_decoder(kind).decode(array))
            except _DECODE_ERRORS:
                pass
        try:
            raws = _RAWS.decode(array)
        except _DECODE_ERRORS:
            return None
        return self._decode_each(kind, raws, wanted)

    def _decode_one_by_one(
        self, kind: type[R], data: bytes | bytearray, wanted: str
    ) -> DecodedList[R]:
        page = _page_of_raws(data, wanted)
        _check_list(page, kind, wanted)
        decoded = self._decode_each(kind, page.items or (), wanted)
        return page.decoded(decoded.items, decoded.invalid)

    def _decode_each(
        self, kind: type[R], raws: tuple[msgspec.Raw, ...], wanted: str
    ) -> DecodedList[R]:
        good: list[R] = []
        bad: list[InvalidObject] = []
        for raw in raws:
            try:
                good.append(self._decode_item(kind, raw, wanted))
            except InvalidObject as invalid:
                bad.append(invalid)
        return DecodedList(items=tuple(good), invalid=tuple(bad))

    def _decode_item(self, kind: type[R], raw: msgspec.Raw, wanted: str) -> R:
        if not issubclass(kind, Unstructured):
            try:
                return _decoded(kind, raw)
            except _DECODE_ERRORS:
                pass
        body = _any_json(raw, wanted)
        if not isinstance(body, dict):
            raise _another_kind(
                wanted, "a list with an item that is not an object", str(kind.resource_type)
            )
        # The items of a list of a built-in kind have no apiVersion and kind.
        gvk = _wire_gvk(kind)
        return self._decode_slowly(kind, {"apiVersion": gvk.api_version, "kind": gvk.kind, **body})

    def _decode_slowly(self, kind: type[T], body: dict[str, Any]) -> T:
        try:
            if issubclass(kind, Unstructured):
                return kind(body)
            return _decoded(kind, _ENCODER.encode(_with_empty_lists(body, _shape_of(kind))))
        except (*_DECODE_ERRORS, BadValue) as error:
            raise InvalidObject(
                ref=_ref_of(body, kind),
                into=kind.__name__,
                problem=str(error).rstrip("."),
                body=body,
            ) from None


_DECODE_ERRORS = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None


class _Page(msgspec.Struct, Generic[E], rename="camel"):
    api_version: str = ""
    kind: str = ""
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: tuple[E, ...] | None = None

    def decoded(
        self, items: tuple[T, ...], invalid: tuple[InvalidObject, ...] = ()
    ) -> DecodedList[T]:
        return DecodedList(
            items=items,
            invalid=invalid,
            resource_version=self.metadata.resource_version,
            continue_token=self.metadata.continue_,
            remaining=self.metadata.remaining_item_count,
        )


_Decoder: TypeAlias = msgspec.json.Decoder[Any]


def _once(make: Callable[[type[Any]], _Decoder]) -> Callable[[Any], _Decoder]:
    """Cache the decoder that ``make`` creates for each class.

    The cache holds more classes than a cluster serves kinds.
    """
    return lru_cache(maxsize=1024)(make)


def _decoded(kind: type[T], data: bytes | msgspec.Raw) -> T:
    decoded: T = _object_decoder(kind).decode(data)
    return decoded


@_once
def _object_decoder(kind: type[Any]) -> _Decoder:
    return _decoder(kind, kind)


@_once
def _page_decoder(kind: type[Any]) -> _Decoder:
    return _decoder(kind, _Page[kind])  # type: ignore[valid-type]


@_once
def _items_decoder(kind: type[Any]) -> _Decoder:
    return _decoder(kind, tuple[kind, ...])  # type: ignore[valid-type]


@_once
def _event_decoder(kind: type[Any]) -> _Decoder:
    return _decoder(kind, DecodedEvent[kind])  # type: ignore[valid-type]


def _decoder(kind: type[Any], shape: Any) -> _Decoder:
    """Create a decoder for ``shape``, which contains objects of ``kind``."""
    try:
        return msgspec.json.Decoder(shape, dec_hook=_from_wire)
    except NameError as error:
        raise TypeError(
            f"{kind.__name__}: an annotation refers to {error.name}, which its module does not"
            f" define. Define {error.name} at the top level of the module, or remove"
            f" `from __future__ import annotations`"
        ) from error


# Thousands of objects have the same few quantities, and share them.
_quantity = lru_cache(maxsize=1024, typed=True)(Quantity)


def _from_wire(wanted: type[Any], value: Any) -> Any:
    if wanted is Quantity:
        return _quantity(value)
    if wanted is MicroTime:
        return MicroTime.of(parse_time(value))
    raise NotImplementedError(f"{wanted} cannot be decoded from JSON")


# It takes 30 ms for a Pod, and a list may have thousands to repair.
_shape_of: Callable[[Any], msgspec.inspect.Type] = lru_cache(maxsize=128)(msgspec.inspect.type_info)

_PLAIN_EVENTS = msgspec.json.Decoder(DecodedEvent[dict[str, Any]])
_RAWS = msgspec.json.Decoder(tuple[msgspec.Raw, ...])
_PAGE_OF_RAWS = msgspec.json.Decoder(_Page[msgspec.Raw])


def _page_of_raws(data: bytes | bytearray, wanted: str) -> _Page[msgspec.Raw]:
    try:
        return _PAGE_OF_RAWS.decode(data)
    except _DECODE_ERRORS as error:
        raise _not_json(wanted, error) from None


def _any_json(data: bytes | msgspec.Raw, wanted: str) -> Any:
    try:
        return msgspec.json.decode(data)
    except _DECODE_ERRORS as error:
        raise _not_json(wanted, error) from None


def _check_list(page: _Page[Any], kind: type[Any], wanted: str) -> None:
    gvk = _wire_gvk(kind)
    if not page.kind.endswith("List") or page.api_version != gvk.api_version:
        found = f"{page.api_version} {page.kind}".strip() or "an object without a kind"
        raise _another_kind(wanted, found, f"a list of {gvk}")


def _check_kind(body: Any, kind: type[Any], wanted: str) -> None:
    # Parts and Unstructured itself have no resource type.
    gvk = _wire_gvk(kind) if hasattr(kind, "resource_type") else None
    if not isinstance(body, dict):
        raise _another_kind(wanted, "not a JSON object", str(gvk or kind.__name__))
    if gvk is not None:
        found = (body.get("apiVersion", gvk.api_version), body.get("kind", gvk.kind))
        if found != (gvk.api_version, gvk.kind):
            raise _another_kind(wanted, f"{found[0]} {found[1]}", str(gvk))


def _wire_gvk(kind: type[Any]) -> GroupVersionKind:
    """Return the apiVersion and kind that the kind's objects have on the wire."""
    if issubclass(kind, MetadataOnly):
        return PARTIAL_METADATA
    resource_type: ResourceType = kind.resource_type
    return resource_type.gvk


def _ref_of(body: Mapping[str, Any], into: type[Any]) -> str:
    kind = into.resource_type.gvk.kind if issubclass(into, MetadataOnly) else into.__name__
    metadata = body.get("metadata")
    if not isinstance(metadata, dict):
        return kind
    namespace, name = metadata.get("namespace"), metadata.get("name")
    return str(ObjectRef(kind, namespace, str(name))) if name else kind


def _not_json(wanted: str, error: Exception) -> InvalidResponse:
    # Raise it from None: a UnicodeDecodeError contains the text, which may be a Secret's.
    return InvalidResponse(
        wanted=wanted,
        problem=f"the response is not the expected JSON ({error})",
        what_now="Check that the address is that of an API server, not of a proxy.",
    )


def _another_kind(wanted: str, found: str, expected: str) -> InvalidResponse:
    return InvalidResponse(
        wanted=wanted,
        problem=f"the response is {found}; expected {expected}",
        what_now="Compare the group, version and plural of the kind with `kubectl api-resources`.",
    )


def _to_wire(value: Any) -> Any:
    if isinstance(value, Quantity):
        return str(value)
    if isinstance(value, MicroTime):
        return format_micro_time(value)
    if isinstance(value, Unstructured):
        return value.body
    if isinstance(value, MappingProxyType):
        return dict(value)
    raise TypeError(f"an object of {type(value).__name__} cannot be encoded as JSON")


_ENCODER = msgspec.json.Encoder(enc_hook=_to_wire)


def _with_empty_lists(value: Any, info: msgspec.inspect.Type) -> Any:
    """Return ``value`` with an empty list or map for each ``null`` where the schema requires one.

    Servers written in Go send a nil slice or map as ``null``, even in a required field.
    """
    match info:
        case msgspec.inspect.CollectionType(item_type=item):
            if value is None:
                return []
            return (
                [_with_empty_lists(each, item) for each in value]
                if isinstance(value, list)
                else value
            )
        case msgspec.inspect.DictType(value_type=item):
            if value is None:
                return {}
            return (
                {key: _with_empty_lists(each, item) for key, each in value.items()}
                if isinstance(value, dict)
                else value
            )
        case msgspec.inspect.UnionType(types=types):
            if value is None:
                return None
            # A union here is "something or None"; int-or-string has none.
            inner = [each for each in types if not isinstance(each, msgspec.inspect.NoneType)]
            return _with_empty_lists(value, inner[0]) if len(inner) == 1 else value
        case msgspec.inspect.StructType(fields=fields) if isinstance(value, dict):
            known = {field.encode_name: field.type for field in fields}
            return {
                key: _with_empty_lists(each, known[key]) if key in known else each
                for key, each in value.items()
            }
        case _:
            return value
