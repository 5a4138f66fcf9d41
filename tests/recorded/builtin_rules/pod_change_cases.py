"""Changes of existing pods and workloads: merge patches, whose results are sent as updates."""

from typing import Any

from tests.recorded.builtin_rules.cases import Case, Object
from tests.recorded.builtin_rules.pod_cases import CONTAINER, POD, with_changes
from tests.recorded.builtin_rules.workload_cases import (
    CONTROLLER,
    CRON_JOB,
    DAEMON_SET,
    DEPLOYMENT,
    ENDING,
    JOB,
    POD_TEMPLATE,
    REPLICA_SET,
    STATEFUL_SET,
    TEMPLATE,
)

APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/app"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
GATED = with_changes(
    POD, {"schedulingGates": [{"name": "a"}, {"name": "b"}], "nodeSelector": {"a": "b"}}
)
LIMITED = with_changes(POD, {"activeDeadlineSeconds": 10})
RICH = with_changes(
    POD,
    {
        "containers": [
            {
                **CONTAINER,
                "env": [{"name": "A", "value": "1"}],
                "ports": [{"containerPort": 80}],
                "livenessProbe": {"httpGet": {"port": 80}},
                "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
                "volumeMounts": [{"name": "v", "mountPath": "/a"}],
            },
            {"name": "b", "image": "b", "securityContext": {"runAsUser": 1}},
        ],
        "initContainers": [{"name": "i", "image": "i"}],
        "volumes": [{"name": "v", "configMap": {"name": "c"}}],
        "tolerations": [{"key": "a", "operator": "Exists"}],
    },
)


def spec(**fields: Any) -> Object:
    return {"spec": fields}


def containers(*fields: dict[str, Any]) -> Object:
    return spec(containers=[{**CONTAINER, **each} for each in fields])


def annotated(**annotations: str) -> Object:
    return {"metadata": {"annotations": annotations}}


def template(**fields: Any) -> Object:
    return spec(template={**TEMPLATE, "spec": {"containers": [{**CONTAINER, **fields}]}})


def node_affinity(*values: str) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": "k", "operator": "In", "values": list(values)}]}]
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}


TOLERATIONS: list[dict[str, Any]] = [
    {
        "key": f"node.kubernetes.io/{state}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for state in ("not-ready", "unreachable")
]

PODS: dict[str, tuple[Object, Object]] = {
    "nothing": (POD, {}),
    "another image": (POD, containers({"image": "other"})),
    "no image": (POD, containers({"image": ""})),
    "an image with blanks": (POD, containers({"image": " x"})),
    "another name of a container": (POD, containers({"name": "other"})),
    "another container": (POD, containers({}, {"name": "other"})),
    "another init container": (POD, spec(initContainers=[{"name": "i", "image": "i"}])),
    "another variable": (POD, containers({"env": [{"name": "A", "value": "1"}]})),
    "much of much": (
        RICH,
        spec(
            containers=[
                {**CONTAINER, "image": "new", "resources": {"requests": {"cpu": "1"}}},
                {"name": "b", "image": "b", "tty": True},
            ],
            volumes=None,
            hostNetwork=True,
        ),
    ),
    "a deadline": (POD, spec(activeDeadlineSeconds=5)),
    "a later deadline": (LIMITED, spec(activeDeadlineSeconds=11)),
    "an earlier deadline": (LIMITED, spec(activeDeadlineSeconds=9)),
    "no deadline any more": (LIMITED, spec(activeDeadlineSeconds=None)),
    "a deadline below zero": (LIMITED, spec(activeDeadlineSeconds=-1)),
    "another toleration": (
        POD,
        spec(tolerations=[*TOLERATIONS, {"key": "a", "operator": "Exists"}]),
    ),
    "a bad toleration": (POD, spec(tolerations=[*TOLERATIONS, {"key": "a", "operator": "X"}])),
    "no toleration": (POD, spec(tolerations=None)),
    "no toleration of its own": (RICH, spec(tolerations=TOLERATIONS)),
    "longer tolerations": (
        POD,
        spec(tolerations=[{**each, "tolerationSeconds": 5} for each in TOLERATIONS]),
    ),
    "another grace": (POD, spec(terminationGracePeriodSeconds=1)),
    "another node selector": (POD, spec(nodeSelector={"a": "b"})),
    "a node": (POD, spec(nodeName="n")),
    "the host's network": (POD, spec(hostNetwork=True)),
    "no priority": (POD, spec(priority=None, preemptionPolicy=None)),
    "another service account": (POD, spec(serviceAccountName="me")),
    "a gate": (POD, spec(schedulingGates=[{"name": "a"}])),
    "one gate less": (GATED, spec(schedulingGates=[{"name": "b"}])),
    "another gate": (GATED, spec(schedulingGates=[{"name": "a"}, {"name": "c"}])),
    "more nodes at a gate": (GATED, spec(nodeSelector={"c": "d"})),
    "other nodes at a gate": (GATED, spec(nodeSelector={"a": "c"})),
    "affinity at a gate": (GATED, spec(affinity=node_affinity("a"))),
    "affinity at a gate, changed": (
        with_changes(GATED, {"affinity": node_affinity("a")}),
        spec(affinity=node_affinity("b")),
    ),
    "no affinity at a gate any more": (
        with_changes(GATED, {"affinity": node_affinity("a")}),
        spec(affinity=None),
    ),
    "a label": (POD, {"metadata": {"labels": {"a": "b"}}}),
    "an annotation of AppArmor": (POD, annotated(**{APP_ARMOR: "unconfined"})),
    "an annotation of a mirror": (POD, annotated(**{"kubernetes.io/config.mirror": "x"})),
}


def status(**fields: Any) -> Object:
    return {"status": fields}


POD_STATUSES: dict[str, Object] = {
    "a phase": status(phase="Running", podIP="10.1.1.1", hostIP="10.1.1.2"),
    "conditions": status(conditions=[{"type": "Ready", "status": "True"}]),
    "a bad condition": status(conditions=[{"type": "a b", "status": "True"}]),
    "a class": status(qosClass="Guaranteed"),
    "no class": status(qosClass=None),
    "addresses": status(podIPs=[{"ip": "10.1.1.1"}, {"ip": "fd00::1"}]),
    "addresses of one family": status(podIPs=[{"ip": "10.1.1.1"}, {"ip": "10.1.1.2"}]),
    "an address that is none": status(podIP="x"),
    "an address that differs": status(podIP="10.1.1.1", podIPs=[{"ip": "10.1.1.2"}]),
    "addresses of hosts": status(hostIP="10.1.1.1", hostIPs=[{"ip": "10.1.1.2"}]),
    "a nomination": status(nominatedNodeName="n1"),
    "a bad nomination": status(nominatedNodeName="N"),
    "a generation below zero": status(observedGeneration=-1),
    "labels and the spec": {
        "metadata": {"labels": {"x": "y"}},
        "spec": {"hostNetwork": True},
        "status": {"reason": "r"},
    },
}
COUNTS = ("updatedReplicas", "readyReplicas", "availableReplicas")
WORKLOADS: dict[str, tuple[Object, Object]] = {
    "another selector": (DEPLOYMENT, spec(selector={"matchLabels": {"app": "two", "a": "b"}})),
    "more replicas": (DEPLOYMENT, spec(replicas=3)),
    "less than no replicas": (DEPLOYMENT, spec(replicas=-3)),
    "another image": (DEPLOYMENT, template(image="other")),
    "an annotation": (DEPLOYMENT, annotated(a="b")),
    "a label": (DEPLOYMENT, {"metadata": {"labels": {"a": "b"}}}),
    "nothing": (DEPLOYMENT, {}),
    "another selector of a set": (REPLICA_SET, spec(selector={"matchLabels": {"app": "two"}})),
    "more of a set": (REPLICA_SET, spec(replicas=3)),
    "another service": (STATEFUL_SET, spec(serviceName="two")),
    "more in order": (STATEFUL_SET, spec(replicas=3)),
    "less than none in order": (STATEFUL_SET, spec(replicas=-1)),
    "another daemon": (DAEMON_SET, template(image="other")),
    "a daemon's annotation": (DAEMON_SET, annotated(a="b")),
    "another selector of daemons": (DAEMON_SET, spec(selector={"matchLabels": {"app": "two"}})),
    "more pods of a job": (JOB, spec(parallelism=3)),
    "more completions": (JOB, spec(completions=3)),
    "a suspended job": (JOB, spec(suspend=True)),
    "another image of a job": (
        JOB,
        spec(template={"spec": {"containers": [{**CONTAINER, "image": "other"}]}}),
    ),
    "another image of a suspended job": (
        with_changes(JOB, {"suspend": True}),
        spec(template={"spec": {"containers": [{**CONTAINER, "image": "other"}]}}),
    ),
    "other nodes of a suspended job": (
        with_changes(JOB, {"suspend": True}),
        spec(template={"spec": {"nodeSelector": {"a": "b"}}}),
    ),
    "another mode": (JOB, spec(completionMode="Indexed")),
    "another schedule": (CRON_JOB, spec(schedule="@hourly")),
    "other pods of a schedule": (
        CRON_JOB,
        spec(jobTemplate={"spec": {"template": {**ENDING, "metadata": {"labels": {"a": "b"}}}}}),
    ),
    "another selector of a controller": (CONTROLLER, spec(selector={"app": "two"})),
    "more of a controller": (CONTROLLER, spec(replicas=3)),
    "another template": (
        POD_TEMPLATE,
        {"template": {"spec": {"containers": [{**CONTAINER, "image": "other"}]}}},
    ),
}
WORKLOAD_STATUSES: dict[str, tuple[Object, Object]] = {
    "counts": (DEPLOYMENT, status(replicas=2, observedGeneration=1, readyReplicas=1)),
    "counts that are too large": (DEPLOYMENT, status(replicas=0, **dict.fromkeys(COUNTS, 2))),
    "counts below zero": (DEPLOYMENT, status(replicas=-1, unavailableReplicas=-1)),
    "more available than ready": (DEPLOYMENT, status(replicas=2, availableReplicas=1)),
    "labels and annotations": (
        DEPLOYMENT,
        {"metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}}, "spec": {"replicas": 9}},
    ),
    "counts of a set": (REPLICA_SET, status(replicas=0, readyReplicas=1, availableReplicas=2)),
    "counts in order": (STATEFUL_SET, status(replicas=0, readyReplicas=1, availableReplicas=2)),
    "counts of daemons": (DAEMON_SET, status(numberReady=-1, numberAvailable=-1)),
    "counts of a controller": (CONTROLLER, status(replicas=0, readyReplicas=1)),
}


def change_cases() -> list[Case]:
    """All cases."""
    cases = [_case(says, *change) for table in (PODS, WORKLOADS) for says, change in table.items()]
    cases += [_case(says, POD, change, "status") for says, change in POD_STATUSES.items()]
    return cases + [_case(says, *change, "status") for says, change in WORKLOAD_STATUSES.items()]


def _case(says: str, body: Object, change: Object, subresource: str = "") -> Case:
    return Case(
        says=f"{says}, in the status" if subresource else says,
        plural=f"{body['kind'].lower()}s",
        api_version=body["apiVersion"],
        body=body,
        change=change,
        subresource=subresource,
    )
