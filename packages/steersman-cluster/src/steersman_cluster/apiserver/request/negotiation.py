"""Content negotiation: JSON, YAML or protobuf; whole objects, metadata, or a table."""

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
# The media types of all resources, and those of built-in resources.
MEDIA_TYPES = (JSON, YAML)
BUILTIN_MEDIA_TYPES = (*MEDIA_TYPES, PROTOBUF)
# The media types of watches.
_STREAMED = (JSON, PROTOBUF)
_STREAMS = tuple(f"{each};stream=watch" for each in _STREAMED)

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PATCHES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)

_RANGES = {"*/*": JSON, "application/*": JSON, JSON: JSON, YAML: YAML, PROTOBUF: PROTOBUF}


# The parameters of a media type that request a transformation, such as as=Table.
_TRANSFORMS = frozenset(("as", "g", "v"))

# Up to this length, Go's sort is an insertion sort.
_INSERTED = 12

# The quality value of a media type, the media type, and its parameters.
_Clause: TypeAlias = tuple[float, str, dict[str, str]]


def header(request: Request, name: str) -> str:
    """Return the value of a header; "" if the header is missing.

    Pass ``name`` in the spelling that most clients use; it is then found without lowercasing.
    """
    # A loop: this runs several times per request, and a generator takes twice as long.
    for key, value in request.headers:
        if key == name:
            return value
    name = name.lower()
    for key, value in request.headers:
        if key.lower() == name:
            return value
    return ""


def clauses(accept: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the media types of an Accept header with their parameters, in order of preference."""
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
    """Return the one of the media types ``forms`` that ``accept`` prefers; "" if none fits."""
    for media_type, _ in clauses(accept or "*/*"):
        kind, _, subtype = media_type.partition("/")
        for encoder in forms:
            form_kind, _, form_subtype = encoder.partition("/")
            if kind in ("*", form_kind) and subtype in ("*", form_subtype):
                return encoder
    return ""


def _in_order(clauses: list[_Clause]) -> list[_Clause]:
    """Return the clauses in the order in which Go's sort puts them.

    Go sorts up to twelve clauses by insertion. The comparison is not transitive, so a sort by key
    would result in another order. More than twelve clauses are sorted by quality value only,
    because an insertion sort of thousands of clauses would block other requests.
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
    """The negotiated format of a response: its media type and its encoder."""

    language: str
    encoder: ResponseEncoder = WHOLE


PLAIN = ResponseFormat(JSON)

# The Accept headers of controllers, which most requests have: a shortcut.
_USUAL = {
    f"{JSON};as={kind};g=meta.k8s.io;v=v1": ResponseFormat(JSON, MetadataEncoder(kind, "v1"))
    for kind in (OBJECT, LIST)
}
_USUAL_FOR_BUILTIN: Mapping[str, ResponseFormat] = {
    accept: ResponseFormat(PROTOBUF, WHOLE_MESSAGES) for accept in (PROTOBUF, f"{PROTOBUF},{JSON}")
}


def wants_plain(request: Request) -> bool:
    """Return whether the Accept header is missing or is only JSON, as for nearly all clients.

    The response then contains whole objects in JSON.
    """
    accept = header(request, "Accept")
    return not accept or accept == JSON


def no_table(version: str) -> ResponseEncoder | None:  # noqa: ARG001 - as those that have one
    """Return None: this function stands for the lack of tables in ``negotiate``."""
    return None


def negotiate(
    request: Request,
    *,
    custom: bool,
    watches: bool = False,
    lists: bool = False,
    table: Callable[[str], ResponseEncoder | None] = no_table,
) -> ResponseFormat:
    """Return the format of the response, the one that the client prefers.

    A media type with an unsupported transformation is skipped. ``table`` returns the encoder of a
    table in a version, or None. The errors for built-in and ``custom`` resources differ.
    """
    if wants_plain(request):
        return PLAIN
    accept = header(request, "Accept")
    if (usual := _USUAL.get(accept)) is not None:
        return usual
    if not custom and (usual := _USUAL_FOR_BUILTIN.get(accept)) is not None:
        return usual
    wanted = list(clauses(accept))
    # kube-apiserver routes built-in resources by media type before it reads the parameters.
    if not custom:
        check_route(accept, (*BUILTIN_MEDIA_TYPES, *_STREAMS) if lists else BUILTIN_MEDIA_TYPES)
    for media_type, parameters in wanted:
        language = _RANGES.get(media_type, "")
        if not language or not _is_served(language, parameters, versions=("", "v1")):
            continue
        encoder = _form(language, parameters, table, custom=custom)
        if encoder is not None:
            if watches and language not in _STREAMED:
                raise not_acceptable(_STREAMS)
            return ResponseFormat(language, encoder)
    raise not_acceptable(BUILTIN_MEDIA_TYPES)


def document_language(accept: str) -> str:
    """Return the preferred media type of a document that has no transformations."""
    for media_type, parameters in clauses(accept or JSON):
        language = _RANGES.get(media_type, "")
        whole = language and _is_whole(parameters)
        if whole and _is_served(language, parameters, versions=("",)):
            return language
    raise not_acceptable(BUILTIN_MEDIA_TYPES)


def language_of_form(accept: str, encoder: Mapping[str, str]) -> str:
    """Return the first media type whose transformation parameters equal ``encoder``.

    Returns "" if ``accept`` contains no such media type.
    """
    for media_type, parameters in clauses(accept):
        language = _RANGES.get(media_type, "")
        wanted = language and {key: parameters.get(key) for key in _TRANSFORMS} == encoder
        if wanted and _is_served(language, parameters, versions=("",)):
            return language
    return ""


def check_route(accept: str, available: tuple[str, ...]) -> None:
    """Raise an error if ``accept`` contains none of ``available``, a path's media types."""
    wanted = [clause.partition(";")[0].strip() for clause in (accept or JSON).split(",")]
    if not any(each == "*/*" or each in available for each in wanted):
        why = f"406: Not Acceptable\n\nAvailable representations: {', '.join(available)}"
        raise status_errors.StatusError(406, "NotAcceptable", why, details={})


def not_acceptable(available: tuple[str, ...]) -> status_errors.StatusError:
    """Return the error for a client that accepts none of the ``available`` media types."""
    named = ", ".join(available)
    return status_errors.not_acceptable(f"only the following media types are accepted: {named}")


def error_language(request: Request) -> str:
    """Return the media type of an error response; the default is JSON.

    An error response has no transformations.
    """
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
    """Return the encoder that the parameters of a media type request; None if unsupported."""
    in_protobuf = language == PROTOBUF
    if _is_whole(parameters):
        if not in_protobuf:
            return WHOLE
        return None if custom else WHOLE_MESSAGES
    kind, group, version = (parameters.get(name) for name in ("as", "g", "v"))
    if kind == "Table" and group == "meta.k8s.io" and version in VERSIONS:
        return None if in_protobuf else table(version or "")
    only = MetadataEncoder.from_parameters(parameters)
    return ProtobufMetadataEncoder(only) if only is not None and in_protobuf else only


def body_type(request: Request) -> str:
    """Return the media type of the request body, by default JSON.

    Raises an error if the media type is unsupported.
    """
    content_type = header(request, "Content-Type").partition(";")[0].strip().lower() or JSON
    if content_type not in BUILTIN_MEDIA_TYPES:
        raise unsupported_media_type(BUILTIN_MEDIA_TYPES)
    return content_type


def patch_type(request: Request, *, custom: bool) -> str:
    """Return the patch type of the request body, which is its media type.

    Raises an error for an unsupported type; ``custom`` resources do not support strategic merge
    patches.
    """
    language = header(request, "Content-Type").partition(";")[0]
    if language not in PATCHES or (custom and language == STRATEGIC_PATCH):
        if custom:
            raise unsupported_media_type(tuple(each for each in PATCHES if each != STRATEGIC_PATCH))
        why = "415: Unsupported Media Type"
        raise status_errors.StatusError(415, "UnsupportedMediaType", why, details={})
    return language


def unsupported_media_type(spoken: tuple[str, ...]) -> status_errors.StatusError:
    """Return the error for a request body whose media type is not one of ``spoken``."""
    return status_errors.unsupported_media_type(
        "the body of the request was in an unknown format - accepted media types include: "
        + ", ".join(spoken)
    )
