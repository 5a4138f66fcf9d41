"""The facts that are extracted from a server's API."""

from typing import Any

import pytest

from steersman.kinds.generate import facts_of
from steersman.kinds.generate.facts import module_of

THING = "io.k8s.api.things.v1.Thing"
META = "io.k8s.apimachinery.pkg.apis.meta.v1"


def thing(**changes: Any) -> dict[str, Any]:
    return {
        "description": "A thing.",
        "type": "object",
        "required": ["ports"],
        "properties": {
            "description": {"description": "What it is.", "type": "string", "default": ""},
            "ports": {
                "description": "Where it listens.",
                "type": "array",
                "items": {"description": "One.", "type": "integer", "format": "int32"},
                "x-kubernetes-list-type": "set",
            },
            "extra": {"additionalProperties": {"description": "More.", "type": "string"}},
            "owner": {
                "description": "Whose.",
                "allOf": [{"$ref": f"#/components/schemas/{THING}"}],
            },
        },
        "x-kubernetes-group-version-kind": [
            {"group": "things.k8s.io", "version": "v1", "kind": "Thing"}
        ],
        **changes,
    }


def document(**schemas: Any) -> dict[str, Any]:
    names = {"Thing": THING, "DeleteOptions": f"{META}.DeleteOptions"}
    return {"paths": {}, "components": {"schemas": {names[k]: v for k, v in schemas.items()}}}


DISCOVERY: dict[str, Any] = {
    "items": [
        {
            "metadata": {"name": "things.k8s.io"},
            "versions": [
                {
                    "version": "v1",
                    "resources": [
                        {
                            "resource": "things",
                            "singularResource": "thing",
                            "responseKind": {"group": "", "version": "", "kind": "Thing"},
                            "scope": "Cluster",
                            "verbs": ["get", "list"],
                            "shortNames": ["th"],
                            "subresources": [
                                {
                                    "subresource": "scale",
                                    "responseKind": {
                                        "group": "autoscaling",
                                        "version": "v1",
                                        "kind": "Scale",
                                    },
                                    "verbs": ["get"],
                                }
                            ],
                        }
                    ],
                },
                {"version": "v1beta1", "resources": []},
            ],
        }
    ]
}


def test_descriptions_are_dropped_and_everything_else_is_kept() -> None:
    facts = facts_of([document(Thing=thing())], [DISCOVERY])

    assert facts["things_v1"]["schemas"][THING] == {
        "type": "object",
        "required": ["ports"],
        "properties": {
            "description": {"type": "string", "default": ""},
            "ports": {
                "type": "array",
                "items": {"type": "integer", "format": "int32"},
                "x-kubernetes-list-type": "set",
            },
            "extra": {"additionalProperties": {"type": "string"}},
            "owner": {"allOf": [{"$ref": f"#/components/schemas/{THING}"}]},
        },
        "x-kubernetes-group-version-kind": [
            {"group": "things.k8s.io", "version": "v1", "kind": "Thing"}
        ],
    }


def test_discovery_provides_the_resource_of_a_kind() -> None:
    facts = facts_of([document(Thing=thing())], [DISCOVERY])

    assert facts["things_v1"]["group"] == "things.k8s.io"
    assert facts["things_v1"]["resources"] == {
        "things": {
            "kind": "Thing",
            "singular": "thing",
            "namespaced": False,
            "verbs": ["get", "list"],
            "shortNames": ["th"],
            "subresources": {
                "scale": {
                    "group": "autoscaling",
                    "version": "v1",
                    "kind": "Scale",
                    "verbs": ["get"],
                }
            },
        }
    }


def test_only_stable_versions_are_kept() -> None:
    gvk = {"group": "things.k8s.io", "version": "v1beta1", "kind": "Thing"}
    schema = thing(**{"x-kubernetes-group-version-kind": [gvk]})
    beta = {"components": {"schemas": {"io.k8s.api.things.v1beta1.Thing": schema}}}

    facts = facts_of([document(Thing=thing()), beta], [DISCOVERY])

    assert set(facts) == {"meta_v1", "things_v1"}
    assert set(facts["things_v1"]["schemas"]) == {THING}
    assert facts["meta_v1"]["schemas"] == {}


def test_kinds_of_other_groups_are_left_out() -> None:
    gvk = {"group": "example.com", "version": "v1", "kind": "Widget"}
    widget = {"type": "object", "x-kubernetes-group-version-kind": [gvk]}
    theirs = {"components": {"schemas": {"com.example.v1.Widget": widget}}}
    version = {"version": "v1", "resources": []}
    served = {"items": [{"metadata": {"name": "example.com"}, "versions": [version]}]}

    facts = facts_of([document(Thing=thing()), theirs], [DISCOVERY, served])

    assert set(facts) == {"meta_v1", "things_v1"}


def test_a_schema_of_every_group_belongs_to_meta_v1() -> None:
    kinds = [
        {"group": group, "version": "v1", "kind": "DeleteOptions"}
        for group in ("", "apps", "batch")
    ]
    options = {"type": "object", "x-kubernetes-group-version-kind": kinds}

    facts = facts_of([document(Thing=thing(), DeleteOptions=options)], [DISCOVERY])

    assert facts["meta_v1"]["schemas"] == {
        f"{META}.DeleteOptions": {
            "type": "object",
            "x-kubernetes-group-version-kind": kinds[:1],
        }
    }


def test_documents_that_contradict_each_other_are_rejected() -> None:
    documents = [document(Thing=thing()), document(Thing=thing(required=[]))]

    with pytest.raises(
        ValueError, match=r"two documents contain different schemas of io\.k8s\.api\.things"
    ):
        facts_of(documents, [DISCOVERY])


@pytest.mark.parametrize(
    ("component", "module"),
    [
        ("io.k8s.api.apps.v1.Deployment", "apps_v1"),
        ("io.k8s.api.autoscaling.v2.MetricSpec", "autoscaling_v2"),
        ("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService", "apiregistration_v1"),
        (f"{META}.ObjectMeta", "meta_v1"),
        ("io.k8s.apimachinery.pkg.api.resource.Quantity", "meta_v1"),
        ("io.k8s.apimachinery.pkg.util.intstr.IntOrString", "meta_v1"),
    ],
)
def test_a_schema_belongs_to_the_module_of_its_group_and_version(
    component: str, module: str
) -> None:
    assert module_of(component) == module
