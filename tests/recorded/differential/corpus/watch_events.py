"""Watches whose events have causes specific to one kind."""

from collections.abc import Iterator, Mapping

from tests.recorded.differential.corpus.definitions import (
    DEFINITIONS,
    OLD_WIDGET,
    SETUP_OTHERS,
    SETUP_WIDGETS,
    TRINKET,
    WIDGET,
    an_object,
    definition,
    is_established,
    is_found,
    version,
)
from tests.recorded.differential.corpus.kinds import Kind, Place, builtin_kinds
from tests.recorded.differential.scenario import Changed, Json, Request, Scenario, slug

SINCE = {"resourceVersion": "{{first.metadata.resourceVersion}}"}
METADATA_ONLY = {"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
INITIAL = {
    "sendInitialEvents": "true",
    "resourceVersionMatch": "NotOlderThan",
    "allowWatchBookmarks": "true",
}
IMAGE = "example.com/main:1"


def scenarios() -> Iterator[Scenario]:
    """Scenarios about watches with selectors."""
    yield _pods()
    yield _ends_of_pods()
    yield _namespaces()
    for title, (path, values) in FIELDS.items():
        yield _fields(builtin_kinds()[title], path, values)
    yield _widgets_of_two_versions()
    yield _selectable_fields()
    yield _alike_versions()
    yield _scaled()
    yield _end_of_a_definition()
    yield _everything_at_once()


# Fields for field selectors, and successive values of an object.
FIELDS: Mapping[str, tuple[str, tuple[Json, Json]]] = {
    "core/v1/nodes": ("spec.unschedulable", (True, False)),
    "core/v1/services": ("spec.type", ("ExternalName", "ClusterIP")),
    "core/v1/events": ("type", ("Normal", "Warning")),
}


def _fields(kind: Kind, path: str, values: tuple[Json, Json]) -> Scenario:
    at = Place(kind, "watch/fields")
    before, after = values
    step, _, field = path.rpartition(".")

    def changed(value: Json) -> Json:
        more = {"externalName": "x.example.com", "clusterIP": None} if field == "type" else {}
        return {step: {field: value, **more}} if step else {field: value}

    shown = {True: "true", False: "false"}.get(after, after)
    return at.scenario(
        at.create("first", at.object("first")),
        at.follow("chosen", ("ADDED", "last"), {**SINCE, "fieldSelector": f"{path}={shown}"}),
        at.follow("others", ("ADDED", "last"), {**SINCE, "fieldSelector": f"{path}!=none"}),
        at.create("created", at.object("one")),
        at.patch("other-value", "one", changed(before)),
        at.patch("value", "one", changed(after)),
        at.patch("label", "one", {"metadata": {"labels": {"x": "1"}}}),
        at.patch("other-value-again", "one", changed(before)),
        at.delete("deleted", "one"),
        at.create("last", at.object("last", {path: after})),
    )


def _pod(at: Place, short: str, **spec: Json) -> Json:
    containers = [{"name": "main", "image": IMAGE}]
    return at.bare(short, {"labels": {"app": short}}, spec={"containers": containers, **spec})


def _pods() -> Scenario:
    at = Place(builtin_kinds()["core/v1/pods"], "watch/fields")
    end = ("ADDED", "last")
    selectors = {
        "running": "status.phase=Running",
        "not-pending": "status.phase!=Pending",
        "on-node": "spec.nodeName=somewhere",
        "unscheduled": "spec.nodeName=",
        "never": "spec.restartPolicy=Never",
        "scheduler": "spec.schedulerName=default-scheduler,status.phase=Pending",
    }

    def phase(name: str, value: str) -> Request:
        return at.patch(name, "one", {"status": {"phase": value}}, sub="status")

    target = {"apiVersion": "v1", "kind": "Node", "name": "somewhere"}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "one"}, "target": target}
    ends = {"unscheduled": ("DELETED", "one"), "scheduler": ("DELETED", "one")}
    last = _pod(at, "last", nodeName="somewhere", restartPolicy="Never")
    return at.scenario(
        at.create("first", _pod(at, "first")),
        *(
            at.follow(case, ends.get(case, end), {**SINCE, "fieldSelector": selector})
            for case, selector in selectors.items()
            if case in ends or case in ("on-node", "never")
        ),
        *(
            at.follow(case, ("DELETED", "one"), {**SINCE, "fieldSelector": selectors[case]})
            for case in ("running", "not-pending")
        ),
        at.create("created", _pod(at, "one")),
        Request(name="bound", method="POST", path=at.path("one", sub="binding"), body=binding),
        phase("runs", "Running"),
        phase("done", "Succeeded"),
        at.delete("deleted", "one"),
        at.delete("at-once", "one", {"gracePeriodSeconds": 0}),
        at.create("last", last),
    )


def _ends_of_pods() -> Scenario:
    at = Place(builtin_kinds()["core/v1/pods"], "watch/ends")
    node = {"nodeName": "somewhere"}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "evicted"}}
    path = at.path("evicted", sub="eviction")
    return at.scenario(
        at.create("first", _pod(at, "first", **node)),
        at.follow("all", ("ADDED", "last"), SINCE),
        at.follow("metadata", ("ADDED", "last"), SINCE, headers=METADATA_ONLY),
        at.delete("asked", "first"),
        at.delete("sooner", "first", {"gracePeriodSeconds": 1}),
        at.patch("changed", "first", {"metadata": {"labels": {"late": "yes"}}}),
        at.delete("at-once", "first", {"gracePeriodSeconds": 0}),
        at.create("evicted", _pod(at, "evicted")),
        Request(name="evicts", method="POST", path=path, body=eviction),
        at.create("a", _pod(at, "a", **node)),
        at.create("b", _pod(at, "b")),
        at.delete("all-deleted", None),
        at.delete("all-at-once", None, {"gracePeriodSeconds": 0}),
        at.create("last", _pod(at, "last")),
    )


def _namespaces() -> Scenario:
    at = Place(builtin_kinds()["core/v1/namespaces"], "watch/ends")
    terminating = {**SINCE, "fieldSelector": "status.phase=Terminating"}
    active = {**SINCE, "fieldSelector": "status.phase=Active"}
    return at.scenario(
        at.create("first", at.object("first")),
        at.follow("all", ("ADDED", "last"), SINCE),
        at.follow("active", ("ADDED", "last"), active),
        at.follow("terminating", ("DELETED", "first"), terminating),
        at.delete("deleted", "first"),
        at.get("now", "first"),
        at.update("let-go", "first", Changed("now", {"spec.finalizers": []}), sub="finalize"),
        at.get("gone", "first"),
        at.create("last", at.object("last")),
    )


def _widgets_of_two_versions() -> Scenario:
    at = Place(WIDGET, "watch/versions", needs=(SETUP_WIDGETS,))
    old = Place(OLD_WIDGET, "watch/versions", within=at.slug)
    end = ("DELETED", "one")
    return at.scenario(
        at.create("first", at.bare("first", spec={"size": 1})),
        at.follow("new", end, SINCE),
        old.follow("old", end, SINCE),
        old.follow("old-initial", end, INITIAL),
        old.follow("old-metadata", end, SINCE, headers=METADATA_ONLY),
        at.create("created", at.bare("one", spec={"size": 2, "tags": ["a"]})),
        at.patch("changed", "one", {"spec": {"size": 3}}),
        old.create("created-as-old", old.bare("two", spec={"size": 4})),
        old.delete("deleted-as-old", "two"),
        at.patch("status", "one", {"status": {"ready": 1}}, sub="status"),
        at.delete("deleted", "one"),
    )


def _selectable_fields() -> Scenario:
    at = Place(WIDGET, "watch/selectable-fields", needs=(SETUP_WIDGETS,))
    end = ("ADDED", "last")
    blue = {"fieldSelector": "spec.color=blue"}
    return at.scenario(
        at.create("first", at.bare("first", spec={"size": 1, "color": "blue"})),
        at.follow("blue", end, {**SINCE, **blue}),
        at.follow("not-red", end, {**SINCE, "fieldSelector": "spec.color!=red"}),
        at.follow("blue-and-large", end, {**SINCE, "fieldSelector": "spec.color=blue,spec.size=9"}),
        at.follow("initial-blue", end, {**INITIAL, **blue}),
        at.follow("metadata-blue", end, {**SINCE, **blue}, headers=METADATA_ONLY),
        at.create("created", at.bare("one", spec={"size": 1})),
        at.patch("enters", "one", {"spec": {"color": "blue"}}),
        at.patch("grows", "one", {"spec": {"size": 9}}),
        at.patch("leaves", "one", {"spec": {"color": "green"}}),
        at.patch("defaulted", "one", {"spec": {"color": None}}),
        at.patch("first-leaves", "first", {"spec": {"color": "red"}}),
        at.delete("deleted", "one"),
        at.create("last", at.bare("last", spec={"size": 9, "color": "blue"})),
    )


def _alike_versions() -> Scenario:
    at = Place(TRINKET, "watch/versions", needs=(SETUP_OTHERS,))
    first_version = Kind(
        api_version=TRINKET.api_version.replace("v2", "v1"),
        name=TRINKET.name,
        plural=TRINKET.plural,
        namespaced=True,
        verbs=TRINKET.verbs,
        subresources=TRINKET.subresources,
        sample={**TRINKET.sample, "apiVersion": TRINKET.api_version.replace("v2", "v1")},
    )
    other = Place(first_version, "watch/versions", within=at.slug)
    end = ("ADDED", "last")
    kept = {**SINCE, "fieldSelector": "spec.kept=here"}
    return at.scenario(
        at.create("first", at.object("first")),
        at.follow("second-version", end, SINCE),
        other.follow("first-version", end, SINCE),
        other.follow("first-version-kept", end, kept),
        other.follow("first-version-initial", end, INITIAL),
        other.create("created", other.object("one")),
        at.patch("changed", "one", {"spec": {"kept": "there"}}),
        other.apply("applied", "one", other.object("one"), force=True),
        at.apply("applied-as-second", "one", at.object("one"), manager="other", force=True),
        other.list("listed"),
        other.delete("collection", None),
        at.create("last", at.object("last")),
    )


def _scaled() -> Scenario:
    at = Place(builtin_kinds()["apps/v1/deployments"], "watch/scaled")
    end = ("ADDED", "last")
    status = {"status": {"replicas": 3, "observedGeneration": 1}}
    return at.scenario(
        at.create("first", at.object("first")),
        at.follow("all", end, SINCE),
        at.follow("metadata", end, SINCE, headers=METADATA_ONLY),
        at.patch("scaled", "first", {"spec": {"replicas": 3}}, sub="scale"),
        at.patch("same", "first", {"spec": {"replicas": 3}}, sub="scale"),
        at.patch("status", "first", status, sub="status"),
        at.patch("status-same", "first", status, sub="status"),
        at.patch("status-not-through-main", "first", {"status": {"replicas": 5}}),
        at.create("last", at.object("last")),
    )


def _end_of_a_definition() -> Scenario:
    """Watches end when the definition is deleted, after the deletion of each object."""
    group = f"{slug('watch/definition')}.example.com"
    document = definition(group, "things", "Thing", version("v1", an_object({})), scope="Cluster")
    kind = Kind(
        api_version=f"{group}/v1",
        name="Thing",
        plural="things",
        namespaced=False,
        verbs=WIDGET.verbs,
        subresources=frozenset(),
        sample={"apiVersion": f"{group}/v1", "kind": "Thing"},
    )
    at = Place(kind, "watch/definition")
    path = f"{DEFINITIONS}/{document['metadata']['name']}"
    return at.scenario(
        Request(name="defined", method="POST", path=DEFINITIONS, body=document),
        Request(name="established", method="GET", path=path, until=is_established),
        Request(name="served", method="GET", path=at.path(), until=is_found),
        at.create("first", at.object("first")),
        at.follow("all", ("DELETED", "last"), SINCE),
        at.create("last", at.object("last")),
        Request(name="undefined", method="DELETE", path=path),
    )


def _everything_at_once() -> Scenario:
    """Many changes in a row, and a watch that starts before each of them."""
    at = Place(builtin_kinds()["core/v1/configmaps"], "watch/row")
    requests = [at.create("first", at.object("first"))]
    for number in range(8):
        since = {"resourceVersion": f"{{{{{_step(number - 1)}.metadata.resourceVersion}}}}"}
        requests.append(at.follow(f"since-{number}", ("ADDED", "last"), since))
        body = {"data": {"text": str(number)}, "metadata": {"labels": {"n": str(number % 2)}}}
        requests.append(at.patch(_step(number), "first", body))
        odd = {**since, "labelSelector": "n=1"}
        requests.append(at.follow(f"odd-since-{number}", ("ADDED", "last"), odd))
    last = at.create("last", at.object("last", {"metadata.labels.n": "1"}))
    return at.scenario(*requests, at.delete("deleted", "first"), last)


def _step(number: int) -> str:
    return "first" if number < 0 else f"step-{number}"
