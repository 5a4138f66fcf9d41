"""Content negotiation: JSON, YAML or protobuf, and objects whole, by metadata, or as a table."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from steersman.wire import Request
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.request.metadata_encoder import (
    LIST,
    OBJECT,
    VERSIONS,
    MetadataEncoder,
)
from steersman_cluster.apiserver.request.protobuf_responses import (
    WHOLE_MESSAGES,
    ProtobufMetadataEncoder,
)
from steersman_cluster.apiserver.request.response_encoders import WHOLE, ResponseEncoder
from steersman_cluster.apiserver.schema.protobuf.messages import PROTOBUF

JSON, YAML = "application/json", "application/yaml"
# Those that every resource is sent in; built-in ones, in protobuf as well.
SPOKEN = (JSON, YAML)
UNDERSTOOD = (*SPOKEN, PROTOBUF)
# Those that a stream of events can be in.
_STREAMED = (JSON, PROTOBUF)
_STREAMS = tuple(f"{each};stream=watch" for each in _STREAMED)

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PATCHES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)

_RANGES = {"*/*": JSON, "application/*": JSON, JSON: JSON, YAML: YAML, PROTOBUF: PROTOBUF}


# The parameters of a media type that ask for another form of an object.
_TRANSFORMS = frozenset(("as", "g", "v"))

# How many elements Go's sort inserts one by one.
_INSERTED = 12

# How much a media type is wanted, which it is, and its parameters.
_Clause: TypeAlias = tuple[float, str, dict[str, str]]


def header(request: Request, name: str) -> str:
    """A header by its name as most clients write it; empty where it is not there."""
    for key, value in request.headers:  # several times a request: a generator takes twice as long
        if key == name:
            return value
    name = name.lower()
    for key, value in request.headers:
        if key.lower() == name:
            return value
    return ""


def clauses(accept: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The media types of an Accept header with their parameters, the most wanted first."""
    found: list[_Clause] = []
    for clause in accept.split(","):
        media_type, *parameters = clause.split(";")
        kind, *rest = (part.strip() for part in media_type.split("/"))
        if len(rest) != 1 and (kind, rest) != ("*", []):
            continue
        named: dict[str, str] = {}
        for each in parameters:
            name, _, value = each.partition("=")
            if value and "=" not in value:
                named[name.strip()] = value.strip()
        try:
            weight = float(named.pop("q", "1"))
        except ValueError:
            weight = 0.0
        found.append((weight, f"{kind}/{rest[0] if rest else '*'}", named))
    for _, media_type, named in _in_order(found):
        yield media_type, named


def accepted_format(accept: str, forms: Iterable[str]) -> str:
    """The first of several media types that is wanted most; empty where none is."""
    for media_type, _ in clauses(accept or "*/*"):
        kind, _, subtype = media_type.partition("/")
        for encoder in forms:
            form_kind, _, form_subtype = encoder.partition("/")
            if kind in ("*", form_kind) and subtype in ("*", form_subtype):
                return encoder
    return ""


def _in_order(clauses: list[_Clause]) -> list[_Clause]:
    """Up to twelve as Go's sort has them, which inserts one after the other.

    The order is no order in the strict sense, so a sort by key would give another one. More are
    sorted by their weight alone: inserting thousands would hold up all other requests.
    """
    if len(clauses) > _INSERTED:
        return sorted(clauses, key=lambda clause: -clause[0])
    found: list[_Clause] = []
    for clause in clauses:
        at = len(found)
        while at and _precedes(clause, found[at - 1]):
            at -= 1
        found.insert(at, clause)
    return found


def _precedes(clause: _Clause, other: _Clause) -> bool:
    (weight, media_type, _), (other_weight, other_type, _) = clause, other
    if weight > other_weight:
        return True
    kinds, other_kinds = media_type.partition("/"), other_type.partition("/")
    return any(
        ours != "*" and theirs == "*" for ours, theirs in zip(kinds, other_kinds, strict=True)
    )


class ResponseFormat(NamedTuple):
    """How an answer is wanted: in which language, and in which form."""

    language: str
    encoder: ResponseEncoder = WHOLE


PLAIN = ResponseFormat(JSON)

# What controllers accept: sent many times over, and always in these words.
_USUAL = {
    f"{JSON};as={kind};g=meta.k8s.io;v=v1": ResponseFormat(JSON, MetadataEncoder(kind, "v1"))
    for kind in (OBJECT, LIST)
}
_USUAL_FOR_BUILTIN: Mapping[str, ResponseFormat] = {
    accept: ResponseFormat(PROTOBUF, WHOLE_MESSAGES) for accept in (PROTOBUF, f"{PROTOBUF},{JSON}")
}


def wants_plain(request: Request) -> bool:
    """Whether an answer is wanted as it is most of the time."""
    accept = header(request, "Accept")
    return not accept or accept == JSON


def no_table(version: str) -> ResponseEncoder | None:  # noqa: ARG001 - as those that have one
    """Of what cannot be a table."""
    return None


def negotiate(
    request: Request,
    *,
    custom: bool,
    watches: bool = False,
    lists: bool = False,
    table: Callable[[str], ResponseEncoder | None] = no_table,
) -> ResponseFormat:
    """The form of the answer; a transformation that is not made is passed over.

    ``table`` makes a table of a version, where what is asked for can be one. Built-in and custom
    resources have different words for a no, here and in ``patch_type``.
    """
    if wants_plain(request):
        return PLAIN
    accept = header(request, "Accept")
    if (usual := _USUAL.get(accept)) is not None:
        return usual
    if not custom and (usual := _USUAL_FOR_BUILTIN.get(accept)) is not None:
        return usual
    wanted = list(clauses(accept))
    # A built-in resource is routed by whole types, before the rest is read.
    if not custom:
        check_route(accept, (*UNDERSTOOD, *_STREAMS) if lists else UNDERSTOOD)
    for media_type, parameters in wanted:
        language = _RANGES.get(media_type, "")
        if not language or not _is_served(language, parameters, versions=("", "v1")):
            continue
        encoder = _form(language, parameters, table, custom=custom)
        if encoder is not None:
            if watches and language not in _STREAMED:
                raise not_accepted(_STREAMS)
            return ResponseFormat(language, encoder)
    raise not_accepted(UNDERSTOOD)


def document_language(accept: str) -> str:
    """The language of a document about the server, which has no other form than its own."""
    for media_type, parameters in clauses(accept or JSON):
        language = _RANGES.get(media_type, "")
        whole = language and _is_whole(parameters)
        if whole and _is_served(language, parameters, versions=("",)):
            return language
    raise not_accepted(UNDERSTOOD)


def language_of_form(accept: str, encoder: Mapping[str, str]) -> str:
    """The first language in which exactly this form is wanted; empty where it is not at all."""
    for media_type, parameters in clauses(accept):
        language = _RANGES.get(media_type, "")
        wanted = language and {key: parameters.get(key) for key in _TRANSFORMS} == encoder
        if wanted and _is_served(language, parameters, versions=("",)):
            return language
    return ""


def check_route(accept: str, available: tuple[str, ...]) -> None:
    """Refuse where the way to an answer is found by whole types, and none of them is wanted."""
    wanted = [clause.partition(";")[0].strip() for clause in (accept or JSON).split(",")]
    if not any(each == "*/*" or each in available for each in wanted):
        why = f"406: Not Acceptable\n\nAvailable representations: {', '.join(available)}"
        raise status_errors.StatusError(406, "NotAcceptable", why, details={})


def not_accepted(available: tuple[str, ...]) -> status_errors.StatusError:
    """What the caller accepts is not among what there is."""
    named = ", ".join(available)
    return status_errors.not_acceptable(f"only the following media types are accepted: {named}")


def refusal_language(request: Request) -> str:
    """That of a no, which has no other form than its own."""
    for media_type, parameters in clauses(header(request, "Accept")):
        language = _RANGES.get(media_type, "")
        if language and _is_whole(parameters) and _is_served(language, parameters, versions=("",)):
            return language
    return JSON


def _is_served(language: str, parameters: dict[str, str], *, versions: tuple[str, ...]) -> bool:
    streams = ("", "watch") if language in _STREAMED else ("",)
    return parameters.get("stream", "") in streams and parameters.get("sv", "") in versions


def _is_whole(parameters: dict[str, str]) -> bool:
    return not parameters.keys() & _TRANSFORMS


def _form(
    language: str,
    parameters: dict[str, str],
    table: Callable[[str], ResponseEncoder | None],
    *,
    custom: bool,
) -> ResponseEncoder | None:
    """The form that the parameters of a media type ask for; None where there is no such."""
    in_protobuf = language == PROTOBUF
    if _is_whole(parameters):
        if not in_protobuf:
            return WHOLE
        return None if custom else WHOLE_MESSAGES
    kind, group, version = (parameters.get(name) for name in ("as", "g", "v"))
    if kind == "Table" and group == "meta.k8s.io" and version in VERSIONS:
        return None if in_protobuf else table(version or "")
    only = MetadataEncoder.wished(parameters)
    return ProtobufMetadataEncoder(only) if only is not None and in_protobuf else only


def body_type(request: Request) -> str:
    """The language of the body; without a word about it, JSON."""
    content_type = header(request, "Content-Type").partition(";")[0].strip().lower() or JSON
    if content_type not in UNDERSTOOD:
        raise not_spoken(UNDERSTOOD)
    return content_type


def patch_type(request: Request, *, custom: bool) -> str:
    """The language of a patch; custom resources do without the one that needs Go types."""
    language = header(request, "Content-Type").partition(";")[0]
    if language not in PATCHES or (custom and language == STRATEGIC_PATCH):
        if custom:
            raise not_spoken(tuple(each for each in PATCHES if each != STRATEGIC_PATCH))
        why = "415: Unsupported Media Type"
        raise status_errors.StatusError(415, "UnsupportedMediaType", why, details={})
    return language


def not_spoken(spoken: tuple[str, ...]) -> status_errors.StatusError:
    """The body's language is not one of those that are spoken here."""
    return status_errors.unsupported_media_type(
        "the body of the request was in an unknown format - accepted media types include: "
        + ", ".join(spoken)
    )
