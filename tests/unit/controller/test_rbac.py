"""The permissions that a controller needs, derived from its declaration."""

from typing import Any

import pytest
import yaml

from steersman.controller import Context, Controller, Outcome, Owns, Watch, Writes
from steersman.controller.rbac import (
    RbacRule,
    permissions,
    policy_rules,
    rules_by_namespace,
    rules_yaml,
)
from steersman.kinds import Unstructured, apps_v1, autoscaling_v1, core_v1, rbac_v1
from tests.unit.controller.apps import App

EVENTS = "create, patch events.events.k8s.io in the whole cluster"


async def reconcile(obj: Any, ctx: Context) -> Outcome:
    raise NotImplementedError


def controller(kind: Any = App, **declared: Any) -> Controller[Any]:
    return Controller(kind, reconcile=reconcile, **declared)


def permissions_of(
    *controllers: Controller[Any], lease: tuple[str, str] | None = None
) -> list[str]:
    return [str(rule) for rule in permissions(controllers, lease=lease, namespaces=())]


PLURAL = f"{App.resource_type.plural}.{App.resource_type.gvk.group}"
FINALIZERS = f"update {PLURAL}/finalizers in the whole cluster"


def test_a_controller_reads_its_kind_and_patches_its_status() -> None:
    assert permissions_of(controller()) == [
        f"get, list, watch {PLURAL} in the whole cluster",
        f"patch {PLURAL}/status in the whole cluster",
        EVENTS,
    ]


@pytest.mark.parametrize(
    ("declared", "also"),
    [
        ({"finalize": reconcile}, {f"get, list, watch, patch {PLURAL} in the whole cluster"}),
        (
            {"owns": (apps_v1.Deployment,)},
            {
                "get, list, watch, create, patch deployments.apps in the whole cluster",
                FINALIZERS,
            },
        ),
        (
            {"owns": (Owns(core_v1.Pod, verbs=("create", "delete")),)},
            {"get, list, watch, create, delete pods in the whole cluster", FINALIZERS},
        ),
        (
            {"watches": (Watch(core_v1.ConfigMap),)},
            {"get, list, watch configmaps in the whole cluster"},
        ),
        ({"reads": (core_v1.Secret,)}, {"get, list secrets in the whole cluster"}),
        (
            {"writes": (apps_v1.Deployment,)},
            {
                "get, create, patch deployments.apps in the whole cluster",
                FINALIZERS,
            },
        ),
        (
            {"writes": (Writes(core_v1.Node, verbs=("patch",)),)},
            {"get, patch nodes in the whole cluster", FINALIZERS},
        ),
        (
            {"writes": (Writes(core_v1.Pod, verbs=("delete",)),)},
            {"delete pods in the whole cluster", FINALIZERS},
        ),
        (
            {"writes": (Writes(core_v1.Pod, subresource="status"),)},
            {
                "get pods in the whole cluster",
                "patch pods/status in the whole cluster",
                FINALIZERS,
            },
        ),
        (
            {"writes": (Writes(core_v1.ConfigMap, names=("one", "two")),)},
            {
                "create configmaps in the whole cluster",
                "get, patch configmaps one, two in the whole cluster",
                FINALIZERS,
            },
        ),
        (
            {"writes": (App,)},
            {
                f"get, list, watch, create, patch {PLURAL} in the whole cluster",
                FINALIZERS,
            },
        ),
    ],
    ids=lambda each: next(iter(each)) if isinstance(each, dict) else "",
)
def test_a_controller_gets_the_declared_permissions_only(
    declared: dict[str, Any], also: set[str]
) -> None:
    assert set(permissions_of(controller(**declared))) - set(permissions_of(controller())) == also


def test_reading_scales_permits_the_scale_of_any_kind() -> None:
    rules = permissions([controller(reads=(autoscaling_v1.Scale,))], lease=None, namespaces=())

    assert RbacRule(group="*", resource="*", subresource="scale", verbs=("get",)) in rules
    assert not [rule for rule in rules if rule.resource == "scales"]


def test_a_controller_with_an_event_source_writes_core_events() -> None:
    wanted = permissions_of(controller(event_source="deployment-controller"))

    assert "create, patch events in the whole cluster" in wanted
    assert EVENTS not in wanted


def test_a_kind_without_a_class_may_have_a_status() -> None:
    thing = Unstructured.of("example.com/v1", "Thing")

    assert "patch things.example.com/status in the whole cluster" in permissions_of(
        controller(thing)
    )


def test_with_namespaces_only_cluster_scoped_kinds_are_granted_everywhere() -> None:
    found = permissions(
        [controller(owns=(rbac_v1.ClusterRole,))], lease=None, namespaces=("one", "two")
    )

    per_role = {
        place: {rule.path for rule in rules} for place, rules in rules_by_namespace(found).items()
    }
    of_namespaces = {
        App.resource_type.plural,
        f"{App.resource_type.plural}/status",
        f"{App.resource_type.plural}/finalizers",
        "events",
    }
    assert per_role == {
        "one": of_namespaces,
        "two": of_namespaces,
        "default": {"events"},
        None: {"clusterroles"},
    }


def test_only_the_own_lease_may_be_changed() -> None:
    rules = [rule for rule in permissions_of(lease=("apps", "operator")) if "leases" in rule]

    assert rules == [
        "create leases.coordination.k8s.io in namespace apps",
        "get, patch leases.coordination.k8s.io operator in namespace apps",
    ]


def test_only_events_and_owner_finalizers_are_optional() -> None:
    found = permissions(
        [controller(owns=(apps_v1.Deployment,), finalize=reconcile)],
        lease=("apps", "operator"),
        namespaces=(),
    )

    assert {rule.path for rule in found if not rule.is_needed} == {"apps/finalizers", "events"}


def test_rules_of_two_controllers_are_merged_by_resource() -> None:
    both = permissions(
        [
            controller(owns=(apps_v1.Deployment,)),
            controller(name="other", watches=(Watch(apps_v1.Deployment),)),
        ],
        lease=None,
        namespaces=(),
    )

    assert len({(rule.group, rule.path) for rule in both}) == len(both)
    (deployments,) = (rule for rule in both if rule.resource == "deployments")
    assert deployments.verbs == ("get", "list", "watch", "create", "patch")


def test_the_order_of_declarations_makes_no_difference() -> None:
    one = permissions_of(controller(owns=(apps_v1.Deployment, core_v1.Service)))
    other = permissions_of(controller(owns=(core_v1.Service, apps_v1.Deployment)))

    assert one == other


def test_policy_rules_merge_resources_with_the_same_verbs() -> None:
    rules = (
        RbacRule(group="apps", resource="deployments", verbs=("get",), namespace="one"),
        RbacRule(group="apps", resource="deployments", verbs=("get",), namespace="two"),
        RbacRule(group="apps", resource="statefulsets", verbs=("get",)),
        RbacRule(group="apps", resource="deployments", subresource="status", verbs=("patch",)),
        RbacRule(group="", resource="secrets", verbs=("get",), names=("true",)),
    )

    assert policy_rules(rules) == (
        rbac_v1.PolicyRule(
            api_groups=("",), resources=("secrets",), verbs=("get",), resource_names=("true",)
        ),
        rbac_v1.PolicyRule(
            api_groups=("apps",), resources=("deployments", "statefulsets"), verbs=("get",)
        ),
        rbac_v1.PolicyRule(
            api_groups=("apps",), resources=("deployments/status",), verbs=("patch",)
        ),
    )


def test_the_yaml_has_the_same_rules() -> None:
    rules = (
        RbacRule(group="", resource="secrets", verbs=("get",), names=("true", "web-1", "1e3")),
        RbacRule(group="apps", resource="deployments", subresource="status", verbs=("patch",)),
    )

    text = rules_yaml(rules)

    assert text == (
        "rules:\n"
        '- apiGroups: [""]\n'
        "  resources: [secrets]\n"
        '  resourceNames: ["true", web-1, "1e3"]\n'
        "  verbs: [get]\n"
        "- apiGroups: [apps]\n"
        "  resources: [deployments/status]\n"
        "  verbs: [patch]\n"
    )
    assert yaml.safe_load(text)["rules"][0] == {
        "apiGroups": [""],
        "resources": ["secrets"],
        "resourceNames": ["true", "web-1", "1e3"],
        "verbs": ["get"],
    }
    assert yaml.safe_load(rules[1].yaml) == [yaml.safe_load(text)["rules"][1]]
