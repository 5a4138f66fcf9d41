"""Every verb with each of its options, for each kind in turn."""

import json
from collections.abc import Callable, Iterator

from tests.recorded.differential.corpus.kinds import (
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    YAML,
    Kind,
    Place,
    as_yaml,
)
from tests.recorded.differential.scenario import GONE, Changed, Json, Raw, Request, Scenario

NO_UID = "00000000-0000-0000-0000-000000000000"

METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


# The real server itself writes to these shortly after a client's write, or notifies all watches:
# only rejections and immediate responses are deterministic.
ONLY = {
    "apiextensions.k8s.io/v1/customresourcedefinitions": {"create-refused"},
    "apiregistration.k8s.io/v1/apiservices": {"create-refused"},
    "flowcontrol.apiserver.k8s.io/v1/flowschemas": {"create", "create-refused"},
}


def scenarios_about(kind: Kind, *, needs: tuple[str, ...] = ()) -> Iterator[Scenario]:
    """The scenarios for any kind."""
    chapters: dict[str, Callable[[Place], Iterator[Request]]] = {
        "create": creating,
        "create-refused": creating_wrongly,
        "read": reading,
        "list": listing,
        "update": updating,
        "patch": patching,
        "apply": applying,
        "delete": deleting,
        "watch": watching,
    }
    if "deletecollection" in kind.verbs:
        chapters["collection"] = deleting_many
    if "status" in kind.subresources:
        chapters["status"] = the_status
    if "scale" in kind.subresources:
        chapters["scale"] = scaling
    for title, chapter in chapters.items():
        if title in ONLY.get(kind.title, chapters):
            place = Place(kind, title, needs=needs)
            yield place.scenario(*chapter(place))


def creating(at: Place) -> Iterator[Request]:
    """Creations."""
    one = at.object("one")
    yield at.create("plain", one)
    yield at.create("again", one)
    yield at.create("dry-run", at.object("dry"), {"dryRun": "All"})
    yield at.get("after-dry-run", "dry")
    yield at.create("dry-run-of-existing", one, {"dryRun": "All"})
    yield at.create("bad-dry-run", at.object("dry"), {"dryRun": "Some"})
    generated = {"metadata.name": GONE, "metadata.generateName": f"{at.name('made')}-"}
    yield at.create("generated-name", at.object("x", generated))
    both = {"metadata.generateName": "ignored-"}
    yield at.create("name-and-generated-name", at.object("both", both))
    yield at.create("with-uid", at.object("uid", {"metadata.uid": NO_UID}))
    made_up = {
        "metadata.creationTimestamp": "2001-01-01T00:00:00Z",
        "metadata.generation": 7,
        "metadata.selfLink": "/nowhere",
        "metadata.deletionTimestamp": "2001-01-01T00:00:00Z",
        "metadata.deletionGracePeriodSeconds": 5,
    }
    yield at.create("with-made-up-metadata", at.object("made-up", made_up))
    yield at.create("field-manager", at.object("managed"), {"fieldManager": "tester"})
    yield at.create("without-kind", at.object("kindless", {"kind": GONE, "apiVersion": GONE}))
    yield at.create("yaml", as_yaml(at.object("yaml")), headers=_sends(YAML))
    unknown = {"surprise": 1, "metadata.surprise": {"a": 1}}
    for way in ("Strict", "Warn", "Ignore"):
        body = at.object(way.lower(), unknown)
        yield at.create(f"unknown-fields-{way.lower()}", body, {"fieldValidation": way})
    yield at.create("unknown-fields", at.object("unknown", unknown))
    doubled = b'{"kind":"%s",' % at.kind.name.encode() + _bytes(at.object("doubled"))[1:]
    for way in ("Strict", "Warn"):
        yield at.create(
            f"doubled-fields-{way.lower()}", Raw(doubled), {"fieldValidation": way, "dryRun": "All"}
        )
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": NO_UID}
    yield at.create("with-owner", at.object("owned", {"metadata.ownerReferences": [owner]}))


def creating_wrongly(at: Place) -> Iterator[Request]:
    """Rejected creations."""
    yield at.create("with-resource-version", at.object("one", {"metadata.resourceVersion": "1"}))
    yield at.create("wrong-kind", at.object("one", {"kind": "Mistake"}))
    yield at.create("wrong-group", at.object("one", {"apiVersion": "mistakes.example.com/v1"}))
    yield at.create(
        "wrong-version", at.object("one", {"apiVersion": f"{at.kind.api_version}beta9"})
    )
    strict = {"fieldValidation": "Strict"}
    newer = at.object("one", {"apiVersion": f"{at.kind.api_version}beta9"})
    yield at.create("wrong-version-strict", newer, strict)
    yield at.create("nameless", at.object("one", {"metadata.name": GONE}))
    yield at.create("empty-name", at.object("one", {"metadata.name": ""}))
    for case, name in {
        "underscore": "under_score",
        "slash": "a/b",
        "dots": "..",
        "percent": "a%b",
        "upper-case": "Upper",
        "long": "n" * 254,
        "trailing-dash": "name-",
    }.items():
        yield at.create(f"name-with-{case}", at.object("one", {"metadata.name": name}))
    yield at.create(
        "bad-generated-name",
        at.object("one", {"metadata.name": GONE, "metadata.generateName": "Bad_"}),
    )
    metadata = {
        "labels": {"bad key!": "bad value!"},
        "annotations": {"bad key!": "anything"},
        "finalizers": ["no-domain", "bad finalizer!/x"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "", "name": "", "uid": ""}],
    }
    for part, value in metadata.items():
        yield at.create(f"bad-{part.lower()}", at.object("one", {f"metadata.{part}": value}))
    yield at.create("all-bad", at.object("one", {f"metadata.{k}": v for k, v in metadata.items()}))
    yield at.create("slashed-label", at.object("one", {"metadata.labels": {"a/b/c": "x"}}))
    yield at.create("long-label", at.object("one", {"metadata.labels": {"ok": "v" * 64}}))
    yield at.create("labels-of-wrong-type", at.object("one", {"metadata.labels": "x"}))
    yield at.create("label-of-wrong-type", at.object("one", {"metadata.labels": {"a": 1}}))
    yield at.create("metadata-of-wrong-type", at.object("one", {"metadata": []}))
    yield at.create("name-of-wrong-type", at.object("one", {"metadata.name": 5}))
    yield at.create("malformed", Raw(b'{"kind": '))
    yield at.create("empty-body", Raw(b""))
    yield at.create("empty-object", {})
    yield at.create("list-as-body", [])
    yield at.create("text-as-body", "text")
    yield at.create("strange-content-type", at.object("one"), headers=_sends("text/plain"))
    yield at.create("bad-field-validation", at.object("one"), {"fieldValidation": "Sometimes"})
    yield at.create("long-field-manager", at.object("one"), {"fieldManager": "m" * 129})
    if at.kind.namespaced:
        yield at.create("wrong-namespace", at.object("one", {"metadata.namespace": "elsewhere"}))
        yield at.create("missing-namespace", at.object("one"), namespace="missing")
    else:
        yield at.create("with-namespace", at.object("one", {"metadata.namespace": "elsewhere"}))


def reading(at: Place) -> Iterator[Request]:
    """Reads of one object."""
    yield at.create("created", at.object("one"))
    yield at.get("found", "one")
    yield at.get("missing", "none")
    yield at.get("pretty", "one", query={"pretty": "true"})
    yield at.get("any-version", "one", query={"resourceVersion": "0"})
    version = "{{created.metadata.resourceVersion}}"
    yield at.get("at-least-version", "one", query={"resourceVersion": version})
    yield at.get("bad-version", "one", query={"resourceVersion": "x"})
    yield at.get("metadata-only", "one", headers={"Accept": METADATA_ONLY})
    yield at.get("not-acceptable", "one", headers={"Accept": "text/html"})
    yield at.get("second-choice", "one", headers={"Accept": "text/html,application/json;q=0.5"})
    yield at.get("anything", "one", headers={"Accept": "*/*"})
    yield at.get("as-yaml", "one", headers={"Accept": YAML})
    yield at.get("unknown-subresource", "one", sub="surprise")


def listing(at: Place) -> Iterator[Request]:
    """Lists."""
    yield at.list("none-yet")
    for name, tier in {"a": "front", "b": "back", "c": "front"}.items():
        labels = {"scenario": at.slug, "tier": tier}
        yield at.create(name, at.object(name, {"metadata.labels": labels}))
    last = "{{c.metadata.resourceVersion}}"
    # A request for at least the version of the last write waits for a lagging cache.
    yield at.list("not-older", {"resourceVersion": last, "resourceVersionMatch": "NotOlderThan"})
    yield at.list("all")
    yield at.list("any-version", {"resourceVersion": "0"})
    exact = {"resourceVersion": "{{b.metadata.resourceVersion}}", "resourceVersionMatch": "Exact"}
    yield at.list("exact", exact)
    yield at.list("first-page", {"limit": "2"})
    yield at.list("second-page", {"limit": "2", "continue": "{{first-page.metadata.continue}}"})
    yield at.list("label", {"labelSelector": "tier=front"})
    yield at.list("label-page", {"labelSelector": "tier=front", "limit": "1"})
    yield at.list("label-in", {"labelSelector": "tier in (back, side)"})
    yield at.list("label-bad", {"labelSelector": "tier in back"})
    yield at.list("field-name", {"fieldSelector": f"metadata.name={at.name('b')}"})
    yield at.list("field-name-not", {"fieldSelector": f"metadata.name!={at.name('b')}"})
    yield at.list("field-unknown", {"fieldSelector": "spec.surprise=1"})
    yield at.list("field-bad", {"fieldSelector": "nonsense"})
    yield at.list("metadata-only", headers={"Accept": METADATA_LIST_ONLY})


def updating(at: Place) -> Iterator[Request]:
    """Updates."""
    yield at.create("created", at.object("one"))
    yield at.update("nothing-new", "one", Changed("created", {}))
    yield at.update("plain", "one", Changed("created", {"metadata.labels.new": "yes"}))
    yield at.update("stale", "one", Changed("created", {"metadata.labels.new": "no"}))
    without_version = {"metadata.resourceVersion": GONE, "metadata.labels.newer": "yes"}
    yield at.update("without-version", "one", Changed("plain", without_version))
    yield at.get("now", "one")
    yield at.update(
        "dry-run", "one", Changed("now", {"metadata.labels.dry": "yes"}), {"dryRun": "All"}
    )
    refused: dict[str, dict[str, Json]] = {
        "other-uid": {"metadata.uid": NO_UID},
        "no-uid": {"metadata.uid": GONE},
        "other-name": {"metadata.name": "other"},
        "no-name": {"metadata.name": GONE},
        "other-namespace": {"metadata.namespace": "elsewhere"},
        "other-kind": {"kind": "Mistake"},
        "bad-version": {"metadata.resourceVersion": "x"},
        "bad-label": {"metadata.labels": {"bad key!": "x"}},
        "unknown-field": {"surprise": True},
    }
    for case, changes in refused.items():
        yield at.update(case, "one", Changed("now", changes))
    ignored: dict[str, dict[str, Json]] = {
        "other-creation": {"metadata.creationTimestamp": "2001-01-01T00:00:00Z"},
        "other-deletion": {"metadata.deletionTimestamp": "2001-01-01T00:00:00Z"},
        "other-generation": {"metadata.generation": 99},
        "no-managed-fields": {"metadata.managedFields": []},
        "bad-managed-fields": {"metadata.managedFields": [{"operation": "Guess"}]},
    }
    for case, changes in ignored.items():
        anyhow = {**changes, "metadata.resourceVersion": GONE}
        yield at.update(case, "one", Changed("now", anyhow))
    yield at.update("missing", "none", at.object("none"))
    yield at.update(
        "missing-with-version", "none", at.object("none", {"metadata.resourceVersion": "5"})
    )
    yield at.update("missing-with-uid", "none", at.object("none", {"metadata.uid": NO_UID}))
    yield at.update(
        "field-manager",
        "one",
        Changed("now", {"metadata.resourceVersion": GONE, "metadata.labels.managed": "yes"}),
        {"fieldManager": "tester"},
    )
    yield at.update("malformed", "one", Raw(b"{"))


def patching(at: Place) -> Iterator[Request]:
    """Patches."""

    def labels(**values: str | None) -> dict[str, dict[str, dict[str, str | None]]]:
        return {"metadata": {"labels": values}}

    yield at.create("created", at.object("one"))
    yield at.patch("merge", "one", labels(a="1", b="2"))
    yield at.patch("merge-null", "one", labels(a=None))
    yield at.patch("merge-nothing-new", "one", labels(b="2"))
    yield at.patch("merge-empty", "one", {})
    yield at.patch("merge-list", "one", [])
    yield at.patch("merge-malformed", "one", Raw(b"{"))
    yield at.patch("merge-dry-run", "one", labels(dry="yes"), query={"dryRun": "All"})
    yield at.patch("merge-wrong-type", "one", {"metadata": {"labels": {"a": 1}}})
    yield at.patch("merge-unknown", "one", {"surprise": 1})
    yield at.patch(
        "merge-unknown-strict", "one", {"surprise": 1}, query={"fieldValidation": "Strict"}
    )
    yield at.patch("merge-other-name", "one", {"metadata": {"name": "other"}})
    yield at.patch("merge-other-uid", "one", {"metadata": {"uid": NO_UID}})
    yield at.patch("merge-other-kind", "one", {"kind": "Mistake"})
    stale = {"metadata": {"resourceVersion": "{{created.metadata.resourceVersion}}"}}
    yield at.patch("merge-stale", "one", {"metadata": {**stale["metadata"], "labels": {"s": "1"}}})
    yield at.patch("merge-no-finalizers", "one", {"metadata": {"finalizers": None}})
    json_patches = {
        "add": [{"op": "add", "path": "/metadata/labels/c", "value": "3"}],
        "replace": [{"op": "replace", "path": "/metadata/labels/c", "value": "4"}],
        "copy": [{"op": "copy", "from": "/metadata/labels/c", "path": "/metadata/labels/d"}],
        "move": [{"op": "move", "from": "/metadata/labels/d", "path": "/metadata/labels/e"}],
        "test": [{"op": "test", "path": "/metadata/labels/e", "value": "4"}],
        "remove": [{"op": "remove", "path": "/metadata/labels/e"}],
        "test-fails": [{"op": "test", "path": "/metadata/labels/c", "value": "other"}],
        "remove-missing": [{"op": "remove", "path": "/metadata/labels/none"}],
        "replace-missing": [{"op": "replace", "path": "/metadata/labels/none", "value": "x"}],
        "bad-path": [{"op": "add", "path": "/surprise/inside", "value": 1}],
        "bad-op": [{"op": "guess", "path": "/metadata/labels/c"}],
        "no-list": {"op": "add"},
        "nothing": [],
    }
    for case, body in json_patches.items():
        yield at.patch(f"json-{case}", "one", body, sends=JSON_PATCH)
    yield at.patch("strategic", "one", labels(f="6"), sends=STRATEGIC_PATCH)
    yield at.patch("strategic-null", "one", labels(f=None), sends=STRATEGIC_PATCH)
    finalizers = {"metadata": {"finalizers": ["example.com/hold"]}}
    yield at.patch("strategic-list", "one", finalizers, sends=STRATEGIC_PATCH)
    dropped = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/hold"]}}
    yield at.patch("strategic-drop", "one", dropped, sends=STRATEGIC_PATCH)
    replaced = {"metadata": {"labels": {"$patch": "replace", "scenario": at.slug}}}
    yield at.patch("strategic-replace", "one", replaced, sends=STRATEGIC_PATCH)
    yield at.patch("plain-json", "one", labels(x="1"), sends="application/json")
    yield at.patch("strange-type", "one", labels(x="1"), sends="text/plain")
    for sends, short in {MERGE_PATCH: "merge", STRATEGIC_PATCH: "strategic"}.items():
        yield at.patch(f"missing-{short}", "none", labels(x="1"), sends=sends)
    yield at.patch("missing-json", "none", [], sends=JSON_PATCH)


def applying(at: Place) -> Iterator[Request]:
    """Applies by several managers."""

    def labelled(**labels: str) -> Json:
        return at.bare("one", {"labels": {"scenario": at.slug, **labels}})

    whole = at.object("one", {"metadata.labels.a": "1", "metadata.labels.b": "2"})
    yield at.apply("created", "one", whole)
    yield at.apply("nothing-new", "one", whole)
    yield at.apply("second-manager", "one", labelled(c="3"), manager="other")
    yield at.apply("shared", "one", labelled(a="1"), manager="other")
    yield at.apply("conflict", "one", labelled(a="9", b="9"), manager="other")
    yield at.apply("forced", "one", labelled(a="9", b="2"), manager="other", force=True)
    yield at.apply("given-up", "one", at.object("one"))
    yield at.apply("other-gives-up", "one", at.bare("one"), manager="other")
    yield at.patch("merged-by-third", "one", {"metadata": {"labels": {"b": "7"}}})
    yield at.apply("conflict-with-update", "one", labelled(b="2"))
    yield at.apply("dry-run", "one", labelled(dry="yes"), query={"dryRun": "All"}, force=True)
    yield at.apply("without-manager", "one", whole, manager="")
    yield at.apply("empty-manager-forced", "one", whole, manager="", force=True)
    yield at.apply("managed-fields", "one", at.bare("one", {"managedFields": []}))
    yield at.apply(
        "managed-fields-inside", "one", at.bare("one", {"managedFields": [{"manager": "x"}]})
    )
    yield at.apply("other-uid", "one", at.bare("one", {"uid": NO_UID}))
    yield at.apply("stale", "one", at.bare("one", {"resourceVersion": "1", "labels": {"x": "1"}}))
    yield at.apply("other-name", "one", at.bare("two"))
    yield at.apply("no-name", "one", {**at.bare("one"), "metadata": {}})
    yield at.apply("no-kind", "one", {"metadata": {"name": at.name("one")}})
    yield at.apply("other-kind", "one", {**at.bare("one"), "kind": "Mistake"})
    yield at.apply("unknown-field", "one", {**at.bare("one"), "surprise": 1})
    yield at.apply("malformed", "one", Raw(b"a: b: c"))
    yield at.apply("missing-with-uid", "none", at.object("none", {"metadata.uid": NO_UID}))
    yield at.apply("yaml", "yaml", as_yaml(at.object("yaml")))
    yield at.get("at-last", "one")


def the_status(at: Place) -> Iterator[Request]:
    """The status subresource."""
    yield at.create("created", at.object("one"))
    yield at.get("read", "one", sub="status")
    yield at.get("missing", "none", sub="status")
    annotated = {"metadata.annotations": {"from": "status"}, "metadata.labels.more": "yes"}
    yield at.update("written", "one", Changed("created", annotated), sub="status")
    yield at.update("stale", "one", Changed("created", annotated), sub="status")
    yield at.patch("merged", "one", {"metadata": {"annotations": {"m": "1"}}}, sub="status")
    yield at.patch(
        "json",
        "one",
        [{"op": "add", "path": "/metadata/finalizers", "value": ["example.com/hold"]}],
        sends=JSON_PATCH,
        sub="status",
    )
    yield at.patch(
        "strategic",
        "one",
        {"metadata": {"labels": {"s": "1"}}},
        sends=STRATEGIC_PATCH,
        sub="status",
    )
    yield at.apply("applied", "one", at.bare("one", {"labels": {"applied": "1"}}), sub="status")
    yield at.patch("missing-merged", "none", {}, sub="status")
    yield at.update("missing-written", "none", at.object("none"), sub="status")
    yield Request(name="posted", method="POST", path=at.path("one", sub="status"), body={})
    yield Request(name="deleted", method="DELETE", path=at.path("one", sub="status"))
    yield at.get("at-last", "one")


def scaling(at: Place) -> Iterator[Request]:
    """The scale subresource."""
    yield at.create("created", at.object("one"))
    yield at.get("read", "one", sub="scale")
    yield at.get("missing", "none", sub="scale")
    yield at.update("written", "one", Changed("read", {"spec.replicas": 3}), sub="scale")
    yield at.update("stale", "one", Changed("read", {"spec.replicas": 4}), sub="scale")
    yield at.patch("merged", "one", {"spec": {"replicas": 5}}, sub="scale")
    yield at.patch("nothing-new", "one", {"spec": {"replicas": 5}}, sub="scale")
    yield at.patch("negative", "one", {"spec": {"replicas": -1}}, sub="scale")
    yield at.patch("wrong-type", "one", {"spec": {"replicas": "many"}}, sub="scale")
    json_patch = [{"op": "replace", "path": "/spec/replicas", "value": 6}]
    yield at.patch("json", "one", json_patch, sends=JSON_PATCH, sub="scale")
    strategic = {"spec": {"replicas": 7}}
    yield at.patch("strategic", "one", strategic, sends=STRATEGIC_PATCH, sub="scale")
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 8}}
    named = {**scale, "metadata": {"name": "one"}}
    yield at.apply("applied", "one", named, manager="scaler", sub="scale")
    yield at.apply("applied-forced", "one", named, manager="scaler", force=True, sub="scale")
    yield at.update("without-version", "one", named, sub="scale")
    yield at.update("other-kind", "one", Changed("created", {}), sub="scale")
    yield at.update("other-name", "one", {**scale, "metadata": {"name": "two"}}, sub="scale")
    yield at.get("at-last", "one")


def deleting(at: Place) -> Iterator[Request]:
    """Deletions."""
    yield at.create("created", at.object("one"))
    yield at.delete("dry-run", "one", {"dryRun": ["All"]})
    yield at.delete("other-uid", "one", {"preconditions": {"uid": NO_UID}})
    yield at.delete("other-version", "one", {"preconditions": {"resourceVersion": "1"}})
    yield at.delete("bad-policy", "one", {"propagationPolicy": "Sideways"})
    contradiction = {"propagationPolicy": "Orphan", "orphanDependents": True}
    yield at.delete("two-policies", "one", contradiction)
    yield at.delete("bad-options", "one", Raw(b"{"))
    yield at.delete("options-of-other-kind", "one", at.object("one"))
    right = {
        "uid": "{{created.metadata.uid}}",
        "resourceVersion": "{{created.metadata.resourceVersion}}",
    }
    yield at.delete("plain", "one", {"preconditions": right})
    yield at.get("gone", "one")
    yield at.delete("missing", "none")
    held = {"metadata.finalizers": ["example.com/hold"]}
    yield at.create("held", at.object("held", held))
    yield at.delete("asked", "held")
    yield at.delete("asked-again", "held")
    yield at.patch(
        "held-more", "held", {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}}
    )
    yield at.patch("changed-meanwhile", "held", {"metadata": {"labels": {"late": "yes"}}})
    yield at.patch("let-go", "held", {"metadata": {"finalizers": None}})
    yield at.get("let-go-gone", "held")
    for policy in ("Background", "Foreground", "Orphan"):
        short = policy.lower()
        yield at.create(f"{short}-created", at.object(short))
        yield at.delete(short, short, {"propagationPolicy": policy})
        yield at.get(f"{short}-after", short)
    yield at.create("query-created", at.object("query"))
    yield at.delete("by-query", "query", None, {"propagationPolicy": "Foreground"})
    yield at.create("graceful-created", at.object("graceful"))
    yield at.delete("graceful", "graceful", {"gracePeriodSeconds": 3})
    yield at.create("at-once-created", at.object("at-once"))
    yield at.delete("at-once", "at-once", None, {"gracePeriodSeconds": "0"})
    yield at.create("negative-created", at.object("negative"))
    yield at.delete("negative-grace", "negative", {"gracePeriodSeconds": -1})


def deleting_many(at: Place) -> Iterator[Request]:
    """Deletions of collections."""
    for name, tier in {"a": "front", "b": "back", "c": "front", "d": "side"}.items():
        labels = {"scenario": at.slug, "tier": tier}
        yield at.create(name, at.object(name, {"metadata.labels": labels}))
    yield at.delete("dry-run", None, None, {"dryRun": "All"})
    yield at.delete("none", None, None, {"labelSelector": "tier=none"})
    yield at.delete("bad-selector", None, None, {"labelSelector": "tier in x"})
    yield at.delete("by-label", None, None, {"labelSelector": "tier=front"})
    yield at.list("without-front")
    yield at.delete("by-field", None, None, {"fieldSelector": f"metadata.name={at.name('b')}"})
    yield at.delete("foreground", None, {"propagationPolicy": "Foreground"})
    yield at.delete("rest", None)
    yield at.list("rest-gone")


def watching(at: Place) -> Iterator[Request]:
    """Watches of past events."""
    yield at.create("created", at.object("one"))
    yield at.create("second", at.object("two"))
    yield at.patch("changed", "one", {"metadata": {"labels": {"tier": "front"}}})
    yield at.patch("nothing-new", "one", {"metadata": {"labels": {"tier": "front"}}})
    yield at.patch("changed-back", "one", {"metadata": {"labels": {"tier": None}}})
    yield at.delete("deleted", "two")
    since = {"resourceVersion": "{{created.metadata.resourceVersion}}"}
    yield at.watch("all", since)
    yield at.watch("label", {**since, "labelSelector": "tier=front"})


def _sends(content_type: str) -> dict[str, str]:
    return {"Content-Type": content_type}


def _bytes(document: object) -> bytes:
    return json.dumps(document).encode()
