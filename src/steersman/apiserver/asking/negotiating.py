"""Which language is spoken: JSON, or YAML for those who ask for it. Protobuf is understood."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from steersman.apiserver import refusals
from steersman.apiserver.asking.metadata_only import LIST, OBJECT, VERSIONS, MetadataOnly
from steersman.apiserver.forms import LIKE_MESSAGES, WHOLE, Form
from steersman.apiserver.schema.protobuf import PROTOBUF
from steersman.wire import Request

JSON, YAML = "application/json", "application/yaml"
SPOKEN = (JSON, YAML)
_WATCHED = (JSON,)
UNDERSTOOD = (*SPOKEN, PROTOBUF)

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PATCHES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)

_WHOLE_TYPES = ("*/*", *SPOKEN)
_RANGES = {"*/*": JSON, "application/*": JSON, JSON: JSON, YAML: YAML}


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
    """How an answer is wanted: in which language, and in which form."""

    language: str
    form: Form = WHOLE


PLAIN = AnswerForm(JSON)

# How controllers ask for metadata: many times over, and always in these words.
_USUAL = {
    f"{JSON};as={kind};g=meta.k8s.io;v=v1": AnswerForm(JSON, MetadataOnly(kind, "v1"))
    for kind in (OBJECT, LIST)
}


def wants_plain(request: Request) -> bool:
    """Whether an answer is wanted as it is most of the time."""
    accept = header(request, "Accept")
    return not accept or accept == JSON


def no_table(version: str) -> Form | None:  # noqa: ARG001 - as those that have one
    """Of what cannot be a table."""
    return None


def answer_form(
    request: Request,
    *,
    custom: bool,
    watches: bool = False,
    table: Callable[[str], Form | None] = no_table,
) -> AnswerForm:
    """The form of the answer; a transformation that is not made is passed over.

    ``table`` makes a table of a version, where what is asked for can be one. Built-in and custom
    resources have different words for a no, here and in ``patch_type``.
    """
    if wants_plain(request):
        return PLAIN
    accept = header(request, "Accept")
    if (usual := _USUAL.get(accept)) is not None:
        return usual
    wanted = list(clauses(accept))
    # The way to a built-in resource is found by whole types, before anybody reads the rest.
    if not custom and not any(media_type in _WHOLE_TYPES for media_type, _ in wanted):
        why = f"406: Not Acceptable\n\nAvailable representations: {', '.join(SPOKEN)}"
        raise refusals.Refusal(406, "NotAcceptable", why, details={})
    spoken = _WATCHED if watches else SPOKEN
    for media_type, parameters in wanted:
        language = _RANGES.get(media_type, "")
        if language in spoken and _is_served(parameters):
            form = _form(parameters, table)
            if form is WHOLE and wanted[0] == (PROTOBUF, {}):
                # Who would rather have had it decodes into the same types, and compares them.
                form = LIKE_MESSAGES
            if form is not None:
                return AnswerForm(language, form)
    named = ", ".join(f"{each};stream=watch" if watches else each for each in spoken)
    raise refusals.not_acceptable(f"only the following media types are accepted: {named}")


def refusal_language(request: Request) -> str:
    """That of a no, which has no other form than its own."""
    for media_type, parameters in clauses(header(request, "Accept")):
        if media_type in _RANGES and _form(parameters, no_table) is WHOLE:
            return _RANGES[media_type]
    return JSON


def _is_served(parameters: dict[str, str]) -> bool:
    return parameters.get("stream", "") in ("", "watch") and parameters.get("sv", "") in ("", "v1")


def _form(parameters: dict[str, str], table: Callable[[str], Form | None]) -> Form | None:
    """The form that the parameters of a media type ask for; None where there is no such."""
    kind, group, version = (parameters.get(name) for name in ("as", "g", "v"))
    if kind is None and group is None and version is None:
        return WHOLE
    if kind == "Table" and group == "meta.k8s.io" and version in VERSIONS:
        return table(version or "")
    return MetadataOnly.wished(parameters)


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
        raise refusals.Refusal(415, "UnsupportedMediaType", why, details={})
    return language


def not_spoken(spoken: tuple[str, ...]) -> refusals.Refusal:
    """The body's language is not one of those that are spoken here."""
    return refusals.unsupported_media_type(
        "the body of the request was in an unknown format - accepted media types include: "
        + ", ".join(spoken)
    )
