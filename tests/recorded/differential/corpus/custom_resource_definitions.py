"""CustomResourceDefinitions: rejected ones, and the status of the others."""

from collections.abc import Iterator, Mapping

from tests.recorded.differential.corpus.definitions import (
    DEFINITIONS,
    NUMBER,
    TEXT,
    a_list,
    an_object,
    definition,
    has_names_condition,
    is_established,
    is_found,
    is_missing,
    version,
)
from tests.recorded.differential.corpus.kinds import MERGE_PATCH
from tests.recorded.differential.scenario import GONE, Changed, Json, Request, Scenario, edited

GROUP = "defined.example.com"
BASE = definition(GROUP, "things", "Thing", version("v1", an_object({"spec": an_object({})})))

SCHEMA = "spec.versions.0.schema.openAPIV3Schema"
SPEC = f"{SCHEMA}.properties.spec"

CHANGES: dict[str, Mapping[str, Json]] = {
    "fine": {},
    "bad-name": {"metadata.name": "things"},
    "other-name": {"metadata.name": f"others.{GROUP}"},
    "no-group": {"spec.group": GONE},
    "bad-group": {"spec.group": "Bad_Group", "metadata.name": "things.Bad_Group"},
    "group-without-dot": {"spec.group": "plain", "metadata.name": "things.plain"},
    "core-group": {"spec.group": "", "metadata.name": "things."},
    "no-scope": {"spec.scope": GONE},
    "bad-scope": {"spec.scope": "Galaxy"},
    "no-names": {"spec.names": GONE},
    "no-plural": {"spec.names.plural": GONE},
    "no-kind": {"spec.names.kind": GONE},
    "bad-plural": {"spec.names.plural": "Things"},
    "bad-kind": {"spec.names.kind": "bad_kind"},
    "lower-kind": {"spec.names.kind": "thing"},
    "bad-singular": {"spec.names.singular": "Thing"},
    "bad-short-name": {"spec.names.shortNames": ["T_H"]},
    "bad-category": {"spec.names.categories": ["Not Good"]},
    "list-kind-is-kind": {"spec.names.listKind": "Thing"},
    "no-versions": {"spec.versions": []},
    "versions-gone": {"spec.versions": GONE},
    "bad-version": {"spec.versions.0.name": "V1"},
    "no-schema": {"spec.versions.0.schema": GONE},
    "empty-schema": {"spec.versions.0.schema": {}},
    "no-storage": {"spec.versions.0.storage": False},
    "nothing-served": {"spec.versions.0.served": False},
    "two-storages": {"spec.versions.-": version("v2", an_object({}))},
    "same-version-twice": {"spec.versions.-": version("v1", an_object({}), storage=False)},
    "warning-without-deprecation": {"spec.versions.0.deprecationWarning": "old"},
    "deprecated": {"spec.versions.0.deprecated": True},
    "preserve-unknown-fields": {"spec.preserveUnknownFields": True},
    "webhook-without-config": {"spec.conversion": {"strategy": "Webhook"}},
    "bad-conversion": {"spec.conversion": {"strategy": "Magic"}},
    "none-with-config": {
        "spec.conversion": {"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}}
    },
    "not-structural": {f"{SPEC}": {"properties": {"a": TEXT}}},
    "root-without-type": {f"{SCHEMA}.type": GONE},
    "root-of-other-type": {f"{SCHEMA}": {"type": "string"}},
    "type-in-any-of": {f"{SPEC}.anyOf": [{"type": "object"}]},
    "properties-only-in-all-of": {f"{SPEC}.allOf": [{"properties": {"b": {"minimum": 1}}}]},
    "default-in-any-of": {
        f"{SPEC}.properties": {"a": TEXT},
        f"{SPEC}.anyOf": [{"properties": {"a": {"default": "x"}}}],
    },
    "unknown-type": {f"{SPEC}": {"type": "thing"}},
    "array-without-items": {f"{SPEC}": {"type": "array"}},
    "items-as-list": {f"{SPEC}": {"type": "array", "items": [TEXT]}},
    "properties-and-additional": {
        f"{SPEC}.properties": {"a": TEXT},
        f"{SPEC}.additionalProperties": TEXT,
    },
    "additional-properties-false": {f"{SPEC}": {"type": "object", "additionalProperties": False}},
    "unique-items": {f"{SPEC}": a_list(TEXT, uniqueItems=True)},
    "reference": {f"{SPEC}": {"$ref": "#/definitions/a"}},
    "definitions": {f"{SCHEMA}.definitions": {"a": TEXT}},
    "pattern-properties": {f"{SPEC}.patternProperties": {"a": TEXT}},
    "dependencies": {f"{SPEC}.dependencies": {"a": ["b"]}},
    "bad-pattern": {f"{SPEC}": {"type": "string", "pattern": "("}},
    "bad-default": {f"{SPEC}.properties": {"a": {"type": "integer", "default": "x"}}},
    "default-not-pruned": {f"{SPEC}.default": {"surprise": 1}},
    "default-of-metadata": {f"{SCHEMA}.properties.metadata": {"type": "object", "default": {}}},
    "metadata-with-labels": {
        f"{SCHEMA}.properties.metadata": an_object({"labels": {"type": "object"}})
    },
    "metadata-name": {
        f"{SCHEMA}.properties.metadata": an_object({"name": {"type": "string", "maxLength": 5}})
    },
    "kind-as-number": {f"{SCHEMA}.properties.kind": NUMBER},
    "nullable-root": {f"{SCHEMA}.nullable": True},
    "bad-list-type": {f"{SPEC}": a_list(TEXT, **{"x-kubernetes-list-type": "bag"})},
    "list-type-of-object": {f"{SPEC}.x-kubernetes-list-type": "set"},
    "map-without-keys": {f"{SPEC}": a_list(an_object({}), **{"x-kubernetes-list-type": "map"})},
    "keys-without-map": {f"{SPEC}": a_list(an_object({}), **{"x-kubernetes-list-map-keys": ["a"]})},
    "map-of-scalars": {
        f"{SPEC}": a_list(
            TEXT, **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]}
        )
    },
    "map-key-unknown": {
        f"{SPEC}": a_list(
            an_object({"b": TEXT}, required=["b"]),
            **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]},
        )
    },
    "map-key-optional": {
        f"{SPEC}": a_list(
            an_object({"a": TEXT}),
            **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]},
        )
    },
    "map-key-object": {
        f"{SPEC}": a_list(
            an_object({"a": an_object({})}, required=["a"]),
            **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]},
        )
    },
    "set-of-objects": {f"{SPEC}": a_list(an_object({}), **{"x-kubernetes-list-type": "set"})},
    "bad-map-type": {f"{SPEC}.x-kubernetes-map-type": "loose"},
    "int-or-string-with-type": {f"{SPEC}": {"type": "string", "x-kubernetes-int-or-string": True}},
    "preserve-false": {f"{SPEC}.x-kubernetes-preserve-unknown-fields": False},
    "preserve-in-text": {
        f"{SPEC}": {"type": "string", "x-kubernetes-preserve-unknown-fields": True}
    },
    "embedded-without-properties": {
        f"{SPEC}": {"type": "object", "x-kubernetes-embedded-resource": True}
    },
    "embedded-at-root": {f"{SCHEMA}.x-kubernetes-embedded-resource": True},
    "minimum-above-maximum": {f"{SPEC}": {"type": "integer", "minimum": 5, "maximum": 1}},
    "bad-rule": {f"{SPEC}.x-kubernetes-validations": [{"rule": "self.a >"}]},
    "empty-rule": {f"{SPEC}.x-kubernetes-validations": [{"rule": ""}]},
    "rule": {
        f"{SPEC}": an_object(
            {"a": NUMBER}, **{"x-kubernetes-validations": [{"rule": "self.a < 5", "message": "m"}]}
        )
    },
    "scale-without-paths": {"spec.versions.0.subresources": {"scale": {}}},
    "scale-bad-paths": {
        "spec.versions.0.subresources": {
            "scale": {"specReplicasPath": "spec.x", "statusReplicasPath": ".spec.y"}
        }
    },
    "bad-column": {"spec.versions.0.additionalPrinterColumns": [{"name": "", "type": "thing"}]},
    "column-without-path": {
        "spec.versions.0.additionalPrinterColumns": [{"name": "A", "type": "string"}]
    },
    "selectable-unknown": {"spec.versions.0.selectableFields": [{"jsonPath": ".spec.none"}]},
    "selectable-metadata": {"spec.versions.0.selectableFields": [{"jsonPath": ".metadata.name"}]},
    "unknown-field": {"spec.surprise": 1},
    "unknown-in-schema": {f"{SPEC}.surprise": 1},
    "wrong-type-in-schema": {f"{SPEC}.required": "a"},
}

APPROVAL = "api-approved.kubernetes.io"


def scenarios() -> Iterator[Scenario]:
    """Scenarios about definitions."""
    yield _refusals()
    yield _approvals()
    yield _lifecycle()
    yield _held_by_custom_resources()
    yield _conflicting_names()
    yield _changes()


def _dry(name: str, body: Json) -> Request:
    path = f"{DEFINITIONS}?dryRun=All"
    return Request(name=name, method="POST", path=path, body=body)


def _get(name: str, document: Json, **more: Json) -> Request:
    return Request(name=name, method="GET", path=_path(document), **more)


def _path(document: Json) -> str:
    return f"{DEFINITIONS}/{document['metadata']['name']}"


def _merge(name: str, document: Json, body: Json) -> Request:
    headers = {"Content-Type": MERGE_PATCH}
    return Request(name=name, method="PATCH", path=_path(document), body=body, headers=headers)


def _refusals() -> Scenario:
    return Scenario(
        name="definitions/refused",
        requests=tuple(_dry(case, edited(BASE, changes)) for case, changes in CHANGES.items()),
    )


def _approvals() -> Scenario:
    base = definition("scenarios.k8s.io", "things", "Thing", version("v1", an_object({})))
    cases: dict[str, Json] = {
        "none": {},
        "empty": {APPROVAL: ""},
        "nonsense": {APPROVAL: "yes"},
        "unapproved": {APPROVAL: "unapproved, an experiment"},
        "url": {APPROVAL: "https://github.com/kubernetes/kubernetes/pull/1"},
    }
    kubernetes = definition("x.kubernetes.io", "things", "Thing", version("v1", an_object({})))
    return Scenario(
        name="definitions/approval",
        requests=(
            *(
                _dry(case, edited(base, {"metadata.annotations": annotations}))
                for case, annotations in cases.items()
            ),
            _dry("kubernetes-io", kubernetes),
        ),
    )


def _lifecycle() -> Scenario:
    group = "lives.example.com"
    document = definition(
        group,
        "lives",
        "Life",
        version("v1", an_object({"spec": an_object({"a": NUMBER})})),
    )
    things = f"/apis/{group}/v1/namespaces/default/lives"
    one = {
        "apiVersion": f"{group}/v1",
        "kind": "Life",
        "metadata": {"name": "one"},
        "spec": {"a": 1, "b": 2},
    }
    return Scenario(
        name="definitions/lifecycle",
        requests=(
            Request(name="before", method="GET", path=things),
            Request(name="created", method="POST", path=DEFINITIONS, body=document),
            _get("established", document, until=is_established),
            Request(name="empty", method="GET", path=things, until=is_found),
            Request(name="one", method="POST", path=things, body=one),
            Request(name="status-not-there", method="GET", path=f"{things}/one/status"),
            Request(name="defined-again", method="POST", path=DEFINITIONS, body=document),
            _merge("metadata", document, {"metadata": {"labels": {"a": "b"}}}),
            Request(name="deleted", method="DELETE", path=_path(document)),
            _get("gone", document, until=is_missing),
            Request(name="things-gone", method="GET", path=things, until=is_missing),
            Request(name="created-again", method="POST", path=DEFINITIONS, body=document),
            _get("established-again", document, until=is_established),
            Request(name="empty-again", method="GET", path=things, until=is_found),
            Request(name="deleted-again", method="DELETE", path=_path(document)),
        ),
    )


def _held_by_custom_resources() -> Scenario:
    group = "holds.example.com"
    document = definition(group, "holds", "Hold", version("v1", an_object({})))
    things = f"/apis/{group}/v1/namespaces/default/holds"
    one = {
        "apiVersion": f"{group}/v1",
        "kind": "Hold",
        "metadata": {"name": "one", "finalizers": ["example.com/hold"]},
    }
    headers = {"Content-Type": MERGE_PATCH}
    let_go = {"metadata": {"finalizers": None}}
    return Scenario(
        name="definitions/held",
        requests=(
            Request(name="created", method="POST", path=DEFINITIONS, body=document),
            _get("established", document, until=is_established),
            Request(
                name="one", method="POST", path=things, body=one, until=lambda a: a.status == 201
            ),
            Request(name="deleted", method="DELETE", path=_path(document)),
            Request(
                name="one-is-asked-to-go",
                method="GET",
                path=f"{things}/one",
                until=lambda a: b"deletionTimestamp" in a.body,
            ),
            Request(
                name="no-more",
                method="POST",
                path=things,
                body={**one, "metadata": {"name": "two"}},
            ),
            Request(
                name="let-go", method="PATCH", path=f"{things}/one", body=let_go, headers=headers
            ),
            _get("gone", document, until=is_missing),
        ),
    )


def _conflicting_names() -> Scenario:
    group = "conflicts.example.com"
    schema = version("v1", an_object({}))
    first = definition(group, "firsts", "Same", schema, singular="first", shortNames=["fs"])
    second = definition(group, "seconds", "Same", schema, singular="second", shortNames=["fs"])
    return Scenario(
        name="definitions/conflicting-names",
        requests=(
            Request(name="first", method="POST", path=DEFINITIONS, body=first),
            _get("first-established", first, until=is_established),
            Request(name="second", method="POST", path=DEFINITIONS, body=second),
            _get("second-judged", second, until=has_names_condition),
        ),
    )


def _changes() -> Scenario:
    group = "changes.example.com"
    document = definition(
        group,
        "changes",
        "Change",
        version("v1", an_object({"spec": an_object({"a": NUMBER})})),
    )
    things = f"/apis/{group}/v1/namespaces/default/changes"
    one = {
        "apiVersion": f"{group}/v1",
        "kind": "Change",
        "metadata": {"name": "one"},
        "spec": {"a": 1},
    }
    grown = an_object({"spec": an_object({"a": NUMBER, "b": {"type": "string", "default": "x"}})})
    with_second = [
        version("v1", grown, subresources={"status": {}}),
        version("v2", grown, storage=False),
    ]

    def updated(name: str, changes: Mapping[str, Json]) -> Request:
        body = Changed("established", changes)
        return Request(name=name, method="PUT", path=_path(document), body=body)

    return Scenario(
        name="definitions/changes",
        requests=(
            Request(name="created", method="POST", path=DEFINITIONS, body=document),
            _get("established", document, until=is_established),
            Request(
                name="one", method="POST", path=things, body=one, until=lambda a: a.status == 201
            ),
            updated("other-scope", {"spec.scope": "Cluster"}),
            updated("other-kind", {"spec.names.kind": "Other"}),
            updated("other-group", {"spec.group": "other.example.com"}),
            updated("other-plural", {"spec.names.plural": "others"}),
            updated("storage-removed", {"spec.versions.0.name": "v9"}),
            updated("no-version", {"metadata.resourceVersion": GONE}),
            updated("grown", {"spec.versions": with_second}),
            Request(
                name="one-as-v2",
                method="GET",
                path=f"{things}/one".replace("/v1/", "/v2/"),
                until=is_found,
            ),
            Request(
                name="one-defaulted",
                method="GET",
                path=f"{things}/one",
                until=lambda a: b'"b"' in a.body,
            ),
            Request(name="one-status", method="GET", path=f"{things}/one/status", until=is_found),
            _get("status-of-definition", document),
            Request(name="status-path", method="GET", path=f"{_path(document)}/status"),
        ),
    )
