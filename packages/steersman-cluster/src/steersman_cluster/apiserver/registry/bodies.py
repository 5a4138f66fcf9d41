"""Decoding of request bodies: objects and patches, with unknown and duplicate fields."""

import re
from dataclasses import replace
from typing import Any

import msgspec

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.apply.patches import json_patch_mistakes
from steersman_cluster.apiserver.meta import field_errors, go_json, status_errors
from steersman_cluster.apiserver.meta.go_messages import cannot_unmarshal, go_text
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.registry.patched_objects import (
    shown_after_merge,
    shown_after_operations,
)
from steersman_cluster.apiserver.registry.request_scope import RequestScope
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.negotiation import (
    JSON,
    JSON_PATCH,
    MEDIA_TYPES,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    unsupported_media_type,
)
from steersman_cluster.apiserver.request.options import WriteOptions
from steersman_cluster.apiserver.schema.protobuf.messages import PROTOBUF
from steersman_cluster.apiserver.schema.pruner import accept, accept_applied, whole_floats
from steersman_cluster.apiserver.schema.serializer.conversion_messages import misconverted
from steersman_cluster.apiserver.schema.serializer.decoder import (
    OtherVersion,
    canonical,
    decode,
    settle,
    warning_lines,
)
from steersman_cluster.apiserver.schema.serializer.inspection import duplicates
from steersman_cluster.apiserver.schema.serializer.yaml_bodies import BadYaml, parse_yaml

# The decoder's message around the reason. Errors of patched objects contain only the reason.
_DECODER_PREFIX = re.compile(
    r"the object provided is unrecognized \(must be of type \w+\): (?P<unread>.*) \(.*\)"
    r'|\w* in version "[^"]*" cannot be handled as a \w+: (?P<unfit>.*)',
    re.DOTALL,
)

# Matches JSON or YAML with a number that has a point or an exponent. Text may match as well, which
# costs a walk through the object. Image tags, which most objects have, do not match.
_has_pointed_number = re.compile(rb"[\s:\[,]-?\d+[.eE][\d_eE+-]*(?:[\s,\]}]|\Z)").search

_NO_SCALE = 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"'


def read_body(
    request: APIRequest, scope: RequestScope, options: WriteOptions, content_type: str
) -> Object:
    """Decode the body, of the media type ``content_type``, and return its object."""
    if content_type == PROTOBUF and scope.expected(request).kinds is None:
        # A custom resource has no protobuf message.
        raise unsupported_media_type(MEDIA_TYPES)
    try:
        obj, complaints = decode(request.body, scope.expected(request), content_type=content_type)
        if request.is_pruned:
            complaints += _pruned(obj, request, scope)
        request.warnings += settle(
            complaints, scope.expected(request), field_validation=options.field_validation
        )
    except OtherVersion as other:
        request.warnings += _of_other_version(request, scope, other.obj, options)
        raise
    except status_errors.StatusError:
        if request.served.custom and not request.is_pruned:
            # The scheme of kube-apiserver's custom resources does not contain Scale.
            raise status_errors.bad_request(_NO_SCALE) from None
        raise
    return obj


def _of_other_version(
    request: APIRequest, scope: RequestScope, obj: Object, options: WriteOptions
) -> list[str]:
    """Return the unknown fields of an object that was sent in another version of its kind."""
    group, _, version = str(obj.get("apiVersion") or "").partition("/")
    if group != scope.expected(request).gvk.group:
        return []
    known = next((each for each in scope.versions(request) if each.gvk.version == version), None)
    about = ("apiVersion", "kind", "metadata")
    unknown = (
        accept(obj, known.schema)
        if known is not None
        else [name for name in sorted(obj) if name not in about]
    )
    gvk = GroupVersionKind(group, version, scope.expected(request).gvk.kind)
    expected = replace(scope.expected(request), gvk=gvk)
    complaints = [f'unknown field "{each}"' for each in unknown]
    return settle(complaints, expected, field_validation=options.field_validation)


def _pruned(obj: Object, request: APIRequest, scope: RequestScope) -> list[str]:
    _note_whole_floats(obj, request)
    return [f'unknown field "{path}"' for path in accept(obj, scope.schema(request))]


def _note_whole_floats(obj: Object, request: APIRequest) -> None:
    """Store the paths of numbers such as 1.0 in ``request.whole_floats``.

    kube-apiserver treats 1.0 and 1 as different until it stores both as 1. An apply decodes YAML,
    in which both are 1. A new object has no old value to compare with.
    """
    if request.info.verb != "create" and _has_pointed_number(request.body):
        request.whole_floats = whole_floats(obj)


def patch_body(request: APIRequest, language: str, *, lenient: bool) -> tuple[Any, list[str]]:
    """Return the patch in the body, and the complaints about unknown and duplicate fields.

    If ``lenient`` is true, field validation is off, and there are no complaints. If the body cannot
    be decoded, the message of the error depends on ``language``, the patch type.
    """
    try:
        patch = msgspec.json.decode(request.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        why = _syntax_error(request.body)
    else:
        repeated = not lenient and go_json.has_duplicates(request.body, patch)
        complaints = duplicates(go_json.parse(request.body)) if repeated else []
        if language == JSON_PATCH and not lenient:
            complaints = json_patch_mistakes(patch, complaints)
        return patch, complaints
    if language != STRATEGIC_PATCH:
        if not lenient:
            why = f"error decoding patch: {why}"
        elif language == MERGE_PATCH:
            why = "Invalid JSON Patch"
    raise status_errors.bad_request(why)


def _syntax_error(body: bytes) -> str:
    try:
        go_json.check_syntax(body)
    except go_json.BadSyntax as problem:
        return str(problem)
    return "invalid UTF-8"


def patched_object(
    request: APIRequest,
    scope: RequestScope,
    options: WriteOptions,
    *,
    patched: Object,
    language: str,
    patch: Any,
    mistakes: list[str],
) -> Object:
    """Return the object decoded from ``patched``, the result of applying ``patch``.

    The returned object shares no parts with the live object. ``mistakes`` are the complaints about
    the patch. Raises an error if ``patched`` is not an object of the kind, or if there are
    complaints and field validation is strict. The error's message contains ``patched``; for a
    strategic merge patch, the message contains ``patch`` instead.
    """
    if language == STRATEGIC_PATCH:
        # kube-apiserver decodes into the Go type of this kind.
        gvk = scope.expected(request).gvk
        patched = {**patched, "kind": gvk.kind, "apiVersion": gvk.api_version}
    document = msgspec.json.encode(patched)

    def unfit(why: str) -> status_errors.StatusError:
        schema = None if request.served.custom and request.is_pruned else scope.schema(request)
        if language == STRATEGIC_PATCH:
            shown = go_text(patch)
        elif language == JSON_PATCH:
            shown = shown_after_operations(patched, patch, schema)
        else:
            shown = shown_after_merge(patched, patch, schema)
        return status_errors.invalid("", "", [field_errors.invalid("patch", shown, why)])

    try:
        obj, complaints = decode(document, scope.expected(request), content_type=JSON, is_own=True)
        if request.is_pruned:
            complaints += _pruned(obj, request, scope)
    except status_errors.StatusError as error:
        if error.code != 400 or (found := _DECODER_PREFIX.fullmatch(error.message)) is None:
            raise
        why = found["unread"] or found["unfit"]
        if language == STRATEGIC_PATCH:
            why = misconverted(patched, scope.schema(request)) or why
        raise unfit(why) from None
    complaints = mistakes + complaints
    if complaints and options.field_validation == "Strict":
        raise unfit(f"strict decoding error: {', '.join(complaints)}")
    if options.field_validation == "Warn":
        request.warnings += complaints
    return obj


def applied_object(request: APIRequest, scope: RequestScope, *, made: Object) -> Object:
    """Decode ``made``, the result of an apply; ``made`` may be changed in place."""
    try:
        obj, _ = canonical(made, scope.expected(request))
    except status_errors.StatusError as error:
        if (found := _DECODER_PREFIX.fullmatch(error.message)) is None:
            raise
        raise _conversion_error(request, scope, made, found["unread"] or found["unfit"]) from None
    if request.is_pruned:
        accept_applied(obj, scope.schema(request))
    return obj


def _conversion_error(
    request: APIRequest, scope: RequestScope, made: Object, why: str
) -> status_errors.StatusError:
    """Return the error for an applied object that fits the schema but not the Go type."""
    gvk, about = scope.expected(request).gvk, made["metadata"]
    kind = f"{gvk.group}/{gvk.version}, Kind={gvk.kind}"
    name = f"{about.get('namespace', '')}/{about.get('name', '')}"
    return status_errors.StatusError(
        500,
        "",
        f"failed to convert new object ({name}; {kind}) to proper version:"
        f" unable to convert unstructured object to {kind}: {why}",
    )


def applied_body(request: APIRequest) -> tuple[Object, list[str]]:
    """Return the applied configuration, and the complaints about its duplicate fields.

    The body is YAML or JSON.
    """
    try:
        applied, complaints = _json_or_yaml(request.body)
    except BadYaml as error:
        raise status_errors.bad_request(
            f"error decoding YAML: error converting YAML to JSON: {error}"
        ) from None
    if not isinstance(applied, dict):
        mistake = cannot_unmarshal(applied, "value of type map[string]interface {}")
        raise status_errors.bad_request(
            f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {mistake}"
        )
    return applied, complaints


def settle_applied(request: APIRequest, options: WriteOptions, complaints: list[str]) -> None:
    """Turn ``complaints`` into warnings, or raise an error if field validation is strict.

    All other errors of the apply take precedence, so this function is called last.
    """
    if not complaints or options.field_validation == "Ignore":
        return
    if options.field_validation == "Strict":
        raise status_errors.bad_request(
            f"error strict decoding YAML: error converting YAML to JSON: {'; '.join(complaints)}"
        )
    request.warnings += [line for each in complaints for line in warning_lines(each)]


def _json_or_yaml(body: bytes) -> tuple[Any, list[str]]:
    try:
        applied = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return parse_yaml(body)
    return parse_yaml(body) if go_json.has_duplicates(body, applied) else (applied, [])
