"""Tables of each kind, in each format of a request."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from tests.recorded.differential.corpus.definitions import (
    CUSTOM_KINDS,
    FREE,
    SETUP_GADGETS,
    SETUP_OTHERS,
    SETUP_WIDGETS,
    VERBS,
    an_object,
    define,
    definition,
    version,
)
from tests.recorded.differential.corpus.kinds import Kind, Place, builtin_kinds
from tests.recorded.differential.scenario import Json, Request, Scenario, slug
from tests.recorded.differential.yaml_documents import from_yaml

ROWS = Path(__file__).parents[1] / "rows.yaml"

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
OLD_TABLE = "application/json;as=Table;v=v1beta1;g=meta.k8s.io"
KUBECTL = f"{TABLE},{OLD_TABLE},application/json"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

INITIAL = {
    "sendInitialEvents": "true",
    "resourceVersionMatch": "NotOlderThan",
    "allowWatchBookmarks": "true",
}

# The last event of every watch of a scenario.
LAST = ("ADDED", "last")

# The real server itself writes to these shortly after a client's write, so that their version is
# random.
RESTLESS = (
    "apiextensions.k8s.io/v1/customresourcedefinitions",
    "apiregistration.k8s.io/v1/apiservices",
    "flowcontrol.apiserver.k8s.io/v1/flowschemas",
)


# The scenario of IngressClasses creates a default class, which each later Ingress gets.
WITHOUT_DEFAULT = "networking.k8s.io/v1/ingresses"


def scenarios() -> Iterator[Scenario]:
    """Scenarios about tables."""
    for kind in builtin_kinds().values():
        if kind.title not in RESTLESS:
            scenario = _of_kind(Place(kind, "tables"))
            yield replace(scenario, first=kind.title == WITHOUT_DEFAULT)
    for kind in CUSTOM_KINDS:
        setups = (SETUP_WIDGETS, SETUP_GADGETS, SETUP_OTHERS)
        yield _of_kind(Place(kind, "tables", needs=setups))
    config_maps, widgets = builtin_kinds()["core/v1/configmaps"], CUSTOM_KINDS[0]
    for kind, needs in ((config_maps, ()), (widgets, (SETUP_WIDGETS,))):
        yield _ways_of_asking(Place(kind, "tables/ways", needs=needs))
        yield _ways_of_watching(Place(kind, "tables/watches", needs=needs))
    yield _parts(Place(builtin_kinds()["core/v1/pods"], "tables/parts"))
    yield _scales(Place(builtin_kinds()["apps/v1/deployments"], "tables/scale"))
    yield _scales(Place(widgets, "tables/scale", needs=(SETUP_WIDGETS,)))
    yield _fresh()
    yield _columns()


@cache
def _rows() -> Mapping[str, Json]:
    found: Mapping[str, Json] = from_yaml(ROWS.read_text(encoding="utf-8"))
    return found


def _as(request: Request, accept: str = TABLE) -> Request:
    """The same request, with this Accept header."""
    return replace(request, headers={**request.headers, "Accept": accept})


def _of_kind(at: Place) -> Scenario:
    """Objects are created, changed and deleted during a watch."""
    since = {"resourceVersion": "{{first.metadata.resourceVersion}}"}
    return at.scenario(
        at.create("first", at.object("first")),
        _as(at.follow("watched", LAST, since)),
        _as(at.follow("watched-without", LAST, {**INITIAL, "includeObject": "None"})),
        _as(at.follow("watched-whole", LAST, {**since, "includeObject": "Object"})),
        *_lives(at),
        _as(at.get("got", "first"), KUBECTL),
        _as(at.list("listed")),
        _as(at.list("listed-without", {"includeObject": "None"})),
        _as(at.list("listed-whole", {"includeObject": "Object"})),
        _as(at.list("listed-none", {"labelSelector": "no=such"})),
        _as(at.list("listed-metadata"), METADATA_LIST),
        *_statuses(at),
        _as(at.patch("labelled", "first", {"metadata": {"labels": {"a": "b"}}})),
        _as(at.delete("deleted", "first")),
        *([] if _is_alone(at.kind) else [_as(at.create("last", at.object("last")))]),
    )


def _has_no_table(kind: Kind, part: str) -> bool:
    return part == "approval" or kind.plural == "resourceclaims"


def _is_alone(kind: Kind) -> bool:
    """Whether two objects of a scenario would have the same name."""
    return kind.plural in ("apiservices", "customresourcedefinitions")


def _lives(at: Place) -> Iterator[Request]:
    for row in _rows().get(at.kind.title, ()):
        name, through = row["named"], row.get("through", "status")
        obj = at.object(name, row.get("change"))
        obj["metadata"]["labels"] |= row.get("labels", {})
        yield _as(at.create(name, obj))
        if "status" in row:
            written = at.patch(f"{name}-status", name, {"status": row["status"]}, sub=through)
            yield _as(written, KUBECTL if _has_no_table(at.kind, through) else TABLE)
        if row.get("delete"):
            yield _as(at.delete(f"{name}-deleted", name))
        yield _as(at.get(f"{name}-got", name))


def _statuses(at: Place) -> Iterator[Request]:
    if "status" in at.kind.subresources:
        yield _as(at.get("not-acceptable-status", "first", sub="status"))
        yield _as(at.get("status", "first", sub="status"), KUBECTL)


def _ways_of_asking(at: Place) -> Scenario:
    forms = {
        "v1beta1": OLD_TABLE,
        "kubectl": KUBECTL,
        "any-type": "*/*;as=Table;v=v1;g=meta.k8s.io",
        "not-acceptable-any-application": "application/*;as=Table;v=v1;g=meta.k8s.io",
        "unknown-parameter": f"{TABLE};more=1",
        "less-wanted": f"application/json;q=0.5,{TABLE};q=0.9",
        "more-wanted": f"application/json;q=0.9,{TABLE};q=0.5",
        "chair-or-json": "application/json;as=Chair;v=v1;g=meta.k8s.io,application/json",
        "not-acceptable-chair": "application/json;as=Chair;v=v1;g=meta.k8s.io",
        "not-acceptable-version": "application/json;as=Table;v=v2;g=meta.k8s.io",
        "not-acceptable-group": "application/json;as=Table;v=v1;g=example.com",
        "not-acceptable-bare": "application/json;as=Table",
        "not-acceptable-no-kind": "application/json;v=v1;g=meta.k8s.io",
        "not-acceptable-cbor": "application/cbor;as=Table;v=v1;g=meta.k8s.io",
        "not-acceptable-stream": "application/json;stream=other",
        "stream": "application/json;stream=watch",
        "server-version": "application/json;sv=v1",
        "not-acceptable-server-version": "application/json;sv=v2",
        "yaml": "application/yaml;as=Table;v=v1;g=meta.k8s.io",
        "metadata": METADATA,
        "metadata-v1beta1": METADATA.replace("v=v1", "v=v1beta1"),
        "metadata-list": METADATA_LIST,
        "metadata-yaml": METADATA.replace("json", "yaml"),
    }
    includes = ("None", "Metadata", "Object", "", "Some", "none")
    return at.scenario(
        at.create("first", at.object("first")),
        at.create("second", at.object("second")),
        *(_as(at.get(f"{name}-get", "first"), accept) for name, accept in forms.items()),
        *(_as(at.list(f"{name}-list"), accept) for name, accept in forms.items()),
        *(
            _as(at.get(f"get-include-{each}", "first", query={"includeObject": each}))
            for each in includes
        ),
        *(_as(at.list(f"list-include-{each}", {"includeObject": each})) for each in includes),
        _as(at.list("one", {"limit": "1"})),
        _as(at.list("rest", {"continue": "{{one.metadata.continue}}"})),
        _as(at.list("one-by-metadata", {"limit": "1"}), METADATA_LIST),
        _as(at.list("nothing-by-metadata", {"labelSelector": "no=such"}), METADATA_LIST),
        _as(at.get("missing", "none")),
        _as(at.create("taken", at.object("first"))),
        _as(at.create("dry-run", at.object("third"), {"dryRun": "All"})),
        _as(at.create("by-metadata", at.object("third"), {"dryRun": "All"}), METADATA),
        _as(at.update("updated", "second", at.object("second"))),
        _as(at.patch("patched", "second", {"metadata": {"labels": {"a": "b"}}})),
        _as(at.patch("patched-some", "second", {}, query={"includeObject": "Some"})),
        _as(at.apply("applied", "second", at.object("second"), force=True)),
        _as(at.delete("collection", None)),
    )


def _ways_of_watching(at: Place) -> Scenario:
    since = {"resourceVersion": "{{first.metadata.resourceVersion}}"}
    zero = {"resourceVersion": "0", "allowWatchBookmarks": "true"}
    short = {"watch": "true", "timeoutSeconds": "1"}
    none = {**short, **INITIAL, "labelSelector": "no=such"}
    return at.scenario(
        at.create("first", at.object("first")),
        at.create("second", at.object("second")),
        _as(at.follow("v1beta1", LAST, since), OLD_TABLE),
        _as(at.follow("kubectl", LAST, since), KUBECTL),
        _as(at.follow("initial", LAST, INITIAL)),
        _as(at.follow("initial-whole", LAST, {**INITIAL, "includeObject": "Object"})),
        _as(at.follow("initial-metadata", LAST, INITIAL), METADATA),
        _as(at.follow("from-zero", LAST, zero)),
        _as(at.follow("from-now", LAST, {"allowWatchBookmarks": "true"})),
        _as(at.follow("metadata", LAST, since), METADATA.replace("v=v1", "v=v1beta1")),
        _as(at.list("lists", {**short, **since}), METADATA_LIST),
        _as(at.list("some", {**short, "includeObject": "Some"})),
        _as(at.list("not-acceptable-yaml", short), TABLE.replace("json", "yaml")),
        _as(at.list("initial-of-none", none)),
        _as(at.list("initial-of-none-without", {**none, "includeObject": "None"})),
        _as(at.list("initial-metadata-of-none", none), METADATA),
        at.patch("changed", "first", {"metadata": {"labels": {"a": "b"}}}),
        at.delete("deleted", "second"),
        at.create("last", at.object("last")),
    )


def _parts(at: Place) -> Scenario:
    """Tables of responses that are not objects, and of parts of objects."""
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "first"}}
    review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
    reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    parts = ("ephemeralcontainers", "resize", "status")
    return at.scenario(
        at.create("first", at.object("first")),
        *(_as(at.get(f"not-acceptable-{each}", "first", sub=each)) for each in parts),
        *(_as(at.get(each, "first", sub=each), KUBECTL) for each in parts),
        *(_as(at.get(f"metadata-{each}", "first", sub=each), METADATA) for each in parts),
        *(
            _as(Request(name=name, method="POST", path=reviews, body=review), accept)
            for name, accept in (
                ("not-acceptable-review", TABLE),
                ("review", KUBECTL),
                ("metadata-review", METADATA),
                ("metadata-list-review", METADATA_LIST),
            )
        ),
        *(
            _as(
                Request(
                    name=name,
                    method="POST",
                    path=at.path("first", sub="eviction"),
                    body=eviction,
                ),
                accept,
            )
            for name, accept in (("not-acceptable-eviction", TABLE), ("eviction", KUBECTL))
        ),
    )


def _scales(at: Place) -> Scenario:
    return at.scenario(
        at.create("first", at.object("first")),
        _as(at.get("got", "first", sub="scale")),
        _as(at.get("without", "first", sub="scale", query={"includeObject": "None"})),
        _as(at.get("whole", "first", sub="scale", query={"includeObject": "Object"})),
        _as(at.get("metadata", "first", sub="scale"), METADATA),
        _as(at.patch("patched", "first", {"spec": {"replicas": 7}}, sub="scale")),
        _as(at.patch("none", "first", {"spec": {"replicas": 0}}, sub="scale")),
        _as(at.get("none-got", "first", sub="scale")),
    )


def _fresh() -> Scenario:
    """The initial objects of the server."""
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    paths = {
        "default-namespace": "/api/v1/namespaces/default",
        "flow-schemas": "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
        "priority-levels": "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
        "flow-schema": "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/exempt",
        "flow-schema-status": "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/exempt/status",
        "priority-classes": "/apis/scheduling.k8s.io/v1/priorityclasses",
        "service-cidrs": "/apis/networking.k8s.io/v1/servicecidrs/kubernetes",
        "kubernetes": "/api/v1/namespaces/default/services/kubernetes",
        "cluster-role": f"{rbac}/clusterroles/view",
        "cluster-role-binding": f"{rbac}/clusterrolebindings/cluster-admin",
        "roles": f"{rbac}/namespaces/nowhere/roles",
    }
    requests = [
        _as(Request(name=name, method="GET", path=f"{path}?includeObject=None"))
        for name, path in paths.items()
    ]
    return Scenario(name="tables/fresh", requests=tuple(requests), first=True)


# Each column, with the name of its type and its path.
_PATHS = {
    "plain": ".spec.value",
    "missing": ".spec.missing",
    "deeper": ".spec.missing.more",
    "index": ".spec.list[1]",
    "last": ".spec.list[-1]",
    "far": ".spec.list[9]",
    "slice": ".spec.list[0:2]",
    "end": ".spec.list[-1:]",
    "steps": ".spec.list[::2]",
    "all": ".spec.list[*]",
    "list": ".spec.list",
    "map": ".spec.map",
    "key": ".spec.map['a.b']",
    "escaped": r".spec.map.a\.b",
    "union": ".spec.list[1,0]",
    "filter": '.spec.items[?(@.name=="b")].value',
    "filter-single": ".spec.items[?(@.name=='b')].value",
    "filter-number": ".spec.items[?(@.value>1)].name",
    "filter-mixed": '.spec.items[?(@.value=="x")].name',
    "filter-exists": ".spec.items[?(@.extra)].name",
    "filter-none": '.spec.items[?(@.name=="z")].value',
    "filter-not-list": '.spec.map[?(@.name=="z")].value',
    "descent": "..value",
    "not-a-list": ".spec.map[0]",
    "created": ".metadata.creationTimestamp",
    "old": ".spec.old",
    "kind": ".kind",
    "null": ".spec.nothing",
    "whole": ".",
}
_TYPES = ("string", "integer", "number", "boolean", "date")


def _columns() -> Scenario:
    """Printer columns of every type, for values of every type."""
    group, where = "tables.example.com", slug("tables/columns")
    columns: list[Json] = [
        {"name": f"{shown} {type_}", "type": type_, "jsonPath": path}
        for shown, path in _PATHS.items()
        for type_ in _TYPES
        if shown != "whole" or type_ != "string"  # in place of uids and times
    ]
    columns[0] |= {"description": "what it is for", "format": "int32", "priority": 1}
    unreadable = [
        {"name": "Good", "type": "string", "jsonPath": ".spec.value"},
        {"name": "Bad", "type": "string", "jsonPath": ".spec.list[x]"},
        {"name": "Late", "type": "string", "jsonPath": ".spec.value"},
    ]
    schema = an_object({"spec": FREE})
    crd = definition(
        group,
        "printeds",
        "Printed",
        version("v1", schema, additionalPrinterColumns=columns),
        version("v2", schema, storage=False, additionalPrinterColumns=unreadable),
        version("v3", schema, storage=False),
    )
    kind = Kind(
        api_version=f"{group}/v1",
        name="Printed",
        plural="printeds",
        namespaced=True,
        verbs=VERBS,
        subresources=frozenset(),
        sample={"apiVersion": f"{group}/v1", "kind": "Printed"},
    )
    at = Place(kind, "tables", within=where)
    values = {
        "text": "some",
        "empty": "",
        "number": 7,
        "negative": -7,
        "ratio": 2.5,
        "large": 12345678901,
        "exponent": 1e30,
        "yes": True,
        "no": False,
        "time": "2020-01-02T03:04:05Z",
        "time-in-zone": "2020-01-02T03:04:05+02:00",
        "time-with-fraction": "2020-01-02T03:04:05.123456Z",
        "future": "2999-01-02T03:04:05Z",
        "ancient": "1000-01-02T03:04:05Z",
        "not-a-time": "yesterday",
        "escaped": '<a href="x">&</a>',
        "list": [1, "two", {"three": None}],
        "map": {"b": 1, "a": "<x>"},
    }
    spec = {
        "list": ["a", "b", "c"],
        "map": {"a.b": "dotted", "c": 1},
        "items": [
            {"name": "a", "value": 1},
            {"name": "b", "value": 2, "extra": True},
            {"name": "c", "value": 3},
        ],
        "old": "2021-01-02T03:04:05Z",
        "nothing": None,
    }
    other = {version_: at.path().replace("/v1/", f"/{version_}/") for version_ in ("v2", "v3")}
    return replace(
        at.scenario(
            *define(crd, *(at.path(), *other.values())),
            *(
                _as(at.create(name, at.bare(name, spec={**spec, "value": value})))
                for name, value in values.items()
            ),
            _as(at.create("bare", at.bare("bare"))),
            _as(at.list("listed", {"includeObject": "None"})),
            *(
                _as(Request(name=f"listed-{version_}", method="GET", path=path))
                for version_, path in other.items()
            ),
            _as(at.list("initial", {"watch": "1", "timeoutSeconds": "1", **INITIAL})),
        ),
        name="tables/columns",
        namespace=where,
    )
