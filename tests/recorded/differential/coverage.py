"""The coverage of the corpus: the verbs of each kind, with their options."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from tests.recorded.differential.corpus.kinds import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    YAML,
    Kind,
)
from tests.recorded.differential.scenario import Changed, Json, Raw, Request, Scenario

PATCHES = {
    APPLY_PATCH: "apply",
    JSON_PATCH: "json-patch",
    MERGE_PATCH: "merge-patch",
    STRATEGIC_PATCH: "strategic-patch",
}

_WRITES = (
    "dryRun",
    "fieldManager",
    "fieldValidation=Strict",
    "fieldValidation=Warn",
    "fieldValidation=Ignore",
    "pretty",
    "metadata-only",
)
_PATCHES = (*_WRITES, "force")
_SELECTS = ("labelSelector", "fieldSelector", "resourceVersion", "limit")
_DELETES = (
    "dryRun",
    "gracePeriodSeconds",
    "propagationPolicy=Background",
    "propagationPolicy=Foreground",
    "propagationPolicy=Orphan",
    "orphanDependents",
    "preconditions",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "pretty",
)

# The options with which each verb is called at least once for every kind.
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "create": (*_WRITES, "generateName", "yaml-body", "yaml"),
    "get": ("pretty", "resourceVersion", "metadata-only", "yaml"),
    "list": (
        *_SELECTS,
        "continue",
        "resourceVersionMatch=Exact",
        "resourceVersionMatch=NotOlderThan",
        "timeoutSeconds",
        "allowWatchBookmarks",
        "sendInitialEvents",
        "pretty",
        "metadata-only",
        "yaml",
    ),
    "watch": (
        *_SELECTS,
        "live",
        "allowWatchBookmarks",
        "sendInitialEvents",
        "timeoutSeconds",
        "pretty",
        "metadata-only",
    ),
    "update": (*_WRITES, "yaml-body"),
    "merge-patch": _PATCHES,
    "json-patch": _PATCHES,
    "strategic-patch": _PATCHES,
    "apply": (*_PATCHES, "yaml-body"),
    "delete": (*_DELETES, "yaml-body", "metadata-only"),
    "deletecollection": (*_DELETES, *_SELECTS, "resourceVersionMatch=NotOlderThan"),
    "status get": ("pretty", "resourceVersion", "metadata-only"),
    "status update": tuple(each for each in _WRITES if each != "metadata-only"),
    "status merge-patch": _PATCHES,
    "status json-patch": _PATCHES,
    "status strategic-patch": _PATCHES,
    "status apply": ("fieldManager",),
    "scale get": ("pretty", "metadata-only"),
    "scale update": tuple(each for each in _WRITES if each != "metadata-only"),
    "scale merge-patch": ("dryRun", "fieldManager", "pretty"),
    "scale json-patch": ("dryRun", "fieldManager", "pretty"),
    "scale strategic-patch": ("dryRun", "fieldManager", "pretty"),
    "scale apply": ("fieldManager", "force"),
}

_OF_DELETION = frozenset(each.partition("=")[0] for each in _DELETES)
_VALUED = ("fieldValidation", "propagationPolicy", "resourceVersionMatch")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestShape:
    """The kind, verb and options of one request."""

    kind: str
    verb: str
    options: frozenset[str]


def request_shapes(scenarios: Iterable[Scenario], kinds: Mapping[str, Kind]) -> list[RequestShape]:
    """The shapes of the scenarios' requests for ``kinds``."""
    by_path = {(kind.root, kind.plural): title for title, kind in kinds.items()}
    found: list[RequestShape] = []
    for scenario in scenarios:
        for request in scenario.requests:
            about = _shape_of(request, by_path)
            if about is not None:
                found.append(about)
    return found


def missing(asked: Iterable[RequestShape], kinds: Mapping[str, Kind]) -> list[str]:
    """The combinations that no scenario has, as ``kind: verb with option``."""
    seen = {(each.kind, each.verb, option) for each in asked for option in each.options}
    return [
        f"{title}: {verb} with {option}"
        for title, kind in kinds.items()
        for verb, options in OPTIONS.items()
        if _has(kind, verb)
        for option in options
        if (title, verb, option) not in seen
    ]


def table(asked: Iterable[RequestShape]) -> Iterator[str]:
    """The number of requests for each verb with each option, and for each kind."""
    verbs = Counter[str]()
    options = Counter[tuple[str, str]]()
    kinds = Counter[str]()
    for each in asked:
        verbs[each.verb] += 1
        kinds[each.kind] += 1
        options.update((each.verb, option) for option in each.options)
    for verb, count in sorted(verbs.items()):
        yield f"{count:6}  {verb}"
        for (owner, option), times in sorted(options.items()):
            if owner == verb:
                yield f"{times:14}  {option}"
    for kind, count in sorted(kinds.items()):
        yield f"{count:6}  {kind}"


def _has(kind: Kind, verb: str) -> bool:
    sub, _, rest = verb.rpartition(" ")
    if sub:
        return sub in kind.subresources
    return rest in kind.verbs or rest == "apply" or rest.endswith("-patch")


def _shape_of(request: Request, by_path: Mapping[tuple[str, str], str]) -> RequestShape | None:
    split = urlsplit(request.path)
    found = _place(split.path)
    if found is None or found[:2] not in by_path:
        return None
    root, plural, name, sub = found
    query = dict(parse_qsl(split.query, keep_blank_values=True))
    verb = _verb(request, name, query)
    return RequestShape(
        kind=by_path[root, plural],
        verb=f"{sub} {verb}".strip(),
        options=frozenset(_options(request, verb, query)),
    )


def _place(path: str) -> tuple[str, str, str, str] | None:
    """The root, the resource, the name and the subresource of a path."""
    parts = path.strip("/").split("/")
    depth = 2 if parts[0] == "api" else 3
    root, rest = "/" + "/".join(parts[:depth]), parts[depth:]
    if rest[:1] == ["watch"]:
        rest = rest[1:]
    if rest[:1] == ["namespaces"] and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        rest = rest[2:]
    if not rest:
        return None
    plural, name, sub, *_ = (*rest, "", "")
    return root, plural, name, sub


def _verb(request: Request, name: str, query: Mapping[str, str]) -> str:
    match request.method:
        case "PATCH":
            return PATCHES.get(request.headers.get("Content-Type", ""), "patch")
        case "GET" if query.get("watch") == "true" or "/watch/" in request.path:
            return "watch"
        case "GET":
            return "get" if name else "list"
        case "DELETE":
            return "delete" if name else "deletecollection"
        case method:
            return {"POST": "create", "PUT": "update"}.get(method, method.lower())


def _options(request: Request, verb: str, query: Mapping[str, str]) -> Iterator[str]:
    body = request.body
    given: dict[str, Json] = dict(query)
    if verb.startswith("delete") and isinstance(body, dict):
        given |= {name: value for name, value in body.items() if name in _OF_DELETION}
    for name, value in given.items():
        yield f"{name}={value}" if name in _VALUED else name
    if request.ends_with is not None:
        yield "live"
    if isinstance(body, dict) and "generateName" in (body.get("metadata") or {}):
        yield "generateName"
    accept = request.headers.get("Accept", "")
    if "as=PartialObjectMetadata" in accept:
        yield "metadata-only"
    if accept == YAML:
        yield "yaml"
    sends = request.headers.get("Content-Type", "")
    if sends == YAML or (sends == APPLY_PATCH and isinstance(body, Raw)):
        yield "yaml-body"
    if isinstance(body, Changed) and "metadata.generateName" in body.changes:
        yield "generateName"
