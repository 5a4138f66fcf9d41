"""What was sent, as objects and patches; what is odd about it becomes warnings, or a refusal."""

import re
from typing import Any

import msgspec

from steersman.apiserver import field_errors, refusals
from steersman.apiserver.asking.call import Call
from steersman.apiserver.asking.negotiating import (
    JSON,
    JSON_PATCH,
    MERGE_PATCH,
    SPOKEN,
    STRATEGIC_PATCH,
    not_spoken,
)
from steersman.apiserver.asking.options import WriteOptions
from steersman.apiserver.go_words import cannot_unmarshal, go_text
from steersman.apiserver.patching import json_patch_mistakes
from steersman.apiserver.rules import Object
from steersman.apiserver.schema import go_json
from steersman.apiserver.schema.decoding import canonical, decode, settle
from steersman.apiserver.schema.protobuf import PROTOBUF
from steersman.apiserver.schema.pruning import accept
from steersman.apiserver.schema.yaml_bodies import BadYaml, parse_yaml

# What the decoder says around the reason; of a patched object only the reason is told.
_AROUND = re.compile(
    r"the object provided is unrecognized \(must be of type \w+\): (?P<unread>.*) \(.*\)"
    r'|\w* in version "[^"]*" cannot be handled as a \w+: (?P<unfit>.*)',
    re.DOTALL,
)


def read_body(call: Call, options: WriteOptions, content_type: str) -> Object:
    """The object in the body, as the server would write it."""
    if content_type == PROTOBUF and call.expected.kinds is None:
        # No Go type says what the numbers of a custom resource would be.
        raise not_spoken(SPOKEN)
    obj, complaints = decode(call.body, call.expected, content_type=content_type)
    if call.is_pruned:
        complaints += _pruned(obj, call)
    call.warnings += settle(complaints, call.expected, field_validation=options.field_validation)
    return obj


def _pruned(obj: Object, call: Call) -> list[str]:
    return [f'unknown field "{path}"' for path in accept(obj, call.schema)]


def patch_body(call: Call, language: str, *, lenient: bool) -> Any:
    """The patch; each language has its own way of saying that it cannot be read."""
    try:
        return msgspec.json.decode(call.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        why = _syntax_error(call.body)
    if language != STRATEGIC_PATCH:
        if not lenient:
            why = f"error decoding patch: {why}"
        elif language == MERGE_PATCH:
            why = "Invalid JSON Patch"
    raise refusals.bad_request(why)


def _syntax_error(body: bytes) -> str:
    try:
        go_json.check_syntax(body)
    except go_json.BadSyntax as problem:
        return str(problem)
    return "invalid UTF-8"


def patched_object(
    call: Call, options: WriteOptions, *, patched: Object, language: str, patch: Any
) -> Object:
    """What a patch made, as an object of its own that shares nothing with the live one.

    A patch that makes something else than an object of its kind is refused, and shown.
    """
    if language == STRATEGIC_PATCH:
        # Go types have no room for another kind.
        gvk = call.expected.gvk
        patched = {**patched, "kind": gvk.kind, "apiVersion": gvk.api_version}
    document = msgspec.json.encode(patched)

    def unfit(why: str) -> refusals.Refusal:
        if language == STRATEGIC_PATCH:
            shown = go_text(patch)
        else:
            shown = msgspec.json.encode(_sorted_along(patched, patch)).decode()
        return refusals.invalid("", "", [field_errors.invalid("patch", shown, why)])

    try:
        obj, complaints = decode(document, call.expected, content_type=JSON)
        if call.is_pruned:
            complaints += _pruned(obj, call)
    except refusals.Refusal as refusal:
        if refusal.code != 400 or (found := _AROUND.fullmatch(refusal.message)) is None:
            raise
        raise unfit(found["unread"] or found["unfit"]) from None
    mistakes = json_patch_mistakes(patch) if language == JSON_PATCH else []
    complaints = mistakes + complaints
    if complaints and options.field_validation == "Strict":
        raise unfit(f"strict decoding error: {', '.join(complaints)}")
    if options.field_validation == "Warn":
        call.warnings += complaints
    return obj


def _sorted_along(patched: Any, patch: Any) -> Any:
    """As Go writes it: what the patch went through is a map, and sorted; the rest is as it was."""
    if not isinstance(patched, dict):
        return patched
    below = patch if isinstance(patch, dict) else {}
    return {
        name: _sorted_along(patched[name], below[name]) if name in below else patched[name]
        for name in sorted(patched)
    }


def applied_object(call: Call, *, merged: Object) -> Object:
    """What an apply made, as an object of its own that shares nothing with the live one."""
    obj, _ = canonical(msgspec.json.decode(msgspec.json.encode(merged)), call.expected)
    if call.is_pruned:
        _pruned(obj, call)
    return obj


def applied_body(call: Call, options: WriteOptions) -> tuple[Object, list[str]]:
    """The configuration that is applied: YAML, of which JSON is a part."""
    try:
        applied, complaints = _json_or_yaml(call.body)
    except BadYaml as error:
        raise refusals.bad_request(
            f"error decoding YAML: error converting YAML to JSON: {error}"
        ) from None
    if not isinstance(applied, dict):
        mistake = cannot_unmarshal(applied, "value of type map[string]interface {}")
        raise refusals.bad_request(
            f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {mistake}"
        )
    if complaints and options.field_validation == "Strict":
        raise refusals.bad_request(f"error strict decoding YAML: {'; '.join(complaints)}")
    return applied, complaints if options.field_validation == "Warn" else []


def _json_or_yaml(body: bytes) -> tuple[Any, list[str]]:
    try:
        return msgspec.json.decode(body), []
    except (msgspec.DecodeError, UnicodeDecodeError):
        return parse_yaml(body)
