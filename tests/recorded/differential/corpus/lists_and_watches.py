"""Lists and watches: revisions, pages, selectors, and rejected combinations."""

from collections.abc import Iterator

from tests.recorded.differential.corpus.definitions import SETUP_WIDGETS, WIDGET
from tests.recorded.differential.corpus.kinds import Place, builtin_kinds
from tests.recorded.differential.scenario import Request, Scenario, slug

FUTURE = "999999999"


def scenarios() -> Iterator[Scenario]:
    """Scenarios about reads of a built-in and of a custom kind."""
    config_maps = builtin_kinds()["core/v1/configmaps"]
    for kind, needs in ((config_maps, ()), (WIDGET, (SETUP_WIDGETS,))):
        yield _revisions(Place(kind, "look/revisions", needs=needs))
        yield _pages(Place(kind, "look/pages", needs=needs))
        yield _labels(Place(kind, "look/labels", needs=needs))
        yield _fields(Place(kind, "look/fields", needs=needs))
        yield _watches(Place(kind, "look/watches", needs=needs))
        yield _refused_watches(Place(kind, "look/refused-watches", needs=needs))
        yield _watch_of_selection(Place(kind, "look/selection", needs=needs))
        yield _options(Place(kind, "look/options", needs=needs))
    yield _field_selectors()


def _three(at: Place) -> tuple[Request, ...]:
    return tuple(at.create(name, at.object(name)) for name in ("a", "b", "c"))


def _revisions(at: Place) -> Scenario:
    b, c = "{{b.metadata.resourceVersion}}", "{{c.metadata.resourceVersion}}"
    cases = {
        "not-older": (c, "NotOlderThan"),
        "exact": (c, "Exact"),
        "exact-before": (b, "Exact"),
        "exact-zero": ("0", "Exact"),
        "zero-not-older": ("0", "NotOlderThan"),
        "match-alone": ("", "Exact"),
        "not-older-alone": ("", "NotOlderThan"),
        "bad-match": (c, "Roughly"),
        "bad-version": ("x", ""),
        "negative-version": ("-1", ""),
        "version-alone": (c, ""),
        "any": ("0", ""),
    }
    requests: list[Request] = []
    for case, (version, match) in cases.items():
        query = {"resourceVersion": version, "resourceVersionMatch": match}
        requests.append(at.list(case, {key: value for key, value in query.items() if value}))
    limited = {"resourceVersion": c, "limit": "1"}
    return at.scenario(
        *_three(at),
        *requests,
        at.list("limited-version", limited),
        at.list("limited-exact", {**limited, "resourceVersionMatch": "Exact"}),
        at.list("limited-any", {"resourceVersion": "0", "limit": "1"}),
        at.list("future", {"resourceVersion": FUTURE, "timeoutSeconds": "1"}),
        at.list("future-exact", {"resourceVersion": FUTURE, "resourceVersionMatch": "Exact"}),
        at.get("get-future", "a", query={"resourceVersion": FUTURE}),
        at.get("get-match", "a", query={"resourceVersion": c, "resourceVersionMatch": "Exact"}),
    )


def _pages(at: Place) -> Scenario:
    one = "{{one.metadata.continue}}"
    return at.scenario(
        *(at.create(name, at.object(name)) for name in ("a", "b", "c", "d", "e")),
        at.list("one", {"limit": "2"}),
        at.create("meanwhile", at.object("aa")),
        at.delete("deleted", "e"),
        at.list("two", {"limit": "2", "continue": one}),
        at.list("three", {"limit": "2", "continue": "{{two.metadata.continue}}"}),
        at.list("rest", {"continue": one}),
        at.list("again", {"limit": "1", "continue": one}),
        at.list("exactly", {"limit": "5"}),
        at.list("more", {"limit": "500"}),
        at.list("zero", {"limit": "0"}),
        at.list("negative", {"limit": "-1"}),
        at.list("not-a-number", {"limit": "x"}),
        at.list("bad-token", {"limit": "2", "continue": "nonsense"}),
        at.list("bad-token-inside", {"limit": "2", "continue": "eyJ2IjoiYmFkIn0"}),
        at.list("token-and-version", {"limit": "2", "continue": one, "resourceVersion": "5"}),
        at.list("token-and-zero", {"limit": "2", "continue": one, "resourceVersion": "0"}),
        at.list("token-and-match", {"continue": one, "resourceVersionMatch": "Exact"}),
        at.list("selected", {"limit": "1", "fieldSelector": "metadata.name!=a"}),
        at.delete("collection-page", None, None, {"limit": "2"}),
        at.list("after-collection-page"),
    )


def _labels(at: Place) -> Scenario:
    labels = {
        "a": {"tier": "front", "env": "prod"},
        "b": {"tier": "back", "env": "prod", "canary": ""},
        "c": {"tier": "front", "example.com/x": "y"},
        "d": {},
    }
    cases = {
        "equals": "tier=front",
        "double-equals": "tier==front",
        "not-equals": "tier!=front",
        "in": "tier in (front,back)",
        "in-one": "tier in (front)",
        "notin": "tier notin (front)",
        "exists": "tier",
        "not-exists": "!tier",
        "empty-value": "canary=",
        "prefixed": "example.com/x=y",
        "both": "tier=front,env=prod",
        "contradiction": "tier=front,tier=back",
        "greater": "tier>1",
        "spaces": " tier = front , env in ( prod , dev ) ",
        "empty": "",
        "bad-key": "bad key=x",
        "bad-value": "tier=bad!value",
        "no-values": "tier in ()",
        "unclosed": "tier in (a",
        "comma-only": ",",
        "bad-operator": "tier~front",
        "bad-number": "tier>x",
        "long-value": f"tier={'v' * 64}",
        "two-signs": "tier=a=b",
    }
    return at.scenario(
        *(
            at.create(name, at.object(name, {"metadata.labels": {"scenario": at.slug, **each}}))
            for name, each in labels.items()
        ),
        *(at.list(case, {"labelSelector": selector}) for case, selector in cases.items()),
    )


def _fields(at: Place) -> Scenario:
    cases = {
        "name": "metadata.name=a",
        "name-double": "metadata.name==a",
        "not-name": "metadata.name!=a",
        "namespace": f"metadata.namespace={at.slug}",
        "other-namespace": "metadata.namespace=elsewhere",
        "both": f"metadata.name=a,metadata.namespace={at.slug}",
        "missing": "metadata.name=none",
        "unknown": "data.a=1",
        "metadata-unknown": "metadata.uid=x",
        "no-operator": "metadata.name",
        "empty": "",
        "empty-value": "metadata.name=",
        "escaped": "metadata.name=a\\,b",
        "bad-escape": "metadata.name=a\\b",
        "in": "metadata.name in (a)",
    }
    return at.scenario(
        *_three(at),
        *(at.list(case, {"fieldSelector": selector}) for case, selector in cases.items()),
        Request(
            name="everywhere",
            method="GET",
            path=f"{at.kind.root}/{at.kind.plural}"
            f"?fieldSelector=metadata.namespace%3D{at.slug}&labelSelector=scenario%3D{at.slug}",
        ),
    )


def _watches(at: Place) -> Scenario:
    a = "{{a.metadata.resourceVersion}}"
    initial = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
    return at.scenario(
        *_three(at),
        at.patch("changed", "b", {"metadata": {"labels": {"x": "1"}}}),
        at.delete("deleted", "c"),
        at.create("c-again", at.object("c")),
        at.list("caught-up", {"resourceVersion": "{{c-again.metadata.resourceVersion}}"}),
        at.watch("since-a", {"resourceVersion": a}),
        at.watch("since-last", {"resourceVersion": "{{c-again.metadata.resourceVersion}}"}),
        at.watch("from-zero", {"resourceVersion": "0"}),
        at.watch("from-now"),
        at.watch("one-name", {"resourceVersion": a, "fieldSelector": "metadata.name=b"}),
        at.watch("initial", {**initial, "allowWatchBookmarks": "true"}),
        at.watch("initial-since", {**initial, "allowWatchBookmarks": "true", "resourceVersion": a}),
        at.watch(
            "initial-from-zero", {**initial, "allowWatchBookmarks": "true", "resourceVersion": "0"}
        ),
        at.watch(
            "initial-selected",
            {**initial, "allowWatchBookmarks": "true", "fieldSelector": "metadata.name=b"},
        ),
        at.watch(
            "initial-of-none",
            {**initial, "allowWatchBookmarks": "true", "labelSelector": "none=none"},
        ),
        at.watch("no-initial", {**initial, "sendInitialEvents": "false", "resourceVersion": a}),
        at.list(
            "metadata-only",
            {"watch": "true", "timeoutSeconds": "1", "resourceVersion": a},
            headers={"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"},
        ),
        Request(
            name="old-style",
            method="GET",
            path=at.path(query={"resourceVersion": a, "timeoutSeconds": "1"}).replace(
                f"{at.kind.root}/", f"{at.kind.root}/watch/"
            ),
        ),
    )


def _refused_watches(at: Place) -> Scenario:
    cases = {
        "bad-version": {"resourceVersion": "x"},
        "future": {"resourceVersion": FUTURE},
        "initial-without-match": {"sendInitialEvents": "true"},
        "initial-exact": {"sendInitialEvents": "true", "resourceVersionMatch": "Exact"},
        "initial-without-bookmarks": {
            "sendInitialEvents": "true",
            "resourceVersionMatch": "NotOlderThan",
        },
        "match-without-initial": {"resourceVersionMatch": "NotOlderThan", "resourceVersion": "1"},
        "continue": {"continue": "x"},
        "limit": {"limit": "1", "resourceVersion": "0"},
        "bad-label": {"labelSelector": "a in b"},
        "bad-field": {"fieldSelector": "spec.odd=1"},
        "bad-timeout": {"timeoutSeconds": "x"},
    }
    return at.scenario(
        *(at.watch(case, query) for case, query in cases.items()),
        at.list("initial-list", {"sendInitialEvents": "true"}),
        at.list(
            "initial-list-match",
            {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"},
        ),
        at.list("watch-zero", {"watch": "0"}),
        at.list("watch-one", {"watch": "1", "timeoutSeconds": "1"}),
        at.list("watch-maybe", {"watch": "maybe", "timeoutSeconds": "1"}),
        at.get("watch-of-one", "none", query={"watch": "true", "timeoutSeconds": "1"}),
        at.list(
            "not-acceptable",
            {"watch": "true", "timeoutSeconds": "1"},
            headers={"Accept": "text/html"},
        ),
    )


def _watch_of_selection(at: Place) -> Scenario:
    def label(value: str | None) -> dict[str, dict[str, dict[str, str | None]]]:
        return {"metadata": {"labels": {"tier": value}}}

    since = {"resourceVersion": "{{one.metadata.resourceVersion}}"}
    return at.scenario(
        at.create("one", at.object("one")),
        at.patch("in", "one", label("front")),
        at.patch("still-in", "one", {"metadata": {"labels": {"x": "1"}}}),
        at.patch("out", "one", label("back")),
        at.patch("in-again", "one", label("front")),
        at.create("two", at.object("two", {"metadata.labels.tier": "front"})),
        at.delete("deleted", "one"),
        at.delete("two-deleted", "two"),
        at.watch("front", {**since, "labelSelector": "tier=front"}),
        at.watch("back", {**since, "labelSelector": "tier=back"}),
        at.watch("not-front", {**since, "labelSelector": "tier!=front"}),
    )


def _options(at: Place) -> Scenario:
    return at.scenario(
        at.create("one", at.object("one")),
        at.list("unknown-parameter", {"surprise": "1"}),
        at.list("pretty", {"pretty": "1"}),
        at.list("pretty-no", {"pretty": "0"}),
        at.get("exact-and-export", "one", query={"exact": "true", "export": "true"}),
        at.delete("bad-grace", "one", None, {"gracePeriodSeconds": "x"}),
        at.delete("bad-dry-run", "one", None, {"dryRun": "Some"}),
        at.delete("bad-orphan", "one", None, {"orphanDependents": "perhaps"}),
        at.delete("deleted-with-empty-options", "one", {}),
    )


SELECTORS: dict[str, tuple[str, ...]] = {
    "core/v1/secrets": ("type=Opaque", "type!=Opaque", "data=x"),
    "core/v1/namespaces": ("status.phase=Active", "status.phase=Terminating", "spec.x=1"),
    "core/v1/nodes": ("spec.unschedulable=false", "spec.unschedulable=true"),
    "core/v1/events": (
        "involvedObject.name=x",
        "reason=Sampled,type=Normal",
        "involvedObject.kind!=Pod",
        "source=y",
    ),
    "core/v1/services": ("spec.clusterIP=None", "spec.type=ClusterIP", "spec.ports=1"),
    "core/v1/replicationcontrollers": ("status.replicas=0",),
    "apps/v1/replicasets": ("status.replicas=0", "status.replicas=1"),
    "apps/v1/deployments": ("status.replicas=0",),
    "batch/v1/jobs": ("status.successful=0", "status.successful=1"),
    "certificates.k8s.io/v1/certificatesigningrequests": ("spec.signerName=example.com/sample",),
    "coordination.k8s.io/v1/leases": ("spec.holderIdentity=x",),
    "events.k8s.io/v1/events": ("regarding.name=x", "reportingController=example.com/sample"),
}


def _field_selectors() -> Scenario:
    name = "look/field-selectors"
    requests: list[Request] = []
    for title, selectors in SELECTORS.items():
        at = Place(builtin_kinds()[title], name, within=slug(name))
        short = title.replace("/", "-").replace(".", "-")
        requests.append(at.create(short, at.object(short)))
        requests += [
            at.list(f"{short}-{number}", {"fieldSelector": selector})
            for number, selector in enumerate(selectors)
        ]
    return Scenario(name=name, namespace=slug(name), requests=tuple(requests))
