"""Namespaces, Leases, Events, autoscalers, and some defaults of other kinds."""

from collections.abc import Iterator
from typing import Any

from tests.recorded.builtin_rules.cases import HERE, Case, Object

MOMENT = "2026-01-02T03:04:05.678901Z"
LONG = "x" * 129


def other_cases() -> Iterator[Case]:
    yield from _namespaces()
    yield from _leases()
    yield from _events()
    yield from _new_events()
    yield from _autoscalers()
    yield from _defaults()


def _namespaces() -> Iterator[Case]:
    def space(
        says: str, *, change: Object | None = None, subresource: str = "", **parts: Any
    ) -> Case:
        metadata = parts.pop("metadata", {"name": "rules-of-namespaces"})
        return Case(
            says=says,
            plural="namespaces",
            body={"metadata": metadata, **parts},
            change=change,
            subresource=subresource,
            namespaced=False,
        )

    yield space("plain")
    yield space("with a status of its own", status={"phase": "Terminating"})
    yield space("with labels", metadata={"name": "x", "labels": {"a": "b"}})
    yield space(
        "with another's name for a label",
        metadata={"name": "x", "labels": {"kubernetes.io/metadata.name": "y"}},
    )
    for name in ("A", "a.b", "1a", "a" * 63, "a" * 64, "-a"):
        yield space(f"named {name}", metadata={"name": name})
    for finalizer in (
        "kubernetes",
        "example.com/x",
        "orphan",
        "foregroundDeletion",
        "x",
        "a b",
        "",
    ):
        yield space(f"with finalizer {finalizer!r}", spec={"finalizers": [finalizer]})
    yield space("with two finalizers", spec={"finalizers": ["example.com/x", "kubernetes"]})
    live = "default"
    for says, change in (
        ("other labels", {"metadata": {"labels": {"a": "b"}}}),
        ("no labels", {"metadata": {"labels": None}}),
        ("other finalizers", {"spec": {"finalizers": ["example.com/x"]}}),
        ("no finalizers", {"spec": {"finalizers": []}}),
        ("another phase", {"status": {"phase": "Terminating"}}),
    ):
        yield Case(
            says=f"put with {says}",
            plural="namespaces",
            body={"metadata": {"name": live}},
            change=change,
            namespaced=False,
            there_already=True,
        )
    for phase in ("Active", "Terminating", "Other", None):
        yield Case(
            says=f"reported {phase}",
            plural="namespaces",
            body={"metadata": {"name": live}},
            change={"status": {"phase": phase}},
            subresource="status",
            namespaced=False,
            there_already=True,
        )
    for finalizers in (["example.com/x"], ["x"], ["kubernetes", "a b"]):
        yield Case(
            says=f"finalized to {finalizers}",
            plural="namespaces",
            body={"metadata": {"name": live}},
            change={"spec": {"finalizers": finalizers}},
            subresource="finalize",
            namespaced=False,
            there_already=True,
        )


def _leases() -> Iterator[Case]:
    def lease(says: str, *, change: Object | None = None, name: str = "lock", **spec: Any) -> Case:
        return Case(
            says=says,
            plural="leases",
            api_version="coordination.k8s.io/v1",
            body={"metadata": {"name": name}, "spec": spec},
            change=change,
        )

    yield lease("empty")
    yield Case(
        says="without a spec",
        plural="leases",
        api_version="coordination.k8s.io/v1",
        body={"metadata": {"name": "lock"}},
    )
    yield lease("held", holderIdentity="me", leaseDurationSeconds=15, renewTime=MOMENT)
    for seconds in (0, -1, 1):
        yield lease(f"for {seconds} s", leaseDurationSeconds=seconds)
    for times in (-1, 0, 3):
        yield lease(f"after {times} transitions", leaseTransitions=times)
    yield lease("wrong twice", leaseDurationSeconds=0, leaseTransitions=-1)
    yield lease("by a strategy", strategy="OldestEmulationVersion", preferredHolder="me")
    yield lease("named like a path", name="a/b")
    yield lease("named in capitals", name="A")
    yield lease("renewed", holderIdentity="me", change={"spec": {"renewTime": MOMENT}})
    yield lease("shortened too far", change={"spec": {"leaseDurationSeconds": 0}})


def _event(**parts: Any) -> Object:
    about = parts.pop("namespace", HERE)
    return {
        "metadata": {"name": "it-happened"},
        "involvedObject": {"kind": "Pod", "name": "x", "namespace": about},
        **parts,
    }


def _events() -> Iterator[Case]:
    def event(says: str, body: Object, *, change: Object | None = None) -> Case:
        return Case(says=says, plural="events", body=body, change=change)

    complete = {
        "eventTime": MOMENT,
        "reportingComponent": "example.com/x",
        "reportingInstance": "one",
        "action": "Acting",
        "reason": "Because",
    }
    yield event("plain", _event(reason="Because", message="m", type="Normal", count=1))
    yield event("about nothing", {"metadata": {"name": "it-happened"}})
    yield event("about elsewhere", _event(namespace="elsewhere"))
    yield event("about no namespace", _event(namespace=""))
    yield event("of an odd type", _event(type="Other"))
    yield event("with a time only", _event(eventTime=MOMENT))
    yield event("complete", _event(**complete))
    yield event("complete, about elsewhere", _event(**complete, namespace="elsewhere"))
    yield event("complete, about no namespace", _event(**complete, namespace=""))
    yield event("with a bad reporter", _event(**{**complete, "reportingComponent": "a b"}))
    for field in ("reportingInstance", "action", "reason"):
        yield event(f"with a long {field}", _event(**{**complete, field: LONG}))
    yield event("with a long message", _event(**complete, message="x" * 1025))
    yield event("with a series of one", _event(**complete, series={"count": 1}))
    yield event("with an odd name", {**_event(), "metadata": {"name": "It_Happened.17"}})
    yield event("changed", _event(), change={"reason": "Other", "message": "m", "count": 7})


def _new_events() -> Iterator[Case]:
    def event(says: str, *, change: Object | None = None, without: str = "", **parts: Any) -> Case:
        body = {
            "metadata": {"name": "it-happened"},
            "eventTime": MOMENT,
            "reportingController": "example.com/x",
            "reportingInstance": "one",
            "action": "Acting",
            "reason": "Because",
            "type": "Normal",
            "regarding": {"kind": "Pod", "name": "x", "namespace": HERE},
            **parts,
        }
        body.pop(without, None)
        return Case(
            says=says, plural="events", api_version="events.k8s.io/v1", body=body, change=change
        )

    yield event("complete", note="n")
    for field in (
        "eventTime",
        "reportingController",
        "reportingInstance",
        "action",
        "reason",
        "type",
        "regarding",
    ):
        yield event(f"without {field}", without=field)
    yield event("with an odd type", type="Other")
    yield event("with a count", deprecatedCount=1)
    yield event("with a source", deprecatedSource={"component": "x"})
    yield event(
        "with old times",
        deprecatedFirstTimestamp="2026-01-02T03:04:05Z",
        deprecatedLastTimestamp="2026-01-02T03:04:05Z",
    )
    yield event("with a series", series={"count": 2, "lastObservedTime": MOMENT})
    yield event("with a short series", series={"count": 1, "lastObservedTime": MOMENT})
    yield event("with a series never seen", series={"count": 3, "lastObservedTime": None})
    yield event("with a long note", note="x" * 1025)
    yield event("with an odd name", metadata={"name": "It_Happened"})
    yield event("seen again", change={"series": {"count": 2, "lastObservedTime": MOMENT}})
    yield event("seen again, badly", change={"series": {"count": 1, "lastObservedTime": MOMENT}})
    for field, value in (
        ("note", "other"),
        ("reason", "Other"),
        ("type", "Warning"),
        ("action", "Other"),
        ("eventTime", "2026-01-02T03:04:06.678901Z"),
        ("regarding", {"name": "y"}),
        ("related", {"kind": "Node", "name": "n"}),
        ("reportingController", "example.com/y"),
        ("reportingInstance", "two"),
        ("deprecatedCount", 3),
        ("deprecatedSource", {"host": "h"}),
        ("deprecatedFirstTimestamp", "2026-01-02T03:04:06Z"),
    ):
        yield event(f"with another {field}", change={field: value})


def _autoscalers() -> Iterator[Case]:
    def scaler(
        says: str,
        version: str,
        *,
        change: Object | None = None,
        annotations: dict[str, str] | None = None,
        **spec: Any,
    ) -> Case:
        metadata: Object = {"name": "scaler"}
        if annotations:
            metadata["annotations"] = annotations
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
        return Case(
            says=f"{version} {says}",
            plural="horizontalpodautoscalers",
            api_version=f"autoscaling/{version}",
            body={
                "metadata": metadata,
                "spec": {"scaleTargetRef": target, "maxReplicas": 3, **spec},
            },
            change=change,
        )

    prefix = "autoscaling.alpha.kubernetes.io"
    for version in ("v1", "v2"):
        yield scaler("with the least", version)
        yield scaler("changed", version, change={"spec": {"maxReplicas": 5}})
    yield scaler("by half", "v1", targetCPUUtilizationPercentage=50)
    yield scaler("with metrics in words", "v1", annotations={f"{prefix}/metrics": "no JSON"})
    pods = '[{"type":"Pods","pods":{"metricName":"rps","targetAverageValue":"100"}}]'
    yield scaler("with another metric", "v1", annotations={f"{prefix}/metrics": pods})
    yield scaler(
        "with both",
        "v1",
        annotations={f"{prefix}/metrics": pods},
        targetCPUUtilizationPercentage=50,
    )
    down = (
        '{"StabilizationWindowSeconds":5,"SelectPolicy":"Max",'
        '"Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":60}]}'
    )
    rules = f'{{"ScaleUp":null,"ScaleDown":{down}}}'
    yield scaler("with behaviour", "v1", annotations={f"{prefix}/behavior": rules})
    yield scaler("with behaviour of nothing", "v2", behavior={})
    yield scaler("with behaviour", "v2", behavior={"scaleDown": {"selectPolicy": "Min"}})
    yield scaler(
        "with policies",
        "v2",
        behavior={"scaleUp": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]}},
    )


def _defaults() -> Iterator[Case]:
    def kind(
        plural: str,
        api_version: str,
        says: str,
        body: Object,
        *,
        change: Object | None = None,
        namespaced: bool = True,
    ) -> Case:
        return Case(
            says=says,
            plural=plural,
            api_version=api_version,
            body={"metadata": {"name": "rules-of-others"}, **body},
            change=change,
            namespaced=namespaced,
        )

    both = {"max": {"cpu": "2"}, "min": {"cpu": "1", "memory": "1Mi"}}
    for says, item in (
        ("a most", {"type": "Container", "max": {"cpu": "2"}}),
        ("a least", {"type": "Container", "min": {"cpu": "1"}}),
        ("both", {"type": "Container", **both}),
        ("a default", {"type": "Container", "default": {"cpu": "1"}}),
        ("a request", {"type": "Container", "defaultRequest": {"cpu": "1"}}),
        ("a pod's most", {"type": "Pod", "max": {"cpu": "2"}}),
    ):
        yield kind("limitranges", "v1", f"with {says}", {"spec": {"limits": [item]}})
    claim: Object = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    snapshot = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}
    for says, source in (
        ("nothing", {}),
        ("a claim", {"dataSource": {"kind": "PersistentVolumeClaim", "name": "c"}}),
        ("a snapshot", {"dataSource": snapshot}),
        ("something else", {"dataSource": {"apiGroup": "example.com", "kind": "X", "name": "x"}}),
        ("a reference", {"dataSourceRef": {"apiGroup": "example.com", "kind": "X", "name": "x"}}),
        ("a block", {"volumeMode": "Block"}),
    ):
        yield kind("persistentvolumeclaims", "v1", f"from {says}", {"spec": {**claim, **source}})
    yield kind(
        "serviceaccounts",
        "v1",
        "with references",
        {"secrets": [{"name": "x", "kind": "Secret", "namespace": "y"}]},
    )
    yield kind(
        "endpoints",
        "v1",
        "with a port",
        {"subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 80}]}]},
    )
    slice_ = {
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.1.2.3"]}],
        "ports": [{"port": 80}],
    }
    yield kind("endpointslices", "discovery.k8s.io/v1", "with a port", slice_)
    yield kind(
        "endpointslices",
        "discovery.k8s.io/v1",
        "with labels",
        slice_,
        change={"metadata": {"labels": {"a": "b"}}},
    )
    yield kind(
        "endpointslices",
        "discovery.k8s.io/v1",
        "with other endpoints",
        slice_,
        change={"endpoints": []},
    )
    policies = "networkpolicies", "networking.k8s.io/v1"
    yield kind(*policies, "for nothing", {"spec": {"podSelector": {}}})
    yield kind(
        *policies,
        "for egress",
        {"spec": {"podSelector": {}, "egress": [{"ports": [{"port": 53}]}]}},
    )
    yield kind(
        *policies,
        "changed",
        {"spec": {"podSelector": {}}},
        change={"spec": {"policyTypes": ["Egress"]}},
    )
    yield kind(
        "storageclasses",
        "storage.k8s.io/v1",
        "plain",
        {"provisioner": "example.com/x"},
        namespaced=False,
    )
    drivers = "csidrivers", "storage.k8s.io/v1"
    yield kind(*drivers, "plain", {}, namespaced=False)
    yield kind(
        *drivers, "changed", {}, change={"spec": {"requiresRepublish": True}}, namespaced=False
    )
    yield kind("nodes", "v1", "plain", {}, namespaced=False)
    yield kind(
        "nodes", "v1", "with capacity", {"status": {"capacity": {"cpu": "4"}}}, namespaced=False
    )
    yield kind(
        "nodes",
        "v1",
        "with a taint",
        {"spec": {"taints": [{"key": "a", "effect": "NoExecute"}]}},
        namespaced=False,
    )
    yield kind(
        "nodes", "v1", "changed", {}, change={"spec": {"unschedulable": True}}, namespaced=False
    )
    subjects = [
        {"kind": "User", "name": "a"},
        {"kind": "Group", "name": "b"},
        {"kind": "ServiceAccount", "name": "c", "namespace": "d"},
    ]
    yield kind(
        "rolebindings",
        "rbac.authorization.k8s.io/v1",
        "plain",
        {"roleRef": {"kind": "Role", "name": "x"}, "subjects": subjects},
    )
    yield kind("priorityclasses", "scheduling.k8s.io/v1", "plain", {"value": 1}, namespaced=False)
    levels = "prioritylevelconfigurations", "flowcontrol.apiserver.k8s.io/v1"
    yield kind(
        *levels,
        "queueing",
        {
            "spec": {
                "type": "Limited",
                "limited": {"limitResponse": {"type": "Queue", "queuing": {}}},
            }
        },
        namespaced=False,
    )
    yield kind(
        "flowschemas",
        "flowcontrol.apiserver.k8s.io/v1",
        "plain",
        {"spec": {"priorityLevelConfiguration": {"name": "exempt"}}},
        namespaced=False,
    )
    webhook: Object = {
        "name": "a.example.com",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": "x", "name": "y"}},
        "rules": [
            {
                "apiGroups": ["x"],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["x"],
            }
        ],
    }
    hooks = "admissionregistration.k8s.io/v1"
    yield kind(
        "validatingwebhookconfigurations", hooks, "plain", {"webhooks": [webhook]}, namespaced=False
    )
    yield kind(
        "mutatingwebhookconfigurations", hooks, "plain", {"webhooks": [webhook]}, namespaced=False
    )
    request = {"name": "a", "exactly": {"deviceClassName": "x"}}
    yield kind(
        "resourceclaims",
        "resource.k8s.io/v1",
        "plain",
        {"spec": {"devices": {"requests": [request]}}},
    )
    several = {
        "name": "a",
        "firstAvailable": [
            {"name": "b", "deviceClassName": "x"},
            {"name": "c", "deviceClassName": "x", "allocationMode": "All"},
        ],
    }
    yield kind(
        "resourceclaims",
        "resource.k8s.io/v1",
        "of several",
        {"spec": {"devices": {"requests": [several]}}},
    )
    for name in ("10.0.77.78", "fd00::1", "fd00:0::1", "x"):
        yield Case(
            says=f"named {name}",
            plural="ipaddresses",
            api_version="networking.k8s.io/v1",
            body={
                "metadata": {"name": name},
                "spec": {"parentRef": {"resource": "services", "name": "x", "namespace": "y"}},
            },
            namespaced=False,
        )
    yield Case(
        says="named like a path",
        plural="clusterroles",
        api_version="rbac.authorization.k8s.io/v1",
        body={"metadata": {"name": "a:b/c"}},
        namespaced=False,
    )
