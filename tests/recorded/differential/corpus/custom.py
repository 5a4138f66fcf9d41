"""Custom resources and the effect of their schema."""

from collections.abc import Iterator

from tests.recorded.differential.corpus import generic, open_watches, options
from tests.recorded.differential.corpus.definitions import (
    CUSTOM_KINDS,
    GROUP,
    OLD_WIDGET,
    SETUP_GADGETS,
    SETUP_OTHERS,
    SETUP_WIDGETS,
    WIDGET,
)
from tests.recorded.differential.corpus.kinds import JSON_PATCH, STRATEGIC_PATCH, Place
from tests.recorded.differential.scenario import GONE, Changed, Json, Request, Scenario, edited

NEEDS = (SETUP_WIDGETS, SETUP_GADGETS, SETUP_OTHERS)

# The specs of Widgets that are rejected or changed.
SPECS: dict[str, Json] = {
    "empty": {},
    "null-size": {"size": None},
    "size-as-text": {"size": "2"},
    "size-as-float": {"size": 2.0},
    "size-with-fraction": {"size": 2.5},
    "size-too-small": {"size": -1},
    "size-too-large": {"size": 101},
    "size-beyond-int32": {"size": 3_000_000_000},
    "size-as-boolean": {"size": True},
    "large": {"large": 9_007_199_254_740_993},
    "large-beyond-int64": {"large": 10_000_000_000_000_000_000},
    "ratio": {"ratio": 1.5},
    "ratio-as-integer": {"ratio": 2},
    "ratio-at-minimum": {"ratio": 0},
    "ratio-no-multiple": {"ratio": 0.7},
    "ratio-as-text": {"ratio": "1"},
    "name-too-short": {"name": "a"},
    "name-too-long": {"name": "abcdefghi"},
    "name-of-wide-letters": {"name": "äöü"},
    "name-no-match": {"name": "ABC"},
    "name-too-long-no-match": {"name": "ABCDEFGHIJ"},
    "name-as-number": {"name": 5},
    "color": {"color": "blue"},
    "color-unknown": {"color": "mauve"},
    "color-null": {"color": None},
    "color-as-number": {"color": 1},
    "shiny": {"shiny": False},
    "shiny-as-text": {"shiny": "true"},
    "secret-null": {"secret": None},
    "nullable-default-null": {"nullableDefault": None},
    "port-as-number": {"port": 80},
    "port-as-text": {"port": "http"},
    "port-as-float": {"port": 1.5},
    "port-as-object": {"port": {}},
    "amount": {"amount": "50%"},
    "amount-as-number": {"amount": 5},
    "amount-no-match": {"amount": "half"},
    "tags": {"tags": ["a", "b"]},
    "tags-twice": {"tags": ["a", "b", "a"]},
    "tags-too-many": {"tags": ["a", "b", "c", "d"]},
    "tags-as-text": {"tags": "a"},
    "tags-with-number": {"tags": ["a", 1]},
    "tags-with-null": {"tags": [None]},
    "tags-null": {"tags": None},
    "tags-empty": {"tags": []},
    "ports": {"ports": [{"port": 80}, {"port": 80, "protocol": "UDP"}]},
    "ports-twice": {"ports": [{"port": 80}, {"port": 80, "protocol": "TCP"}]},
    "ports-without-key": {"ports": [{"name": "x"}]},
    "ports-null-item": {"ports": [None]},
    "ports-unknown-field": {"ports": [{"port": 80, "surprise": 1}]},
    "steps-empty": {"steps": []},
    "steps-as-object": {"steps": {}},
    "env": {"env": {"A": "1", "B": ""}},
    "env-too-many": {"env": {"A": "1", "B": "2", "C": "3", "D": "4"}},
    "env-with-number": {"env": {"A": 1}},
    "env-with-null": {"env": {"A": None}},
    "limits": {"limits": {"a": 1, "b": "1Gi"}},
    "limits-empty": {"limits": {}},
    "nested": {"nested": {}},
    "nested-deep": {"nested": {"on": False, "deep": {}}},
    "nested-null": {"nested": None},
    "nested-unknown": {"nested": {"surprise": 1}},
    "pair": {"pair": {"a": "1", "c": "3"}},
    "free": {"free": {"typed": 1, "other": {"a": [None]}}},
    "free-typed-wrongly": {"free": {"typed": "x"}},
    "anything-number": {"anything": 1},
    "anything-null": {"anything": None},
    "anything-list": {"anything": [1, {"a": None}]},
    "template": {
        "template": {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "x", "surprise": 1, "labels": {"a": "b"}},
            "spec": {"any": 1},
        }
    },
    "template-empty": {"template": {}},
    "template-bad": {
        "template": {"apiVersion": "a/b/c", "kind": "", "metadata": {"name": "Bad_Name"}}
    },
    "template-bad-labels": {
        "template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": 1}}}
    },
    "template-with-made-up-metadata": {
        "template": {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "x", "creationTimestamp": None, "generation": 5},
        }
    },
    "choice": {"choice": {"one": "1"}},
    "choice-of-none": {"choice": {}},
    "choice-of-both": {"choice": {"one": "1", "two": "2"}},
    "either-none": {"either": {}},
    "either-both": {"either": {"one": "1", "two": "2"}},
    "never": {"never": {"two": "2"}},
    "unknown": {"surprise": 1, "size": 1},
    "many-mistakes": {"size": -1, "name": "A", "color": "mauve", "tags": ["a", "a"]},
    "wrong-types": {"size": "x", "shiny": "y"},
}

FORMATS: dict[str, tuple[str, str]] = {
    "byte": ("aGk=", "not base64!"),
    "cidr": ("10.0.0.0/8", "10.0.0.0/99"),
    "date": ("2026-01-02", "2026-13-02"),
    "date-time": ("2026-01-02T03:04:05Z", "yesterday"),
    "duration": ("1h30m", "a while"),
    "email": ("a@example.com", "missing"),
    "hostname": ("a.example.com", "a_b"),
    "ipv4": ("10.0.0.1", "10.0.0.256"),
    "ipv6": ("::1", "10.0.0.1"),
    "mac": ("00:11:22:33:44:55", "00:11"),
    "uri": ("https://example.com/x", "not a uri"),
    "uuid": ("6f5b1f0e-6f5b-1f0e-6f5b-1f0e6f5b1f0e", "6f5b"),
}


def scenarios() -> Iterator[Scenario]:
    """Scenarios that only custom resources have."""
    for kind in CUSTOM_KINDS:
        yield from generic.scenarios_about(kind, needs=NEEDS)
        yield from open_watches.scenarios_about(kind, needs=NEEDS)
        yield from options.scenarios_about(kind, needs=NEEDS)
    yield from _schema()
    yield from _unknown_fields()
    yield from _versions()
    yield from _status()
    yield from _scale()
    yield from _apply()
    yield from _patches()
    yield from _reading()


def _at(title: str) -> Place:
    return Place(WIDGET, title, needs=NEEDS)


def _schema() -> Iterator[Scenario]:
    at = _at("schema/specs")
    yield at.scenario(*(at.create(case, at.bare(case, spec=spec)) for case, spec in SPECS.items()))
    at = _at("schema/formats")
    yield at.scenario(
        *(
            at.create(
                f"{format}-{case}",
                at.bare(f"{format}-{case}", spec={"size": 1, "formats": {format: value}}),
            )
            for format, (good, bad) in FORMATS.items()
            for case, value in (("good", good), ("bad", bad))
        )
    )
    at = _at("schema/wholes")
    one = at.bare("one", spec={"size": 1})
    yield at.scenario(
        at.create("no-spec", at.bare("one")),
        at.create("null-spec", {**one, "spec": None}),
        at.create("list-as-spec", {**one, "spec": []}),
        at.create("status-at-creation", {**one, "status": {"ready": 1}}),
        at.create(
            "bad-status-at-creation", {**at.bare("two", spec={"size": 1}), "status": {"ready": "x"}}
        ),
        at.create("no-metadata", edited(one, {"metadata": GONE})),
        at.create("null-metadata", {**one, "metadata": None}),
        at.create("no-api-version", edited(one, {"apiVersion": GONE})),
        at.create("no-kind", edited(one, {"kind": GONE})),
        at.create("unknown-at-root", {**at.bare("root", spec={"size": 1}), "surprise": 1}),
    )
    at = _at("schema/updates")
    yield at.scenario(
        at.create("created", at.bare("one", spec={"size": 1, "color": "blue"})),
        at.update("bad", "one", Changed("created", {"spec.size": 500})),
        at.update("without-default", "one", Changed("created", {"spec.color": GONE})),
        at.update("status-ignored", "one", Changed("without-default", {"status": {"ready": 1}})),
        at.update("generation", "one", Changed("without-default", {"spec.size": 2})),
        at.patch("metadata-only", "one", {"metadata": {"labels": {"a": "1"}}}),
        at.patch("bad-merge", "one", {"spec": {"size": "x"}}),
        at.patch("null-out", "one", {"spec": {"size": None}}),
        at.patch(
            "json-bad", "one", [{"op": "add", "path": "/spec/tags", "value": 1}], sends=JSON_PATCH
        ),
    )


def _unknown_fields() -> Iterator[Scenario]:
    at = _at("unknown-fields")
    body = {"size": 1, "surprise": 1, "nested": {"more": 2}, "ports": [{"port": 1, "odd": 3}]}
    requests: list[Request] = []
    for way in ("Strict", "Warn", "Ignore"):
        requests += [
            at.create(
                f"create-{way.lower()}", at.bare(way.lower(), spec=body), {"fieldValidation": way}
            ),
            at.patch(
                f"merge-{way.lower()}", "warn", {"spec": {"odd": 1}}, query={"fieldValidation": way}
            ),
            at.apply(
                f"apply-{way.lower()}",
                "warn",
                at.bare("warn", spec={"size": 1, "odd": 1}),
                force=True,
                query={"fieldValidation": way},
            ),
        ]
    yield at.scenario(*requests)


def _versions() -> Iterator[Scenario]:
    at = _at("versions")
    old = Place(OLD_WIDGET, "versions", within=at.slug)
    gone = at.path("one").replace("/v1/", "/v1alpha1/")
    yield at.scenario(
        at.create("created", at.bare("one", spec={"size": 4, "tags": ["x"]})),
        old.get("as-old", "one"),
        old.list("list-as-old"),
        old.patch("changed-as-old", "one", {"spec": {"size": 5, "old": "kept"}}),
        at.get("as-new", "one"),
        old.get("as-old-again", "one"),
        old.apply("applied-as-old", "one", old.bare("one", spec={"size": 6}), force=True),
        old.get("managed-fields", "one"),
        old.watch("watched-as-old", {"resourceVersion": "{{created.metadata.resourceVersion}}"}),
        Request(name="not-served", method="GET", path=gone),
        Request(name="unknown", method="GET", path=gone.replace("v1alpha1", "v9")),
        at.create("old-body-at-new-path", old.bare("two", spec={"size": 1})),
        at.create("strange-old-body", old.bare("two", spec={"size": 1, "tags": ["x"]})),
        at.create(
            "strange-old-body-strictly",
            old.bare("two", spec={"size": 1, "tags": ["x"]}),
            {"fieldValidation": "Strict"},
        ),
        old.delete("deleted-as-old", "one"),
    )


def _status() -> Iterator[Scenario]:
    at = _at("status-of-widgets")
    yield at.scenario(
        at.create("created", at.bare("one", spec={"size": 1})),
        at.update(
            "written",
            "one",
            Changed(
                "created", {"status": {"ready": 1}, "spec.size": 9, "metadata.labels": {"a": "1"}}
            ),
            sub="status",
        ),
        at.patch("merged", "one", {"status": {"replicas": 3, "selector": "a=b"}}, sub="status"),
        at.patch("bad", "one", {"status": {"ready": "x"}}, sub="status"),
        at.patch("unknown", "one", {"status": {"surprise": 1}}, sub="status"),
        at.patch("nothing-new", "one", {"status": {"replicas": 3}}, sub="status"),
        at.patch("not-through-main", "one", {"status": {"ready": 5}}),
        at.apply(
            "applied",
            "one",
            at.bare("one", status={"conditions": [{"type": "Ready", "status": "True"}]}),
            sub="status",
        ),
        at.apply(
            "applied-by-other",
            "one",
            at.bare("one", status={"conditions": [{"type": "Fresh", "status": "True"}]}),
            manager="other",
            sub="status",
        ),
        at.apply(
            "conflict",
            "one",
            at.bare("one", status={"conditions": [{"type": "Ready", "status": "False"}]}),
            manager="other",
            sub="status",
        ),
        at.apply("given-up", "one", at.bare("one", status={}), sub="status"),
        at.apply("missing", "none", at.bare("none", status={"ready": 1}), sub="status"),
        at.patch("null", "one", {"status": None}, sub="status"),
        at.get("at-last", "one"),
    )


def _scale() -> Iterator[Scenario]:
    at = _at("scale-of-widgets")
    yield at.scenario(
        at.create("created", at.bare("one", spec={"size": 1})),
        at.get("read", "one", sub="scale"),
        at.patch("status", "one", {"status": {"replicas": 2, "selector": "a=b"}}, sub="status"),
        at.get("read-again", "one", sub="scale"),
        at.patch("too-many", "one", {"spec": {"replicas": 500}}, sub="scale"),
        at.patch("null", "one", {"spec": {"replicas": None}}, sub="scale"),
        at.patch(
            "fields",
            "one",
            {"spec": {"replicas": 50}},
            sub="scale",
            query={"fieldManager": "scaler"},
        ),
        at.get("at-last", "one"),
    )
    old = Place(OLD_WIDGET, "no-scale", needs=NEEDS)
    yield old.scenario(
        old.create("created", old.object("one")), old.get("read", "one", sub="scale")
    )


def _apply() -> Iterator[Scenario]:
    at = _at("apply/lists")

    def spec(**parts: Json) -> Json:
        return at.bare("one", spec=parts)

    yield at.scenario(
        at.apply(
            "created",
            "one",
            spec(
                size=1,
                tags=["a"],
                ports=[{"port": 80}],
                steps=[{"do": "x"}],
                env={"A": "1"},
                pair={"a": "1"},
            ),
        ),
        at.apply(
            "other-adds",
            "one",
            spec(
                tags=["b"],
                ports=[{"port": 81, "name": "p"}, {"port": 80, "protocol": "UDP"}],
                env={"B": "2"},
            ),
            manager="other",
        ),
        at.apply("atomic-conflict", "one", spec(steps=[{"do": "y"}]), manager="other"),
        at.apply("atomic-map-conflict", "one", spec(pair={"b": "2"}), manager="other"),
        at.apply(
            "atomic-forced",
            "one",
            spec(steps=[{"do": "y"}], pair={"b": "2"}),
            manager="other",
            force=True,
        ),
        at.apply("item-conflict", "one", spec(ports=[{"port": 81, "name": "q"}]), manager="third"),
        at.apply("first-gives-up", "one", spec(size=1)),
        at.apply("first-takes-nothing", "one", at.bare("one")),
        at.apply("key-missing", "one", spec(ports=[{"name": "x"}])),
        at.apply("key-twice", "one", spec(ports=[{"port": 1}, {"port": 1}])),
        at.apply("set-twice", "one", spec(tags=["a", "a"])),
        at.apply("wrong-type", "one", spec(size="x")),
        at.apply("null-value", "one", spec(secret=None)),
        at.apply("invalid", "one", spec(size=1000)),
        at.patch("merge-by-updater", "one", {"spec": {"tags": ["z"], "env": {"Z": "1"}}}),
        at.apply("against-updater", "one", spec(env={"Z": "2"})),
        at.get("at-last", "one"),
    )
    at = _at("apply/upgrade")
    yield at.scenario(
        at.create(
            "created", at.bare("one", spec={"size": 1, "env": {"A": "1"}}), {"fieldManager": "mine"}
        ),
        at.apply("same-name-other-operation", "one", at.bare("one", spec={"size": 1})),
        at.apply("conflict-with-own-update", "one", at.bare("one", spec={"size": 2})),
        at.patch(
            "json-clears-managed-fields",
            "one",
            [{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}],
            sends=JSON_PATCH,
        ),
        at.apply("after-clearing", "one", at.bare("one", spec={"size": 3})),
        at.update(
            "update-clears",
            "one",
            Changed("after-clearing", {"metadata.managedFields": [], "spec.size": 4}),
        ),
        at.apply("after-update", "one", at.bare("one", spec={"size": 5})),
    )


def _patches() -> Iterator[Scenario]:
    at = _at("patches")
    yield at.scenario(
        at.create(
            "created", at.bare("one", spec={"size": 1, "tags": ["a"], "free": {"list": [1, 2, 3]}})
        ),
        at.patch("strategic", "one", {"spec": {"size": 2}}, sends=STRATEGIC_PATCH),
        at.patch(
            "json-array",
            "one",
            [
                {"op": "add", "path": "/spec/free/list/-", "value": 4},
                {"op": "add", "path": "/spec/free/list/0", "value": 0},
                {"op": "remove", "path": "/spec/free/list/1"},
                {"op": "replace", "path": "/spec/free/list/1", "value": "two"},
            ],
            sends=JSON_PATCH,
        ),
        at.patch(
            "json-out-of-range",
            "one",
            [{"op": "add", "path": "/spec/free/list/9", "value": 4}],
            sends=JSON_PATCH,
        ),
        at.patch(
            "json-negative",
            "one",
            [{"op": "remove", "path": "/spec/free/list/-1"}],
            sends=JSON_PATCH,
        ),
        at.patch(
            "json-escapes",
            "one",
            [
                {"op": "add", "path": "/metadata/annotations", "value": {}},
                {"op": "add", "path": "/metadata/annotations/example.com~1a~0b", "value": "1"},
            ],
            sends=JSON_PATCH,
        ),
        at.patch(
            "json-test-deep",
            "one",
            [{"op": "test", "path": "/spec/free", "value": {"list": [0, "two", 3, 4]}}],
            sends=JSON_PATCH,
        ),
        at.patch(
            "json-root", "one", [{"op": "replace", "path": "", "value": {}}], sends=JSON_PATCH
        ),
        at.patch("json-no-value", "one", [{"op": "add", "path": "/spec/size"}], sends=JSON_PATCH),
        at.patch("merge-replaces-list", "one", {"spec": {"free": {"list": [9]}}}),
        at.patch("merge-scalar-over-object", "one", {"spec": {"anything": {"a": 1}}}),
        at.patch("merge-object-over-scalar", "one", {"spec": {"anything": 5}}),
        at.patch("merge-status", "one", {"status": {"ready": 1}}),
    )


def _reading() -> Iterator[Scenario]:
    at = _at("selectable-fields")
    yield at.scenario(
        *(
            at.create(name, at.bare(name, spec={"size": size, "color": color}))
            for name, size, color in (("a", 1, "red"), ("b", 2, "blue"), ("c", 2, "red"))
        ),
        at.list("color", {"fieldSelector": "spec.color=red"}),
        at.list("color-and-size", {"fieldSelector": "spec.color=red,spec.size=2"}),
        at.list("not-size", {"fieldSelector": "spec.size!=2"}),
        at.list("not-selectable", {"fieldSelector": "spec.name=x"}),
        at.watch(
            "watched",
            {
                "fieldSelector": "spec.color=blue",
                "resourceVersion": "{{a.metadata.resourceVersion}}",
            },
        ),
    )
    at = _at("documents")
    yield at.scenario(
        Request(name="group", method="GET", path=f"/apis/{GROUP}"),
        Request(name="version", method="GET", path=f"/apis/{GROUP}/v1"),
        Request(name="old-version", method="GET", path=f"/apis/{GROUP}/v1beta1"),
        Request(name="version-not-served", method="GET", path=f"/apis/{GROUP}/v1alpha1"),
        Request(
            name="openapi",
            method="GET",
            path=f"/openapi/v3/apis/{GROUP}/v1",
            until=lambda answer: b"Gadget" in answer.body and b"Widget" in answer.body,
        ),
    )
