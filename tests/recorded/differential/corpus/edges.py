"""Custom resources at the limits of their schemas, and Jobs that share labels with their pods."""

from collections.abc import Iterator
from dataclasses import replace

from tests.recorded.differential.corpus.definitions import (
    DEFINITIONS,
    FREE,
    NUMBER,
    TEXT,
    an_object,
    define,
    definition,
    version,
)
from tests.recorded.differential.corpus.kinds import APPLY_PATCH, MERGE_PATCH
from tests.recorded.differential.scenario import Answer, Changed, Json, Request, Scenario, slug

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"

STATUS = an_object(
    {"observedGeneration": NUMBER, "phase": {"type": "string", "default": "New"}},
    default={"observedGeneration": -1},
)
APPLIED = an_object(
    {
        "count": NUMBER,
        "text": {"type": "string", "default": "x"},
        "perhaps": {"type": "integer", "nullable": True},
        "bare": {"type": "object"},
        "part": an_object({"x": TEXT}),
        "list": {"type": "array", "items": TEXT},
        "map": {"type": "object", "additionalProperties": TEXT},
        "free": {"x-kubernetes-preserve-unknown-fields": True},
        "named": {
            "type": "array",
            "items": an_object({"name": TEXT, "value": TEXT}, required=["name"]),
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
    }
)
# A null for each field, and nulls inside some.
NULLS: dict[str, Json] = {
    **{name: {name: None} for name in APPLIED["properties"]},
    "everything": None,
    "in-part": {"part": {"x": None}},
    "in-list": {"list": [None]},
    "in-map": {"map": {"x": None}},
    "in-free": {"free": {"x": None}},
    "in-item": {"named": [{"name": "a", "value": None}]},
}
# Some of these are equal in Python.
LIKE: dict[str, Json] = {
    "zero": 0,
    "false": False,
    "one": 1,
    "true": True,
    "list-of-zero": [0],
    "list-of-false": [False],
    "map-of-zero": {"a": 0},
    "map-of-false": {"a": False},
    "pointed-zero": 0.0,
    "pointed-one": 1.0,
    "list-of-pointed": [0.0],
}
PATHS = (
    ".spec.list[]",
    ".spec.parts[].size",
    ".spec.list[][]",
    ".spec.empty[]",
    ".spec.list[,1]",
    ".spec.list[-]",
    ".metadata.name",
)


class _Things:
    """A kind for one scenario, and requests for its objects."""

    def __init__(self, word: str, schema: Json, *, scope: str = "Namespaced", **more: Json) -> None:
        self.group = f"{word}.edges.example.com"
        document = definition(self.group, "things", "Thing", version("v1", schema, **more))
        self.document: Json = {**document, "spec": {**document["spec"], "scope": scope}}
        self.root = f"/apis/{self.group}/v1"
        self.path = self.root if scope == "Cluster" else f"{self.root}/namespaces/default"
        self.path += "/things"

    def scenario(self, name: str, *requests: Request) -> Scenario:
        known = define(self.document, self.path)
        return Scenario(name=f"edges/{name}", requests=(*known, *requests))

    def object(self, name: str, **parts: Json) -> Json:
        about = {"apiVersion": f"{self.group}/v1", "kind": "Thing", "metadata": {"name": name}}
        return {**about, **parts}

    def ask(self, name: str, method: str, path: str, body: Json = None, **more: Json) -> Request:
        return Request(name=name, method=method, path=f"{self.path}{path}", body=body, **more)

    def create(self, name: str, obj: str, query: str = "", **parts: Json) -> Request:
        return self.ask(name, "POST", query, self.object(obj, **parts))

    def get(self, name: str, obj: str = "") -> Request:
        return self.ask(name, "GET", f"/{obj}" if obj else "")

    def merge(self, name: str, path: str, body: Json) -> Request:
        headers = {"Content-Type": MERGE_PATCH}
        return self.ask(name, "PATCH", f"/{path}", body, headers=headers)

    def apply(
        self, name: str, obj: str, *, sub: str = "", by: str = "me", **parts: Json
    ) -> Request:
        headers = {"Content-Type": APPLY_PATCH}
        path = f"/{obj}{sub}?fieldManager={by}"
        return self.ask(name, "PATCH", path, self.object(obj, **parts), headers=headers)

    def in_turn(self, *writes: Request) -> Iterator[Request]:
        """Writes, each of which starts when the server's watch cache contains the previous one.

        The server compares a write with the object in that cache, which has no unknown fields. If
        the cache is behind, it compares with etcd, which may have some.
        """
        for write in writes:
            yield write
            answer = f"{write.name}.metadata"
            path = f"/{{{{{answer}.name}}}}?resourceVersion={{{{{answer}.resourceVersion}}}}"
            yield self.ask(f"{write.name}-read", "GET", path)


def scenarios() -> Iterator[Scenario]:
    """Scenarios about limits of schemas."""
    yield _default_status()
    yield _default_status_of_versions()
    yield _nulls()
    yield _dropped()
    yield _booleans()
    yield _whole_floats()
    yield _columns()
    yield from _scopes()
    yield _jobs()


def _default_status() -> Scenario:
    things = _Things(
        "statuses",
        an_object({"spec": FREE, "status": STATUS}),
        subresources={"status": {}},
    )
    return things.scenario(
        "default-status",
        things.create("created", "one", spec={"a": 1}, status={"phase": "Sent"}),
        things.create("dry", "two", "?dryRun=All", spec={"a": 1}),
        things.get("read", "one"),
        things.get("listed"),
        things.ask("written", "PUT", "/one", Changed("read", {})),
        things.ask("written-again", "PUT", "/one", Changed("written", {})),
        things.merge("status-written", "one/status", {"status": {"phase": "Old"}}),
        things.merge("status-emptied", "one/status", {"status": None}),
        things.merge("labelled", "one", {"metadata": {"labels": {"a": "b"}}}),
        *(things.apply(f"applied-{number}", "three", spec={"a": 1}) for number in range(3)),
        things.apply("status-applied", "three", sub="/status", status={"observedGeneration": 1}),
        things.ask("deleted", "DELETE", "/three"),
    )


def _default_status_of_versions() -> Scenario:
    things = _Things("versions", an_object({"spec": FREE, "status": STATUS}))
    newer, older = (
        an_object(
            {
                "spec": an_object({"a": NUMBER, field: {"type": "string", "default": "x"}}),
                "status": STATUS,
            }
        )
        for field in ("new", "old")
    )
    versions = [
        version("v1", newer, subresources={"status": {}}),
        version("v1beta1", older, storage=False, subresources={"status": {}}),
    ]
    document = {**things.document, "spec": {**things.document["spec"], "versions": versions}}
    old = things.path.replace("/v1/", "/v1beta1/")
    body = {**things.object("one", spec={"a": 1}), "apiVersion": f"{things.group}/v1beta1"}
    return Scenario(
        name="edges/default-status-of-versions",
        requests=(
            *define(document, things.path, old),
            Request(name="created", method="POST", path=old, body=body),
            things.get("read-as-new", "one"),
            Request(name="read", method="GET", path=f"{old}/one"),
            Request(name="written", method="PUT", path=f"{old}/one", body=Changed("read", {})),
            Request(
                name="written-again",
                method="PUT",
                path=f"{old}/one",
                body=Changed("written", {}),
            ),
            *(
                Request(
                    name=f"applied-{number}",
                    method="PATCH",
                    path=f"{old}/two?fieldManager=me",
                    body={**body, "metadata": {"name": "two"}},
                    headers={"Content-Type": APPLY_PATCH},
                )
                for number in range(3)
            ),
            things.get("applied-as-new", "two"),
        ),
    )


def _nulls() -> Scenario:
    things = _Things("nulls", an_object({"spec": APPLIED}))
    whole: Json = {"count": 1, "part": {"x": "1"}, "list": ["a"], "bare": {}, "map": {"a": "b"}}
    return things.scenario(
        "applied-nulls",
        *(things.apply(f"new-{name}", f"new-{name}", spec=spec) for name, spec in NULLS.items()),
        things.apply("made", "old", spec=whole),
        *(
            things.apply(f"over-{name}", "old", by="other", spec=spec)
            for name, spec in NULLS.items()
        ),
        things.get("at-last", "old"),
    )


def _dropped() -> Scenario:
    things = _Things(
        "dropped",
        an_object({"spec": APPLIED, "status": an_object({})}),
        subresources={"status": {}},
    )
    lost: Json = {"lost": 1}
    spec: Json = {"count": 1, "bare": lost}
    return things.scenario(
        "applied-and-dropped",
        things.apply("made", "one", spec={"count": 1}),
        *(things.apply(f"applied-{number}", "one", spec=spec) for number in range(2)),
        things.get("read", "one"),
        things.apply("given-up", "one", spec={"count": 1}),
        things.apply("new", "two", spec=spec),
        things.apply("status-of-main", "one", by="other", status={"lost": 1}),
        *things.in_turn(
            *(
                things.apply(f"status-{number}", "one", sub="/status", by="other", status=lost)
                for number in range(2)
            ),
            # None of these changes anything, but the first one is a write.
            *(things.merge(f"unchanged-{number}", "one", {}) for number in range(2)),
            things.apply("lost-again", "one", spec=spec),
            *(things.merge(f"status-unchanged-{number}", "one/status", {}) for number in range(2)),
            things.apply("lost-at-first", "three", spec=spec),
            *(things.merge(f"three-unchanged-{number}", "three", {}) for number in range(2)),
        ),
        things.get("at-last", "one"),
    )


def _booleans() -> Scenario:
    things = _Things("booleans", an_object({"spec": FREE}))
    path = f"{DEFINITIONS}/{things.document['metadata']['name']}"
    stricter = {"x-kubernetes-preserve-unknown-fields": True, "enum": ["fine"]}
    where = "spec.versions.0.schema.openAPIV3Schema.properties.spec.properties"

    def is_stricter(answer: Answer) -> bool:
        return answer.status == 422

    return things.scenario(
        "booleans",
        *(things.create(name, name, spec={"x": value, "y": 1}) for name, value in LIKE.items()),
        things.merge("generation", "zero", {"spec": {"y": True}}),
        things.merge("no-generation", "zero", {"spec": {"y": True}}),
        things.apply("applied-number", "applied", spec={"y": 1}),
        things.apply("applied-boolean", "applied", spec={"y": True}),
        Request(
            name="stricter",
            method="PUT",
            path=path,
            body=Changed("established", {where: {"x": stricter}}),
        ),
        replace(things.create("refused", "new", "?dryRun=All", spec={"x": 0}), until=is_stricter),
        *(
            things.merge(f"{before}-to-{after}", f"{before}?dryRun=All", {"spec": {"x": value}})
            for before in LIKE
            for after, value in LIKE.items()
        ),
    )


def _whole_floats() -> Scenario:
    things = _Things(
        "floats", an_object({"spec": FREE, "status": FREE}), subresources={"status": {}}
    )
    old: Json = {"a": 1, "list": [1, 2.5], "map": {"x": 3}}
    new: dict[str, Json] = {
        "same": {"a": 1},
        "pointed": {"a": 1.0},
        "in-list": {"list": [1.0, 2.5]},
        "in-map": {"map": {"x": 3.0}},
        "added": {"b": 5.0},
    }
    return things.scenario(
        "whole-floats",
        things.create("created", "one", spec={**old, "a": 1.0}),
        *(things.merge(name, "one", {"spec": spec}) for name, spec in new.items()),
        things.merge("labelled", "one", {"metadata": {"labels": {"version": "1.0"}}}),
        *(
            things.merge(f"status-{number}", "one/status", {"status": {"x": 1.0}})
            for number in range(2)
        ),
        things.merge("status-of-main", "one", {"status": {"x": 1.0}}),
        things.ask("written", "PUT", "/one", Changed("status-of-main", {"spec.a": 1.0})),
        things.apply("applied", "two", spec={"a": 1}),
        things.apply("applied-pointed", "two", spec={"a": 1.0}),
        things.apply(
            "applied-with-more",
            "two",
            spec={"a": 1.0},
            metadata={"name": "two", "labels": {"a": "b"}},
        ),
    )


def _columns() -> Scenario:
    columns = [
        {"name": f"column-{number}", "type": "string", "jsonPath": path}
        for number, path in enumerate(PATHS)
    ]
    things = _Things("columns", an_object({"spec": FREE}), additionalPrinterColumns=columns)
    spec: Json = {"list": [{"a": "b"}, 2], "parts": [{"size": 3}], "empty": []}
    return things.scenario(
        "columns",
        things.create("created", "one", spec=spec),
        things.ask("table", "GET", "", headers={"Accept": TABLE}),
    )


def _scopes() -> Iterator[Scenario]:
    for scope in ("Namespaced", "Cluster"):
        things = _Things(scope.lower(), an_object({"spec": FREE}), scope=scope)
        places = {"inside": f"{things.root}/namespaces/default", "outside": things.root}
        requests: list[Request] = []
        for place, root in places.items():
            for plural in ("things", "nothings"):
                paths = {"all": f"{root}/{plural}", "one": f"{root}/{plural}/one"}
                requests += [
                    Request(
                        name=f"{method.lower()}-{plural}-{what}-{place}",
                        method=method,
                        path=path,
                        body=things.object("one") if method in ("POST", "PUT") else None,
                    )
                    for what, path in paths.items()
                    for method in ("GET", "HEAD", "PUT", "DELETE", "POST")
                ]
        others = {
            "version": things.root.replace("/v1", "/v2"),
            "resource-of-version": f"{things.root.replace('/v1', '/v2')}/things",
            "namespaces": f"{things.root}/namespaces",
            "namespace": f"{things.root}/namespaces/default",
            "watch": f"{things.root}/watch/nothings",
            "subresource": f"{things.path}/one/surprise",
            "beyond-subresource": f"{things.path}/one/surprise/more",
        }
        more = (Request(name=name, method="GET", path=path) for name, path in others.items())
        yield things.scenario(f"paths-{scope.lower()}", *requests, *more)


def _jobs() -> Scenario:
    name = "edges/job-labels"
    namespace = slug(name)
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    labels: dict[str, tuple[Json, Json]] = {
        "none": (None, None),
        "of-template": (None, {"a": "b"}),
        "same": ({"a": "b"}, {"a": "b"}),
        "other": ({"c": "d"}, {"a": "b"}),
        "only-own": ({"c": "d"}, None),
    }

    def job(case: str) -> Json:
        own, of_template = labels[case]
        pod = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}]}
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": case, **({"labels": own} if own else {})},
            "spec": {
                "template": {
                    **({"metadata": {"labels": of_template}} if of_template else {}),
                    "spec": pod,
                }
            },
        }

    applied = {"Content-Type": APPLY_PATCH}
    return Scenario(
        name=name,
        namespace=namespace,
        requests=(
            *(Request(name=case, method="POST", path=path, body=job(case)) for case in labels),
            *(
                Request(
                    name=f"{case}-generated",
                    method="POST",
                    path=path,
                    body={**job(case), "metadata": {"generateName": "made-"}},
                )
                for case in ("none", "of-template")
            ),
            Request(
                name="applied",
                method="PATCH",
                path=f"{path}/applied?fieldManager=me",
                body={**job("same"), "metadata": {"name": "applied", "labels": {"a": "b"}}},
                headers=applied,
            ),
        ),
    )
