from random import Random

import pytest

from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.network.service_network import ServiceNetwork
from tests.unit.apiserver.builtin.kind_handler import SCHEMAS, KindHandler, strategies_with

RULES = strategies_with(ServiceNetwork(rng=Random(1)))


def resources_with(flag: str) -> set[str]:
    return {str(resource) for resource, rules in RULES.items() if getattr(rules, flag) is not False}


def test_every_built_in_resource_has_a_strategy() -> None:
    served = {GroupResource(each.gvk.group, each.plural) for each in SCHEMAS.resources}

    assert RULES.keys() == served


def test_a_strategy_has_a_status_exactly_if_the_resource_has_a_status_subresource() -> None:
    with_status = {
        str(GroupResource(each.gvk.group, each.plural))
        for each in SCHEMAS.resources
        if "status" in each.subresources
    }

    assert resources_with("has_status") == with_status


def test_the_response_to_a_deletion_contains_the_object_for_these_resources() -> None:
    assert resources_with("return_deleted_object") == {
        "csidrivers.storage.k8s.io",
        "csinodes.storage.k8s.io",
        "deviceclasses.resource.k8s.io",
        "namespaces",
        "persistentvolumeclaims",
        "persistentvolumes",
        "pods",
        "podtemplates",
        "resourceclaims.resource.k8s.io",
        "resourceclaimtemplates.resource.k8s.io",
        "resourcequotas",
        "resourceslices.resource.k8s.io",
        "serviceaccounts",
        "services",
        "storageclasses.storage.k8s.io",
        "volumeattachments.storage.k8s.io",
        "volumeattributesclasses.storage.k8s.io",
    }


def test_a_put_creates_a_missing_object_for_these_resources() -> None:
    assert resources_with("allow_create_on_update") == {
        "clusterrolebindings.rbac.authorization.k8s.io",
        "clusterroles.rbac.authorization.k8s.io",
        "endpoints",
        "events",
        "events.events.k8s.io",
        "leases.coordination.k8s.io",
        "limitranges",
        "rolebindings.rbac.authorization.k8s.io",
        "roles.rbac.authorization.k8s.io",
        "runtimeclasses.node.k8s.io",
        "services",
    }


def test_a_put_requires_a_resource_version_for_these_resources() -> None:
    conditional = {
        str(resource) for resource, rules in RULES.items() if not rules.allow_unconditional_update
    }

    assert conditional == {
        "apiservices.apiregistration.k8s.io",
        "csidrivers.storage.k8s.io",
        "csinodes.storage.k8s.io",
        "csistoragecapacities.storage.k8s.io",
        "customresourcedefinitions.apiextensions.k8s.io",
        "leases.coordination.k8s.io",
        "mutatingadmissionpolicies.admissionregistration.k8s.io",
        "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
        "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        "poddisruptionbudgets.policy",
        "runtimeclasses.node.k8s.io",
        "validatingadmissionpolicies.admissionregistration.k8s.io",
        "validatingadmissionpolicybindings.admissionregistration.k8s.io",
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
        "volumeattachments.storage.k8s.io",
    }


@pytest.mark.parametrize(
    ("plural", "api_version", "body", "fields"),
    [
        ("secrets", "v1", {}, {"type": "Opaque"}),
        ("nodes", "v1", {"spec": {"unschedulable": True}}, {"spec.unschedulable": "true"}),
        ("namespaces", "v1", {}, {"status.phase": "Active"}),
        (
            "resourceslices",
            "resource.k8s.io/v1",
            {
                "spec": {
                    "driver": "d",
                    "nodeName": "n",
                    "pool": {"name": "p", "resourceSliceCount": 1},
                }
            },
            {"spec.driver": "d", "spec.nodeName": "n"},
        ),
    ],
)
def test_an_object_can_be_selected_by_the_fields_of_its_kind(
    plural: str, api_version: str, body: dict[str, object], fields: dict[str, str]
) -> None:
    handler = KindHandler(api_version, plural)

    stored = handler.create({"metadata": {"name": "it"}, **body}, namespace="")

    assert handler.strategy.selectable(stored).items() >= {**fields, "metadata.name": "it"}.items()
