"""Which language is spoken: JSON, or YAML for those who ask for it. Protobuf is understood."""

from collections.abc import Iterator
from typing import NamedTuple

from steersman.apiserver import refusals
from steersman.apiserver.asking.metadata_only import MetadataOnly
from steersman.apiserver.schema.protobuf import PROTOBUF
from steersman.wire import Request

JSON, YAML = "application/json", "application/yaml"
SPOKEN = (JSON, YAML)
UNDERSTOOD = (*SPOKEN, PROTOBUF)

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PATCHES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)

_RANGES = {"*/*": JSON, "application/*": JSON, JSON: JSON, YAML: YAML}


def header(request: Request, name: str) -> str:
    """A header by its lower-case name; empty where it is not there."""
    return next((value for key, value in request.headers if key.lower() == name), "")


def clauses(accept: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The media types of an Accept header with their parameters, the most wanted first."""
    found: list[tuple[float, str, dict[str, str]]] = []
    for clause in accept.split(","):
        media_type, *parameters = (part.strip() for part in clause.split(";"))
        named = {name: value for name, _, value in (each.partition("=") for each in parameters)}
        try:
            weight = float(named.pop("q", "1"))
        except ValueError:
            continue
        found.append((weight, media_type, named))
    for _, media_type, named in sorted(found, key=lambda each: -each[0]):
        yield media_type, named


class AnswerForm(NamedTuple):
    """How an answer is wanted: in which language, and of the whole object or only of a part."""

    language: str
    metadata_only: MetadataOnly | None = None


WHOLE = AnswerForm(JSON)


def answer_form(request: Request, *, custom: bool) -> AnswerForm:
    """The form of the answer; a transformation that is not made is passed over.

    Built-in and custom resources have different words for a no, here and in ``patch_type``.
    """
    accept = header(request, "accept")
    if not accept or accept == JSON:
        return WHOLE
    for media_type, parameters in clauses(accept):
        if media_type in _RANGES:
            metadata_only = MetadataOnly.wished(parameters)
            if metadata_only is not None or "as" not in parameters:
                return AnswerForm(_RANGES[media_type], metadata_only)
    spoken = ", ".join(SPOKEN)
    if custom:
        raise refusals.not_acceptable(f"only the following media types are accepted: {spoken}")
    why = f"406: Not Acceptable\n\nAvailable representations: {spoken}"
    raise refusals.Refusal(406, "NotAcceptable", why, details={})


def body_type(request: Request) -> str:
    """The language of the body; without a word about it, JSON."""
    content_type = header(request, "content-type").partition(";")[0].strip().lower() or JSON
    if content_type not in UNDERSTOOD:
        raise not_spoken(UNDERSTOOD)
    return content_type


def patch_type(request: Request, *, custom: bool) -> str:
    """The language of a patch; custom resources do without the one that needs Go types."""
    language = header(request, "content-type").partition(";")[0]
    if language not in PATCHES or (custom and language == STRATEGIC_PATCH):
        if custom:
            raise not_spoken(tuple(each for each in PATCHES if each != STRATEGIC_PATCH))
        why = "415: Unsupported Media Type"
        raise refusals.Refusal(415, "UnsupportedMediaType", why, details={})
    return language


def not_spoken(spoken: tuple[str, ...]) -> refusals.Refusal:
    """The body's language is not one of those that are spoken here."""
    return refusals.unsupported_media_type(
        "the body of the request was in an unknown format - accepted media types include: "
        + ", ".join(spoken)
    )
