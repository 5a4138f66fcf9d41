"""From the bytes of a request to an object, as Go's decoder and encoder would produce it.

Error texts are kube-apiserver's, because clients show them to people.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import msgspec

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.meta import field_errors, go_json, status_errors
from steersman_cluster.apiserver.meta.go_messages import TYPE_META, cannot_unmarshal
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.schema.builtin_schemas import (
    OBJECT_META,
    BuiltinSchemas,
    KnownKinds,
)
from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.schema.protobuf.messages import PROTOBUF, Messages, open_envelope
from steersman_cluster.apiserver.schema.protobuf.wire_format import Malformed
from steersman_cluster.apiserver.schema.serializer.canonical import Canonical, Irregular, Walk
from steersman_cluster.apiserver.schema.serializer.inspection import (
    Undecodable,
    duplicates,
    inspect,
)
from steersman_cluster.apiserver.schema.serializer.yaml_bodies import BadYaml, parse_yaml

YAML = "application/yaml"

# The name of kube-apiserver's scheme, for error messages.
_SCHEME = "pkg/runtime/scheme.go:111"
_SUMMARY_BYTES = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyDecoder:
    """The decoder of bodies of one kind; ``BodyDecoders`` creates each instance."""

    gvk: GroupVersionKind
    schema: Schema  # of the object, or only of its metadata if the kind is custom
    walk: Walk
    messages: Messages
    kinds: KnownKinds | None  # None: a custom kind, which has no Go type


class OtherVersion(status_errors.StatusError):
    """The body is a custom resource in another version than the request's path.

    ``obj`` is the decoded object, whose unknown fields are still reported.
    """

    def __init__(self, error: status_errors.StatusError, obj: Object) -> None:
        super().__init__(error.code, error.reason, error.message)
        self.obj = obj


class Decoded(NamedTuple):
    """The decoded object, and the complaints about dropped parts of its body.

    A complaint is, for example, ``unknown field "spec.foo"``.
    """

    obj: Object
    complaints: list[str]


class BodyDecoders:
    """The body decoders of all kinds."""

    def __init__(self, schemas: BuiltinSchemas) -> None:
        self._schemas = schemas
        self._canonical = Canonical()
        self._messages = Messages()
        self._builtin: dict[GroupVersionKind, BodyDecoder] = {}

    @classmethod
    @cache
    def of(cls, schemas: BuiltinSchemas) -> "BodyDecoders":
        """Return the decoders for ``schemas``; all servers of the process share the decoders."""
        return cls(schemas)

    def builtin(self, gvk: GroupVersionKind) -> BodyDecoder:
        """Return the decoder of a built-in kind."""
        found = self._builtin.get(gvk)
        if found is None:
            kinds = self._schemas.kinds_beside(gvk)
            found = self._builtin[gvk] = self._expected(gvk, self._schemas.of(gvk), kinds)
        return found

    def custom(self, gvk: GroupVersionKind) -> BodyDecoder:
        """Return the decoder of a custom kind."""
        schema = self._schemas.named(OBJECT_META)
        return self._expected(gvk, schema, None)

    def _expected(
        self, gvk: GroupVersionKind, schema: Schema, kinds: KnownKinds | None
    ) -> BodyDecoder:
        walk = self._canonical.of(schema)
        return BodyDecoder(gvk=gvk, schema=schema, walk=walk, messages=self._messages, kinds=kinds)


def decode(
    body: bytes, expected: BodyDecoder, *, content_type: str, is_own: bool = False
) -> Decoded:
    """Decode ``body``; raise kube-apiserver's error if that fails.

    Set ``is_own`` if steersman encoded ``body``, so that no key can occur twice.
    """
    try:
        if content_type == YAML:
            obj, complaints = _from_yaml(body, expected)
        elif content_type == PROTOBUF:
            obj, complaints = _from_protobuf(body, expected)
        else:
            obj, complaints = _from_json(body, expected, is_own=is_own)
    except RecursionError:
        why = (
            "couldn't get version/kind; json parse error: invalid character '{' exceeded max depth"
        )
        raise _unrecognized(why, body, expected) from None
    return Decoded(obj, complaints)


def settle(complaints: list[str], expected: BodyDecoder, *, field_validation: str) -> list[str]:
    """Return the complaints as warnings; raise an error if ``field_validation`` is Strict.

    If ``field_validation`` is Ignore, there are no warnings.
    """
    if not complaints or field_validation == "Ignore":
        return []
    if field_validation == "Strict":
        raise _unfit(f"strict decoding error: {', '.join(complaints)}", expected)
    return [line for each in complaints for line in warning_lines(each)]


def warning_lines(complaint: str) -> list[str]:
    """Return the warnings that report ``complaint``.

    A complaint about several duplicate keys in a YAML document results in several warnings.
    """
    lines = complaint.removeprefix("yaml: unmarshal errors:\n").split("\n")
    return [line.strip() for line in lines]


def canonical(obj: Object, expected: BodyDecoder) -> Decoded:
    """Decode ``obj``, the result of parsing a JSON body; ``obj`` may be changed in place."""
    if expected.kinds is None:
        return _custom(obj, expected, [])
    try:
        return Decoded(expected.walk(obj), [])
    except Irregular:
        return _inspected(obj, expected)


def _from_json(body: bytes, expected: BodyDecoder, *, is_own: bool) -> Decoded:
    try:
        value = msgspec.json.decode(body)
        if is_own or not go_json.has_duplicates(body, value):
            _check_kind(value, body, expected)
            return _regular(value, expected)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, Irregular):
        pass
    # Parsed again, with duplicate keys and the text of each number.
    try:
        written = go_json.parse(body)
    except go_json.BadSyntax as problem:
        why = f"couldn't get version/kind; json parse error: {problem}"
        raise _unrecognized(why, body, expected) from None
    try:
        if expected.kinds is None:
            value = go_json.plain(written)
            _check_kind(value, body, expected)
            return _custom(value, expected, duplicates(written))
        is_object = isinstance(written, go_json.Pairs)
        _check_kind(dict(written) if is_object else written, body, expected)
        return _completed(_inspected(written, expected), expected)
    except go_json.NoFloat as problem:
        raise _unfit(str(problem), expected) from None


def _from_yaml(body: bytes, expected: BodyDecoder) -> Decoded:
    try:
        value, complaints = parse_yaml(body)
    except BadYaml as problem:
        raise _unrecognized(str(problem), body, expected) from None
    _check_kind(value, body, expected)
    obj, more = canonical(value or {}, expected)
    return _completed(Decoded(obj, complaints + more), expected)


def _from_protobuf(body: bytes, expected: BodyDecoder) -> Decoded:
    try:
        envelope = open_envelope(body)
    except Malformed as problem:
        raise _unrecognized(str(problem), body, expected) from None
    _check_kind({"apiVersion": envelope.api_version, "kind": envelope.kind}, body, expected)
    try:
        value = expected.messages.of(expected.schema).read(envelope.raw, {})
        return _completed(canonical(value, expected), expected)
    except Malformed as problem:
        raise _unfit(str(problem), expected) from None
    except RecursionError:
        raise _unfit("proto: messages are nested too deeply", expected) from None


def _regular(value: Any, expected: BodyDecoder) -> Decoded:
    if expected.kinds is None:
        return _custom(value, expected, [])
    return _completed(Decoded(expected.walk(value or {}), []), expected)


def _completed(decoded: Decoded, expected: BodyDecoder) -> Decoded:
    decoded.obj["kind"] = expected.gvk.kind
    decoded.obj["apiVersion"] = expected.gvk.api_version
    return decoded


def _inspected(value: Any, expected: BodyDecoder) -> Decoded:
    try:
        left, complaints = inspect(value, expected.schema)
    except Undecodable as problem:
        raise _unfit(str(problem), expected) from None
    return Decoded(expected.walk(left or {}), complaints)


def _custom(obj: Object, expected: BodyDecoder, complaints: list[str]) -> Decoded:
    metadata = obj.get("metadata")
    try:
        obj["metadata"] = expected.walk({} if metadata is None else metadata)
        return Decoded(obj, complaints)
    except Irregular:
        pass
    try:
        # kube-apiserver decodes the metadata separately, after it has sorted the fields.
        metadata = msgspec.json.decode(msgspec.json.encode(metadata, order="sorted"))
        left, unknown = inspect(metadata, expected.schema, path="metadata")
    except Undecodable as problem:
        raise _unfit(str(problem), expected) from None
    obj["metadata"] = expected.walk(left)
    return Decoded(obj, complaints + unknown)


def _check_kind(value: Any, body: bytes, expected: BodyDecoder) -> None:
    """Raise an error if the body does not have the expected kind."""
    if value.__class__ is not dict:
        if value is not None:
            why = cannot_unmarshal(value, f"value of type {TYPE_META}")
            raise _unrecognized(
                f"couldn't get version/kind; json parse error: {why}", body, expected
            )
        value = {}
    kind, api_version = value.get("kind"), value.get("apiVersion")
    if kind == expected.gvk.kind and api_version == expected.gvk.api_version:
        return
    if kind == expected.gvk.kind == "DeleteOptions":
        return  # every group version has the same DeleteOptions
    for name in value:
        found = value[name]
        if name in ("kind", "apiVersion") and found is not None and found.__class__ is not str:
            why = cannot_unmarshal(found, f"struct field .{name} of type string")
            why = f"couldn't get version/kind; json parse error: {why}"
            raise _unrecognized(why, body, expected)
    group, slash, version = (api_version or "").partition("/")
    if "/" in version:
        raise _unrecognized(f"unexpected GroupVersion string: {api_version}", body, expected)
    if not slash:
        group, version = "", group
    if expected.kinds is None:
        _check_custom_kind(kind or "", api_version or "", value, body, expected)
    else:
        _check_builtin_kind(kind or "", group, version, expected, expected.kinds)


def _check_custom_kind(
    kind: str, api_version: str, obj: Object, body: bytes, expected: BodyDecoder
) -> None:
    if not kind:
        why = f"Object 'Kind' is missing in '{body.decode(errors='replace')}'"
        raise _unrecognized(why, body, expected)
    if api_version != expected.gvk.api_version:
        raise OtherVersion(_other_version(api_version, expected), obj)
    if kind != expected.gvk.kind:
        metadata = obj.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        wrong = field_errors.invalid("kind", kind, f"must be {expected.gvk.kind}")
        raise status_errors.invalid(f"{kind}.{expected.gvk.group}", str(name or ""), [wrong])


def _check_builtin_kind(
    kind: str, group: str, version: str, expected: BodyDecoder, kinds: KnownKinds
) -> None:
    gvk = expected.gvk
    kind = kind or gvk.kind
    if not version and group in ("", gvk.group):
        group, version = gvk.group, gvk.version
    api_version = f"{group}/{version}" if group else version
    if (kind, api_version) == (gvk.kind, gvk.api_version):
        return
    found = kinds.get(api_version, {}).get(kind)
    written = f'{kind} in version "{version}" cannot be handled as a {gvk.kind}'
    if found is None:
        raise status_errors.bad_request(
            f'{written}: no kind "{kind}" is registered for version "{api_version}"'
            f' in scheme "{_SCHEME}"'
        )
    wanted = kinds[gvk.api_version][gvk.kind]
    if found != wanted:
        raise status_errors.bad_request(
            f"{written}: converting ({version}.{kind}) to ({wanted}): unknown conversion"
        )
    raise _other_version(api_version, expected)


def _other_version(api_version: str, expected: BodyDecoder) -> status_errors.StatusError:
    return status_errors.bad_request(
        f"the API version in the data ({api_version}) does not match"
        f" the expected API version ({expected.gvk.api_version})"
    )


def _unfit(why: str, expected: BodyDecoder) -> status_errors.StatusError:
    kind, version = expected.gvk.kind, expected.gvk.version
    return status_errors.bad_request(
        f'{kind} in version "{version}" cannot be handled as a {kind}: {why}'
    )


def _unrecognized(why: str, body: bytes, expected: BodyDecoder) -> status_errors.StatusError:
    shown = body[:_SUMMARY_BYTES]
    summary = shown.decode(errors="replace") if body.startswith(b"{") else shown.hex()
    if len(body) > _SUMMARY_BYTES:
        summary += " ..."
    return status_errors.bad_request(
        f"the object provided is unrecognized (must be of type {expected.gvk.kind}):"
        f" {why} ({summary or '<empty>'})"
    )
