"""Watches that are open during changes, of each kind in turn."""

from collections.abc import Iterator

from tests.recorded.differential.corpus.kinds import MERGE_PATCH, YAML, Kind, Place
from tests.recorded.differential.scenario import GONE, Changed, Request, Scenario

METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

INITIAL = {
    "sendInitialEvents": "true",
    "resourceVersionMatch": "NotOlderThan",
    "allowWatchBookmarks": "true",
}
SINCE_FIRST = {"resourceVersion": "{{first.metadata.resourceVersion}}"}

# The last event of every watch of a scenario.
END = ("ADDED", "last")


def scenarios_about(kind: Kind, *, needs: tuple[str, ...] = ()) -> Iterator[Scenario]:
    """The watches of any kind."""
    at = Place(kind, "watch/live", needs=needs)
    yield at.scenario(*_before(at), *watches(at), *writes(at))


def _before(at: Place) -> Iterator[Request]:
    labels = {"scenario": at.slug, "tier": "front"}
    yield at.create("first", at.object("first", {"metadata.labels": labels}))


def watches(at: Place) -> Iterator[Request]:
    """The watches, each with other options."""
    yield at.follow("all", END, SINCE_FIRST)
    yield at.follow("from-now", END)
    yield at.follow("from-zero", END, {"resourceVersion": "0"})
    yield at.follow("bookmarks", END, {**SINCE_FIRST, "allowWatchBookmarks": "true"})
    yield at.follow("label", END, {**SINCE_FIRST, "labelSelector": "tier=front"})
    yield at.follow("label-not", END, {**SINCE_FIRST, "labelSelector": "tier notin (back,side)"})
    yield at.follow(
        "field", END, {**SINCE_FIRST, "fieldSelector": f"metadata.name={at.name('last')}"}
    )
    yield at.follow(
        "field-not", END, {**SINCE_FIRST, "fieldSelector": f"metadata.name!={at.name('one')}"}
    )
    yield at.follow("initial", END, INITIAL)
    yield at.follow("initial-label", END, {**INITIAL, "labelSelector": "tier=front"})
    yield at.follow("initial-since", END, {**INITIAL, **SINCE_FIRST})
    yield at.follow("metadata-only", END, SINCE_FIRST, headers={"Accept": METADATA_ONLY})
    yield at.follow("initial-metadata-only", END, INITIAL, headers={"Accept": METADATA_ONLY})
    yield at.follow("yaml", END, SINCE_FIRST, headers={"Accept": YAML})
    yield at.follow("pretty", END, {**SINCE_FIRST, "pretty": "true"})
    yield at.follow("one-name", END, SINCE_FIRST, short="last")
    yield at.follow("old-style", END, SINCE_FIRST, old_style=True)
    yield at.follow("old-style-one-name", END, SINCE_FIRST, short="last", old_style=True)
    if at.kind.namespaced:
        yield at.follow("everywhere", END, SINCE_FIRST, everywhere=True)


def writes(at: Place) -> Iterator[Request]:
    """The writes: objects are created, changed, relabelled and deleted."""

    def tier(name: str | None) -> dict[str, dict[str, dict[str, str | None]]]:
        return {"metadata": {"labels": {"tier": name}}}

    labels = {"scenario": at.slug, "tier": "front"}
    yield at.create("created", at.object("one", {"metadata.labels": labels}))
    yield at.patch("leaves", "one", tier("back"), sends=MERGE_PATCH)
    yield at.patch("still-out", "one", {"metadata": {"annotations": {"out": "yes"}}})
    yield at.patch("nothing-new", "one", tier("back"))
    yield at.patch("dry-run", "one", tier("front"), query={"dryRun": "All"})
    yield at.update("returns", "one", Changed("still-out", {"metadata.labels.tier": "front"}))
    if "status" in at.kind.subresources:
        annotated = {"metadata": {"annotations": {"from": "status"}}}
        yield at.patch("status", "one", annotated, sub="status")
    if "scale" in at.kind.subresources:
        yield at.patch("scaled", "one", {"spec": {"replicas": 4}}, sub="scale")
    yield at.apply("applied", "two", at.object("two", {"metadata.labels.tier": "side"}))
    yield at.apply("applied-again", "two", at.object("two", {"metadata.labels.tier": "front"}))
    yield at.delete("deleted", "two")
    held = {"metadata.finalizers": ["example.com/hold"], "metadata.labels.tier": "front"}
    yield at.create("held", at.object("held", held))
    yield at.delete("held-deleted", "held")
    yield at.patch("let-go", "held", {"metadata": {"finalizers": None}})
    if "deletecollection" in at.kind.verbs:
        for name in ("a", "b"):
            yield at.create(name, at.object(name, {"metadata.labels.tier": "side"}))
        yield at.delete("collection", None, None, {"labelSelector": "tier=side"})
    yield at.delete("first-deleted", "first")
    yield at.patch("label-gone", "one", tier(None))
    made = {"metadata.name": GONE, "metadata.generateName": f"{at.name('made')}-"}
    if at.kind.plural != "ipaddresses":
        yield at.create("generated", at.object("x", made))
    yield at.create("last", at.object("last", {"metadata.labels": labels}))
