"""Query options: each option of each verb, for each kind in turn."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

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

METADATA = {"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
METADATA_LIST = {"Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}

WAYS = ("Strict", "Warn", "Ignore")

# The options of any write; rejected ones come last.
WRITE_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "dry-run": {"dryRun": "All"},
    "manager": {"fieldManager": "tester"},
    "pretty": {"pretty": "true"},
    "unknown-option": {"surprise": "yes"},
    "dry-run-twice": {"dryRun": "All", "fieldValidation": "Strict"},
    "dry-run-of-some": {"dryRun": "Some"},
    "manager-unprintable": {"fieldManager": "some\tone"},
    "validation-unknown": {"fieldValidation": "Sometimes"},
    "bad-timeout": {"timeout": "soon"},
}

PATCHES: Mapping[str, Callable[[str], Json]] = {
    MERGE_PATCH: lambda value: {"metadata": {"annotations": {"by": value}}},
    JSON_PATCH: lambda value: [
        {"op": "add", "path": "/metadata/annotations", "value": {"by": value}}
    ],
    STRATEGIC_PATCH: lambda value: {"metadata": {"annotations": {"by": value}}},
}
SHORT = {MERGE_PATCH: "merge", JSON_PATCH: "json", STRATEGIC_PATCH: "strategic"}


def scenarios_about(kind: Kind, *, needs: tuple[str, ...] = ()) -> Iterator[Scenario]:
    """Each verb with each of its options."""
    chapters: dict[str, Callable[[Place], Iterator[Request]]] = {
        "options/create": creating,
        "options/read": reading,
        "options/watch": watching,
        "options/update": updating,
        "options/patch": patching,
        "options/apply": applying,
        "options/delete": deleting,
    }
    if "deletecollection" in kind.verbs:
        chapters["options/collection"] = deleting_many
    if "status" in kind.subresources:
        chapters["options/status"] = the_status
    if "scale" in kind.subresources:
        chapters["options/scale"] = scaling
    for title, chapter in chapters.items():
        at = Place(kind, title, needs=needs)
        yield at.scenario(*chapter(at))


def _sends(content_type: str) -> dict[str, str]:
    return {"Content-Type": content_type}


def _doubled(document: Json) -> Raw:
    """The object, with a duplicate kind and a duplicate label."""
    text = json.dumps(document, separators=(",", ":"))
    return Raw(
        text.replace('"labels":{', '"labels":{"twice":"1","twice":"2",', 1)
        .replace("{", f'{{"kind":"{document["kind"]}",', 1)
        .encode()
    )


def creating(at: Place) -> Iterator[Request]:
    """Creations, with each option."""
    for case, query in WRITE_OPTIONS.items():
        yield at.create(case, at.object(case), query)
    for way in WAYS:
        low = way.lower()
        asked = {"fieldValidation": way, "dryRun": "All"}
        yield at.create(f"doubled-{low}", _doubled(at.object("doubled")), asked)
        strange = {"surprise": 1, "metadata.surprise": 1, "metadata.labels.ok": "yes"}
        body = as_yaml(at.object("strange", strange))
        yield at.create(f"yaml-{low}", body, asked, headers=_sends(YAML))
    doubled = Raw(b"kind: %s\n" % at.kind.name.encode() + as_yaml(at.object("y")).content)
    yield at.create("doubled-yaml", doubled, {"dryRun": "All"}, headers=_sends(YAML))
    made = {"metadata.name": GONE, "metadata.generateName": f"{at.name('made')}-"}
    if at.kind.plural != "ipaddresses":
        yield at.create("generated-dry", at.object("x", made), {"dryRun": "All"})
    yield at.create("metadata-only", at.object("only"), headers=METADATA)
    yield at.create("answered-in-yaml", at.object("answer"), headers={"Accept": YAML})


def reading(at: Place) -> Iterator[Request]:
    """Gets and lists, with each option."""
    for name, tier in {"a": "front", "b": "back", "c": "front"}.items():
        yield at.create(name, at.object(name, {"metadata.labels.tier": tier}))
    b, c = "{{b.metadata.resourceVersion}}", "{{c.metadata.resourceVersion}}"
    not_older = {"resourceVersion": c, "resourceVersionMatch": "NotOlderThan"}
    yield at.list("not-older", not_older)
    yield at.get("plain-text-wish", "a", query={"pretty": "false"})
    yield at.get("future", "a", query={"resourceVersion": "999999999", "timeoutSeconds": "1"})
    yield at.get("yaml-pretty", "a", query={"pretty": "true"}, headers={"Accept": YAML})
    yield at.get("unknown-option", "a", query={"surprise": "yes"})
    yield at.get("metadata-missing", "none", headers=METADATA)
    yield at.get("metadata-of-version", "a", query={"resourceVersion": c}, headers=METADATA)
    lists: dict[str, dict[str, str]] = {
        "pretty": {"pretty": "true"},
        "timeout": {"timeoutSeconds": "5"},
        "bad-timeout": {"timeoutSeconds": "soon"},
        "initial-events": {"sendInitialEvents": "true"},
        "bookmarks": {"allowWatchBookmarks": "true"},
        "not-a-watch": {"watch": "false"},
        "exact": {"resourceVersion": b, "resourceVersionMatch": "Exact"},
        "exact-limit": {"resourceVersion": b, "resourceVersionMatch": "Exact", "limit": "1"},
        "not-older-limit": {**not_older, "limit": "1"},
        "not-older-label": {**not_older, "labelSelector": "tier=front"},
        "match-alone": {"resourceVersionMatch": "NotOlderThan"},
        "bad-match": {"resourceVersion": b, "resourceVersionMatch": "About"},
        "bad-version": {"resourceVersion": "x"},
        "bad-limit": {"limit": "few"},
        "bad-token": {"limit": "1", "continue": "nonsense"},
        "label-and-field": {
            "labelSelector": "tier=front",
            "fieldSelector": f"metadata.name={at.name('c')}",
        },
        "page": {"limit": "2", "labelSelector": "tier"},
        "next-page": {
            "limit": "2",
            "labelSelector": "tier",
            "continue": "{{page.metadata.continue}}",
        },
        "namespace": {"fieldSelector": "metadata.namespace=elsewhere"},
    }
    for case, query in lists.items():
        yield at.list(f"list-{case}", query)
    yield at.list("list-yaml", headers={"Accept": YAML})
    yield at.list("metadata-page", {"limit": "2"}, headers=METADATA_LIST)
    onwards = {"limit": "2", "continue": "{{metadata-page.metadata.continue}}"}
    yield at.list("metadata-next-page", onwards, headers=METADATA_LIST)
    yield at.list("metadata-label", {"labelSelector": "tier=back"}, headers=METADATA_LIST)
    if at.kind.namespaced:
        mine = f"{at.kind.root}/{at.kind.plural}?labelSelector=scenario%3D{at.slug}"
        yield Request(name="everywhere", method="GET", path=mine)
        yield Request(name="everywhere-page", method="GET", path=f"{mine}&limit=1")


def watching(at: Place) -> Iterator[Request]:
    """Watches that are rejected or short."""
    yield at.create("created", at.object("one"))
    since = {"resourceVersion": "{{created.metadata.resourceVersion}}"}
    cases = {
        "bad-version": {"resourceVersion": "x"},
        "bad-label": {**since, "labelSelector": "tier in x"},
        "bad-field": {**since, "fieldSelector": "nonsense"},
        "unknown-field": {**since, "fieldSelector": "spec.surprise=1"},
        "bad-timeout": {**since, "timeoutSeconds": "soon"},
        "initial-without-match": {"sendInitialEvents": "true"},
        "initial-exact": {"sendInitialEvents": "true", "resourceVersionMatch": "Exact"},
        "match-alone": {**since, "resourceVersionMatch": "NotOlderThan"},
        "token": {"continue": "nonsense"},
    }
    for case, query in cases.items():
        yield at.watch(case, query)
    yield at.watch("limited", {**since, "limit": "1"})


def updating(at: Place) -> Iterator[Request]:
    """Updates, with each option."""
    yield at.create("created", at.object("one"))

    def written(case: str) -> Changed:
        changes = {"metadata.resourceVersion": GONE, "metadata.annotations": {"by": case}}
        return Changed("created", changes)

    for case, query in WRITE_OPTIONS.items():
        yield at.update(case, "one", written(case), query)
    for way in WAYS:
        low = way.lower()
        strange = {
            "surprise": 1,
            "metadata.surprise": 1,
            "metadata.resourceVersion": GONE,
            "metadata.labels.way": low,
        }
        asked = {"fieldValidation": way}
        yield at.update(f"unknown-{low}", "one", Changed("created", strange), asked)
        doubled = _doubled(at.object("one"))
        yield at.update(f"doubled-{low}", "one", doubled, {**asked, "dryRun": "All"})
    body = as_yaml(at.object("one", {"metadata.labels.yaml": "yes"}))
    sent = at.update("yaml", "one", body, {"dryRun": "All"})
    yield replace(sent, headers=_sends(YAML))
    yield replace(at.update("metadata-only", "one", written("only")), headers=METADATA)
    yield replace(at.update("forced", "one", written("force"), {"force": "true"}))
    yield at.get("at-last", "one")


def patching(at: Place) -> Iterator[Request]:
    """Patches of each type, with each option."""
    yield at.create("created", at.object("one"))
    yield from _patches(at, sub="")
    yield at.get("at-last", "one")


def _patches(at: Place, *, sub: str) -> Iterator[Request]:
    for sends, patch in PATCHES.items():
        short = SHORT[sends]
        for case, query in WRITE_OPTIONS.items():
            body = patch(f"{short}-{case}")
            yield at.patch(f"{short}-{case}", "one", body, sends=sends, sub=sub, query=query)
        for force in ("true", "false"):
            body, query = patch(f"{short}-force"), {"force": force}
            name = f"{short}-forced-{force}"
            yield at.patch(name, "one", body, sends=sends, sub=sub, query=query)
        for way in WAYS:
            name, query = f"{short}-unknown-{way.lower()}", {"fieldValidation": way}
            strange: Json = {"surprise": 1, "metadata": {"annotations": {"way": name}}}
            if sends == JSON_PATCH:
                strange = [
                    {"op": "add", "path": "/surprise", "value": 1},
                    {"op": "add", "path": "/metadata/annotations", "value": {"way": name}},
                ]
            yield at.patch(name, "one", strange, sends=sends, sub=sub, query=query)
        doubled = b'{"metadata":{"annotations":{"by":"1","by":"2"}}}'
        if sends == JSON_PATCH:
            doubled = b'[{"op":"add","op":"add","path":"/metadata/annotations/x","value":"2"}]'
        for way in WAYS:
            name = f"{short}-doubled-{way.lower()}"
            query = {"fieldValidation": way, "dryRun": "All"}
            yield at.patch(name, "one", Raw(doubled), sends=sends, sub=sub, query=query)
        only = at.patch(f"{short}-metadata-only", "one", patch(f"{short}-x"), sends=sends, sub=sub)
        yield replace(only, headers={**only.headers, **METADATA})


def applying(at: Place) -> Iterator[Request]:
    """Applies, with each option."""
    yield at.apply("created", "one", at.object("one"))
    yield from _applies(at, lambda case: at.bare("one", {"annotations": {"by": case}}), sub="")
    yield at.get("at-last", "one")


def _applies(at: Place, body: Callable[[str], Json], *, sub: str) -> Iterator[Request]:
    for case, query in WRITE_OPTIONS.items():
        yield at.apply(case, "one", body(case), sub=sub, query=query)
    yield at.apply("forced", "one", body("forced"), force=True, manager="other", sub=sub)
    yield at.apply("conflict", "one", body("conflict"), manager="third", sub=sub)
    yield at.apply("not-forced", "one", body("conflict"), sub=sub, query={"force": "false"})
    for way in WAYS:
        low, asked = way.lower(), {"fieldValidation": way}
        strange = {**body("forced"), "surprise": 1}
        yield at.apply(f"unknown-{low}", "one", strange, sub=sub, query=asked, manager="other")
        doubled = Raw(b"kind: Twice\n" + as_yaml(body("forced")).content)
        yield at.apply(f"doubled-{low}", "one", doubled, sub=sub, query=asked, manager="other")
    only = at.apply("metadata-only", "one", body("forced"), manager="other", sub=sub)
    yield replace(only, headers={**only.headers, **METADATA})


def deleting(at: Place) -> Iterator[Request]:
    """Deletions, with each option."""
    hold = {"metadata.finalizers": ["example.com/hold"]}
    yield at.create("created", at.object("one", hold))
    breaking = "ignoreStoreReadErrorWithClusterBreakingPotential"
    refused: dict[str, tuple[Json | None, dict[str, str] | None]] = {
        "dry-run": (None, {"dryRun": "All"}),
        "dry-run-of-some": ({"dryRun": ["Some"]}, None),
        "dry-run-in-both": ({"dryRun": ["All"]}, {"dryRun": "All"}),
        "policy-unknown": (None, {"propagationPolicy": "Sideways"}),
        "grace-of-text": (None, {"gracePeriodSeconds": "soon"}),
        "two-policies": (None, {"propagationPolicy": "Orphan", "orphanDependents": "true"}),
        "other-uid": ({"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}}, None),
        "breaking-dry": ({breaking: True, "dryRun": ["All"]}, None),
        "breaking": (None, {breaking: "true"}),
        "breaking-with-grace": ({breaking: True, "gracePeriodSeconds": 1}, None),
        "breaking-not": ({breaking: False, "dryRun": ["All"]}, None),
        "unknown-in-options": ({"surprise": 1, "dryRun": ["All"]}, None),
        "options-of-wrong-type": ({"gracePeriodSeconds": "x", "dryRun": ["All"]}, None),
    }
    for case, (options, query) in refused.items():
        yield at.delete(case, "one", options, query)
    for case, version in {
        "core": "v1",
        "meta": "meta.k8s.io/v1",
        "own": at.kind.api_version,
        "other": "example.com/v1",
    }.items():
        options = {"kind": "DeleteOptions", "apiVersion": version, "dryRun": ["All"]}
        yield at.delete(f"options-of-{case}", "one", options)
    sent = at.delete("options-in-yaml", "one", Raw(b"dryRun: [All]\ngracePeriodSeconds: 0\n"))
    yield replace(sent, headers=_sends(YAML))
    sent = at.delete("options-in-text", "one", Raw(b"dryRun: [All]\n"))
    yield replace(sent, headers=_sends("text/plain"))
    yield replace(at.delete("metadata-only", "one", {"dryRun": ["All"]}), headers=METADATA)
    yield at.delete("pretty", "one", {"dryRun": ["All"]}, {"pretty": "true"})
    yield at.delete("other-uid-in-query", "one", None, {"uid": "x"})
    yield at.delete("other-version-in-query", "one", None, {"resourceVersion": "1"})
    for value in ("true", "false"):
        yield at.create(f"orphans-{value}-created", at.object(f"orphans-{value}"))
        yield at.delete(f"orphans-{value}", f"orphans-{value}", None, {"orphanDependents": value})
        yield at.get(f"orphans-{value}-after", f"orphans-{value}")
        yield at.create(f"orphaning-{value}-created", at.object(f"orphaning-{value}"))
        options = {"orphanDependents": value == "true"}
        yield at.delete(f"orphaning-{value}", f"orphaning-{value}", options)
    for policy in ("Background", "Orphan", "Foreground"):
        short = policy.lower()
        yield at.create(f"{short}-created", at.object(short, hold))
        yield at.delete(short, short, None, {"propagationPolicy": policy})
        yield at.delete(f"{short}-again", short)
    yield at.delete("held", "one", {"gracePeriodSeconds": 5}, {"gracePeriodSeconds": "7"})
    yield at.get("at-last", "one")


def deleting_many(at: Place) -> Iterator[Request]:
    """Deletions of collections, with each option."""
    names = ("a", "b", "c", "d", "e", "f", "g", "h")
    for name in names:
        yield at.create(name, at.object(name, {"metadata.labels.name": name}))
    breaking = "ignoreStoreReadErrorWithClusterBreakingPotential"
    h = "{{h.metadata.resourceVersion}}"
    cases: dict[str, tuple[Json | None, dict[str, str]]] = {
        "not-older": (None, {"resourceVersion": h, "resourceVersionMatch": "NotOlderThan"}),
        "dry-run": ({"dryRun": ["All"]}, {"resourceVersion": h, "limit": "2"}),
        "dry-run-of-some": (None, {"dryRun": "Some"}),
        "bad-version": (None, {"resourceVersion": "x"}),
        "bad-match": (None, {"resourceVersionMatch": "Exact"}),
        "bad-field": (None, {"fieldSelector": "spec.surprise=1"}),
        "initial-events": (None, {"sendInitialEvents": "true"}),
        "policy-unknown": ({"propagationPolicy": "Sideways"}, {}),
        "bad-options": (Raw(b"{"), {}),
        "other-uid": ({"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}}, {}),
        "breaking": ({breaking: True}, {}),
        "limited": (None, {"limit": "1"}),
        "orphans": (None, {"orphanDependents": "false", "labelSelector": "name=b"}),
        "background": ({"propagationPolicy": "Background"}, {"labelSelector": "name=c"}),
        "orphan": (None, {"propagationPolicy": "Orphan", "labelSelector": "name=d"}),
        "grace": ({"gracePeriodSeconds": 0}, {"labelSelector": "name=e"}),
        "timeout": (None, {"timeoutSeconds": "9", "labelSelector": "name=f"}),
        "pretty": (None, {"pretty": "true", "labelSelector": "name=g"}),
    }
    first = cases.pop("not-older")
    dry = {"dryRun": "All", **first[1]}
    yield at.delete("not-older", None, None, dry)
    for case, (options, query) in cases.items():
        yield at.delete(case, None, options, query)
    yield replace(at.delete("metadata-only", None), headers=METADATA_LIST)
    yield at.list("at-last")


def the_status(at: Place) -> Iterator[Request]:
    """Writes of the status, with each option."""
    yield at.create("created", at.object("one"))
    yield at.get("pretty", "one", sub="status", query={"pretty": "true"})
    yield at.get("version", "one", sub="status", query={"resourceVersion": "0"})
    yield at.get("metadata-only", "one", sub="status", headers=METADATA)
    yield from _writes_of_part(at, "status", {"metadata.annotations": {"by": "update"}})
    yield from _patches(at, sub="status")
    yield at.get("at-last", "one")


def _writes_of_part(at: Place, sub: str, changes: Mapping[str, Json]) -> Iterator[Request]:
    base = "created" if sub == "status" else "read"
    for case, query in WRITE_OPTIONS.items():
        body = Changed(base, {**changes, "metadata.resourceVersion": GONE})
        yield at.update(f"update-{case}", "one", body, query, sub=sub)
    for way in WAYS:
        name = f"update-unknown-{way.lower()}"
        strange = {"surprise": 1, "metadata.surprise": 1, "metadata.resourceVersion": GONE}
        body = Changed(base, strange)
        yield at.update(name, "one", body, {"fieldValidation": way}, sub=sub)


def scaling(at: Place) -> Iterator[Request]:
    """Writes of the scale, with each option."""
    yield at.create("created", at.object("one"))
    yield at.get("read", "one", sub="scale")
    yield at.get("pretty", "one", sub="scale", query={"pretty": "true"})
    yield at.get("metadata-only", "one", sub="scale", headers=METADATA)
    yield from _writes_of_part(at, "scale", {"spec.replicas": 3})
    for sends, short in SHORT.items():
        for case, query in WRITE_OPTIONS.items():
            body: Json = {"spec": {"replicas": 4 + len(case)}}
            if sends == JSON_PATCH:
                body = [{"op": "replace", "path": "/spec/replicas", "value": 30 + len(case)}]
            name = f"{short}-{case}"
            yield at.patch(name, "one", body, sends=sends, sub="scale", query=query)
    uid = {"metadata": {"uid": "00000000-0000-0000-0000-000000000000"}, "spec": {"replicas": 2}}
    yield at.patch("merge-other-uid", "one", uid, sub="scale")
    other = Changed("read", {"metadata.uid": "00000000-0000-0000-0000-000000000000"})
    yield at.update("update-other-uid", "one", other, sub="scale")
    yield at.get("at-last", "one")
