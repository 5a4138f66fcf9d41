"""Recipes create common objects, with labels that select their Pods and only the given fields."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest

from steersman.errors import BadName, BadValue
from steersman.kinds import Codec, Part, recipes
from steersman.kinds.apps_v1 import DaemonSet, Deployment, StatefulSet
from steersman.kinds.core_v1 import Container, PodSpec, ServicePort
from steersman.units import Quantity

WEB = Container(name="web", image="nginx")
SIDE = Container(name="side", image="envoy")
NAMED = {"app.kubernetes.io/name": "web"}
HTTP = ServicePort(port=80)


def sent(part: Part) -> Any:
    return msgspec.json.decode(Codec().encode(part))


Workload = Deployment | StatefulSet | DaemonSet
WORKLOADS = (recipes.deployment, recipes.stateful_set, recipes.daemon_set)


def pod_labels(workload: Workload) -> Mapping[str, str] | None:
    assert workload.spec is not None
    assert workload.spec.template.metadata is not None
    return workload.spec.template.metadata.labels


def test_a_deployment_has_only_the_given_fields() -> None:
    assert sent(recipes.deployment("web", WEB, replicas=3)) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "labels": NAMED},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": NAMED},
            "template": {
                "metadata": {"labels": NAMED},
                "spec": {"containers": [{"name": "web", "image": "nginx"}]},
            },
        },
    }


def test_replicas_of_none_are_not_sent() -> None:
    assert "replicas" not in sent(recipes.deployment("web", WEB, replicas=None))["spec"]
    assert "replicas" not in sent(recipes.stateful_set("web", WEB, replicas=None))["spec"]
    assert sent(recipes.deployment("web", WEB, replicas=0))["spec"]["replicas"] == 0


@pytest.mark.parametrize("recipe", WORKLOADS)
def test_labels_are_on_the_object_and_its_pods_but_not_in_the_selector(
    recipe: Callable[..., Workload],
) -> None:
    made = recipe("web", WEB, labels={"tier": "front"})

    assert made.labels == pod_labels(made) == {**NAMED, "tier": "front"}
    assert made.spec is not None
    assert made.spec.selector.match_labels == NAMED


@pytest.mark.parametrize("recipe", WORKLOADS)
def test_a_given_selector_replaces_the_name_label(recipe: Callable[..., Workload]) -> None:
    made = recipe(
        "w" * 60 + ".web" if recipe is recipes.deployment else "web", WEB, selector={"a": "b"}
    )

    assert made.labels == pod_labels(made) == {"a": "b"}
    assert made.spec is not None
    assert made.spec.selector.match_labels == {"a": "b"}


@pytest.mark.parametrize("recipe", WORKLOADS)
def test_a_label_that_contradicts_the_selector_is_rejected(recipe: Callable[..., Workload]) -> None:
    with pytest.raises(BadValue, match="the selector requires 'web'"):
        recipe("web", WEB, labels={"app.kubernetes.io/name": "other"})


def test_the_pod_template_accepts_every_field_of_a_pod() -> None:
    pod = PodSpec(containers=(SIDE,), service_account_name="me")

    made = recipes.deployment("web", WEB, pod=pod, pod_annotations={"scrape": "yes"})

    assert sent(made)["spec"]["template"] == {
        "metadata": {"labels": NAMED, "annotations": {"scrape": "yes"}},
        "spec": {
            "containers": [{"name": "side", "image": "envoy"}, {"name": "web", "image": "nginx"}],
            "serviceAccountName": "me",
        },
    }


def test_a_stateful_set_has_its_service_and_volume_claims() -> None:
    made = sent(recipes.stateful_set("db", WEB, claims=[recipes.pvc("data", "1Gi")]))

    assert made["spec"]["serviceName"] == "db"
    assert made["spec"]["volumeClaimTemplates"] == [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
    ]


def test_a_service_selects_the_pods_of_its_name() -> None:
    assert sent(recipes.service("web", (HTTP,), type="NodePort")) == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "labels": NAMED},
        "spec": {"type": "NodePort", "ports": [{"port": 80}], "selector": NAMED},
    }


def test_a_headless_service_has_no_cluster_ip() -> None:
    assert sent(recipes.service("db", (), headless=True))["spec"] == {
        "clusterIP": "None",
        "selector": {"app.kubernetes.io/name": "db"},
    }


def test_a_job_runs_once_and_has_no_selector() -> None:
    assert sent(recipes.job("web", WEB, backoff_limit=0, keep_seconds=60))["spec"] == {
        "backoffLimit": 0,
        "ttlSecondsAfterFinished": 60,
        "template": {
            "metadata": {"labels": NAMED},
            "spec": {
                "containers": [{"name": "web", "image": "nginx"}],
                "restartPolicy": "Never",
            },
        },
    }


def test_the_restart_policy_of_the_pod_is_kept() -> None:
    pod = PodSpec(containers=(), restart_policy="OnFailure")

    made = sent(recipes.job("web", WEB, pod=pod))

    assert made["spec"]["template"]["spec"]["restartPolicy"] == "OnFailure"


def test_a_cron_job_runs_a_job_on_a_schedule() -> None:
    made = sent(recipes.cron_job("web", "@daily", WEB, time_zone="Etc/UTC"))["spec"]

    assert made["schedule"] == "@daily"
    assert made["timeZone"] == "Etc/UTC"
    assert made["jobTemplate"]["spec"] == sent(recipes.job("web", WEB))["spec"]


def test_a_secret_is_sent_as_data_and_redacted_in_its_repr() -> None:
    made = recipes.secret("web", {"password": "canary", "key": b"\x00\xff"})

    assert sent(made) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "web"},
        "data": {"password": "Y2FuYXJ5", "key": "AP8="},
    }
    assert "canary" not in repr(made)


def test_other_recipes_have_only_the_given_fields() -> None:
    assert sent(recipes.config_map("web", {"a.conf": "x"}))["data"] == {"a.conf": "x"}
    assert sent(recipes.pod("web", WEB))["metadata"]["labels"] == NAMED
    assert sent(recipes.service_account("web", pull_secrets=["registry"])) == {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "web"},
        "imagePullSecrets": [{"name": "registry"}],
    }
    assert sent(recipes.pvc("web", Quantity("1Gi"), storage_class="fast", namespace="here")) == {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "web", "namespace": "here"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "fast",
        },
    }


@pytest.mark.parametrize(("port", "where"), [(8080, {"number": 8080}), ("http", {"name": "http"})])
def test_an_ingress_routes_to_a_port_of_a_service(port: int | str, where: dict[str, Any]) -> None:
    made = recipes.ingress("web", host="web.example.com", port=port, tls_secret="web-tls")

    assert sent(made)["spec"] == {
        "rules": [
            {
                "host": "web.example.com",
                "http": {
                    "paths": [
                        {
                            "path": "/",
                            "pathType": "Prefix",
                            "backend": {"service": {"name": "web", "port": where}},
                        }
                    ]
                },
            }
        ],
        "tls": [{"hosts": ["web.example.com"], "secretName": "web-tls"}],
    }


@pytest.mark.parametrize(
    "recipe",
    [
        lambda name: recipes.deployment(name, WEB),
        lambda name: recipes.stateful_set(name, WEB),
        lambda name: recipes.daemon_set(name, WEB),
        lambda name: recipes.pod(name, WEB),
        lambda name: recipes.job(name, WEB),
        lambda name: recipes.cron_job(name, "@daily", WEB),
        lambda name: recipes.service(name, (HTTP,)),
        lambda name: recipes.ingress(name),
        lambda name: recipes.config_map(name, {}),
        lambda name: recipes.secret(name, {}),
        lambda name: recipes.service_account(name),
        lambda name: recipes.pvc(name, "1Gi"),
    ],
)
@pytest.mark.parametrize("name", ["", "Web", "web_1", "web-", "w" * 254])
def test_a_name_that_kubernetes_rejects_is_rejected(
    recipe: Callable[[str], object], name: str
) -> None:
    with pytest.raises(BadName):
        recipe(name)


def wrong() -> Mapping[str, Callable[[], object]]:
    return {
        "a label's key": lambda: recipes.deployment("web", WEB, labels={"a b": "c"}),
        "a label's value": lambda: recipes.config_map("web", {}, labels={"a": "b c"}),
        "a selector's value": lambda: recipes.service("web", (HTTP,), selector={"a": "b c"}),
        "a selector of nothing": lambda: recipes.service("web", (HTTP,), selector={}),
        "an annotation's key": lambda: recipes.pvc("web", "1Gi", annotations={"a b": "c"}),
        "an annotation's key on Pods": lambda: recipes.job("web", WEB, pod_annotations={"": "c"}),
        "a namespace": lambda: recipes.secret("web", {}, namespace="a.b"),
        "no containers": lambda: recipes.deployment("web"),
        "two of one name": lambda: recipes.deployment("web", WEB, WEB),
        "a container's name": lambda: recipes.pod("web", Container(name="a.b")),
        "fewer than none": lambda: recipes.deployment("web", WEB, replicas=-1),
        "a name too long for a label": lambda: recipes.deployment("w" * 64, WEB),
        "a name too long for a CronJob": lambda: recipes.cron_job("w" * 53, "@daily", WEB),
        "a Service's name with a dot": lambda: recipes.service("a.b", (HTTP,)),
        "a StatefulSet's name with a dot": lambda: recipes.stateful_set("a.b", WEB),
        "a Service without ports": lambda: recipes.service("web", ()),
        "ports without names": lambda: recipes.service("web", (HTTP, ServicePort(port=81))),
        "a headless NodePort": lambda: recipes.service("web", (), type="NodePort", headless=True),
        "an Ingress to no Service": lambda: recipes.ingress("a.b"),
        "a key with a slash": lambda: recipes.config_map("web", {"a/b": ""}),
        "a key that is a way up": lambda: recipes.secret("web", {"..": ""}),
        "a key that is a dot": lambda: recipes.secret("web", {".": ""}),
        "no amount": lambda: recipes.pvc("web", "much"),
    }


@pytest.mark.parametrize("make", wrong().values(), ids=wrong())
def test_an_invalid_argument_is_rejected(make: Callable[[], object]) -> None:
    with pytest.raises(BadValue):
        make()


def test_the_error_for_a_name_too_long_for_a_label_says_what_to_do() -> None:
    with pytest.raises(BadName, match="or pass a selector"):
        recipes.deployment("w" * 64, WEB)
