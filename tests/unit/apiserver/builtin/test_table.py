from random import Random

import pytest

from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.network.service_network import ServiceNetwork
from tests.unit.apiserver.builtin.here import SCHEMAS, Here, rules_with

RULES = rules_with(ServiceNetwork(rng=Random(1)))


def resources_with(flag: str) -> set[str]:
    return {str(resource) for resource, rules in RULES.items() if getattr(rules, flag) is not False}


def test_every_built_in_resource_has_rules() -> None:
    served = {GroupResource(each.gvk.group, each.plural) for each in SCHEMAS.resources}

    assert RULES.keys() == served


def test_rules_know_a_status_where_there_is_a_status_to_write() -> None:
    with_status = {
        str(GroupResource(each.gvk.group, each.plural))
        for each in SCHEMAS.resources
        if "status" in each.subresources
    }

    assert resources_with("has_status") == with_status


def test_a_deletion_of_these_answers_what_was_deleted() -> None:
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


def test_a_put_of_these_creates_what_is_not_there() -> None:
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


def test_a_put_of_these_says_which_version_it_replaces() -> None:
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
def test_field_selectors_may_name_more_than_names(
    plural: str, api_version: str, body: dict[str, object], fields: dict[str, str]
) -> None:
    here = Here(api_version, plural)

    stored = here.create({"metadata": {"name": "it"}, **body}, namespace="")

    assert here.strategy.selectable(stored).items() >= {**fields, "metadata.name": "it"}.items()
