"""The required and immutable fields of less common kinds."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from tests.recorded.builtin_rules.cases import Case, Object, merged
from tests.recorded.builtin_rules.sample_cases import sample_cases

ADMISSION = "admissionregistration.k8s.io/v1"
DEVICES = "resource.k8s.io/v1"
NETWORKING = "networking.k8s.io/v1"
RBAC = "rbac.authorization.k8s.io/v1"
STORAGE = "storage.k8s.io/v1"


def cluster_cases() -> Iterator[Case]:
    yield from _permissions()
    yield from _volumes()
    yield from _drivers()
    yield from _networks()
    yield from _devices()
    yield from _policies()
    yield from _nodes_and_classes()
    yield from _signing_requests()


def _case(
    plural: str,
    says: str,
    *,
    change: Object | None = None,
    api_version: str = "v1",
    namespaced: bool = True,
    **parts: Any,
) -> Case:
    metadata = parts.pop("metadata", {"name": f"rules-{plural}"})
    return Case(
        says=says,
        plural=plural,
        api_version=api_version,
        body={"metadata": metadata, **parts},
        change=change,
        namespaced=namespaced,
    )


def _cluster(
    api_version: str, plural: str, says: str, change: Object | None = None, **parts: Any
) -> Case:
    return _case(plural, says, change=change, api_version=api_version, namespaced=False, **parts)


def _permissions() -> Iterator[Case]:
    good = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    urls = {"nonResourceURLs": ["/x"], "verbs": ["get"]}
    for says, rule in (
        ("good", good),
        ("without verbs", {**good, "verbs": []}),
        ("without groups", {**good, "apiGroups": []}),
        ("without resources", {**good, "resources": []}),
        ("for URLs", urls),
        ("for URLs and resources", {**good, **urls}),
    ):
        yield _case("roles", says, api_version=RBAC, rules=[rule])
        yield _case("clusterroles", says, api_version=RBAC, namespaced=False, rules=[rule])
    for selectors in ([], [{"matchLabels": {"a": "b"}}], [{"matchLabels": {"a!": "b"}}]):
        aggregation = {"clusterRoleSelectors": selectors}
        yield _case(
            "clusterroles",
            f"of {selectors}",
            api_version=RBAC,
            namespaced=False,
            aggregationRule=aggregation,
        )
    role = {"kind": "ClusterRole", "name": "x"}
    for says, reference in (
        ("to a role", {"kind": "Role", "name": "x"}),
        ("to a cluster role", role),
        ("to something else", {"kind": "Pod", "name": "x"}),
        ("to nothing", {}),
        ("to a strange name", {**role, "name": "a/b"}),
        ("to another group", {**role, "apiGroup": "example.com"}),
    ):
        yield _case("rolebindings", says, api_version=RBAC, roleRef=reference)
        yield _case(
            "clusterrolebindings", says, api_version=RBAC, namespaced=False, roleRef=reference
        )
    for subject in (
        {"kind": "User", "name": "x"},
        {"kind": "User"},
        {"kind": "Robot", "name": "x"},
        {"kind": "Group", "name": "x", "apiGroup": "example.com"},
        {"kind": "ServiceAccount", "name": "x"},
        {"kind": "ServiceAccount", "name": "X", "namespace": "y"},
        {"kind": "ServiceAccount", "name": "x", "namespace": "y", "apiGroup": "example.com"},
    ):
        yield _case(
            "rolebindings", f"for {subject}", api_version=RBAC, roleRef=role, subjects=[subject]
        )
        yield _case(
            "clusterrolebindings",
            f"for {subject}",
            api_version=RBAC,
            namespaced=False,
            roleRef=role,
            subjects=[subject],
        )
    change = {"roleRef": {"name": "y"}}
    yield _case("rolebindings", "to another role", change=change, api_version=RBAC, roleRef=role)


def _volumes() -> Iterator[Case]:
    volume = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "hostPath": {"path": "/x"},
    }
    for says, spec in (
        ("good", volume),
        ("empty", {}),
        ("for nothing", {**volume, "capacity": None}),
        ("for more than storage", {**volume, "capacity": {"storage": "1Gi", "x": "1"}}),
        ("nowhere", {**volume, "hostPath": None}),
    ):
        yield _case("persistentvolumes", says, namespaced=False, spec=spec)
    moved = {"spec": {"hostPath": {"path": "/y"}}}
    yield _case("persistentvolumes", "moved", change=moved, namespaced=False, spec=volume)
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "",
    }
    for says, spec in (
        ("good", claim),
        ("empty", {}),
        ("without a size", {**claim, "resources": {}}),
        ("in a strange mode", {**claim, "accessModes": ["Any"]}),
    ):
        yield _case("persistentvolumeclaims", says, spec=spec)
    for says, part in (
        ("more", {"resources": {"requests": {"storage": "2Gi"}}}),
        ("less", {"resources": {"requests": {"storage": "1Mi"}}}),
        ("another mode", {"accessModes": ["ReadOnlyMany"]}),
        ("a volume", {"volumeName": "x"}),
    ):
        # They remain for a while after deletion, because no controller removes their finalizers.
        named = {"name": f"wants-{says.replace(' ', '-')}"}
        yield _case(
            "persistentvolumeclaims",
            f"wanting {says}",
            change={"spec": part},
            metadata=named,
            spec=claim,
        )


def _drivers() -> Iterator[Case]:
    cluster = partial(_cluster, STORAGE)

    yield cluster("storageclasses", "empty")
    yield cluster("storageclasses", "good", provisioner="example.com/x")
    for says, change in (
        ("provisioner", {"provisioner": "example.com/y"}),
        ("parameters", {"parameters": {"a": "b"}}),
        ("policy", {"reclaimPolicy": "Retain"}),
        ("binding", {"volumeBindingMode": "WaitForFirstConsumer"}),
        ("expansion", {"allowVolumeExpansion": True}),
    ):
        yield cluster("storageclasses", f"another {says}", change, provisioner="example.com/x")
    yield cluster("csidrivers", "attached or not", {"spec": {"attachRequired": False}}, spec={})
    modes = {"spec": {"volumeLifecycleModes": ["Ephemeral"]}}
    yield cluster("csidrivers", "in other modes", modes, spec={})
    attributes: Object = {"driverName": "example.com", "parameters": {"a": "b"}}
    yield cluster("volumeattributesclasses", "empty")
    yield cluster("volumeattributesclasses", "good", **attributes)
    yield cluster("volumeattributesclasses", "by another", {"driverName": "y.z"}, **attributes)
    more = {"parameters": {"a": "c"}}
    named = {"name": "rules-more"}
    yield cluster("volumeattributesclasses", "other", more, metadata=named, **attributes)
    attachment = {
        "attacher": "example.com",
        "nodeName": "x",
        "source": {"persistentVolumeName": "x"},
    }
    yield cluster("volumeattachments", "empty", spec={})
    yield cluster("volumeattachments", "good", spec=attachment)
    yield cluster("volumeattachments", "of nothing", spec={**attachment, "source": {}})
    yield cluster("volumeattachments", "elsewhere", {"spec": {"nodeName": "y"}}, spec=attachment)
    for name in ("", "good", "Bad"):
        yield _case(
            "csistoragecapacities",
            f"of class {name!r}",
            api_version=STORAGE,
            storageClassName=name,
        )
    yield _case(
        "csistoragecapacities",
        "of another class",
        change={"storageClassName": "other"},
        api_version=STORAGE,
        storageClassName="one",
    )


def _networks() -> Iterator[Case]:
    cluster = partial(_cluster, NETWORKING)

    good = {"controller": "example.com/x"}
    yield cluster("ingressclasses", "empty")
    yield cluster("ingressclasses", "good", spec=good)
    yield cluster("ingressclasses", "of a bad path", spec={"controller": "example.com/a b"})
    other = {"spec": {"controller": "example.com/y"}}
    yield cluster("ingressclasses", "of another", other, spec=good)
    backend = {"service": {"name": "x", "port": {"number": 80}}}
    yield _case("ingresses", "empty", api_version=NETWORKING)
    yield _case("ingresses", "good", api_version=NETWORKING, spec={"defaultBackend": backend})
    parent = {"resource": "services", "namespace": "x", "name": "y"}
    named = {"name": "10.77.0.1"}
    yield cluster("ipaddresses", "empty", metadata=named)
    yield cluster("ipaddresses", "good", metadata=named, spec={"parentRef": parent})
    moved = {"spec": {"parentRef": None}}
    yield cluster(
        "ipaddresses", "without an owner", moved, metadata=named, spec={"parentRef": parent}
    )
    for cidrs in ([], ["10.78.0.0/24"]):
        yield cluster("servicecidrs", f"of {cidrs}", spec={"cidrs": cidrs})
    for cidrs in (["10.79.0.0/24"], ["10.78.0.0/24", "fd00::/112"]):
        changed = {"spec": {"cidrs": cidrs}}
        yield cluster("servicecidrs", f"then of {cidrs}", changed, spec={"cidrs": ["10.78.0.0/24"]})
    slices = "discovery.k8s.io/v1"
    yield _case("endpointslices", "empty", api_version=slices, endpoints=[])
    yield _case(
        "endpointslices",
        "of another type",
        change={"addressType": "IPv6"},
        api_version=slices,
        addressType="IPv4",
        endpoints=[],
    )


def _devices() -> Iterator[Case]:
    request = {"name": "one", "exactly": {"deviceClassName": "example.com"}}
    spec = {"devices": {"requests": [request]}}
    changed = {"devices": {"requests": [{**request, "name": "two"}]}}
    yield _case("resourceclaims", "empty", api_version=DEVICES)
    yield _case("resourceclaims", "good", api_version=DEVICES, spec=spec)
    yield _case(
        "resourceclaims", "of another", change={"spec": changed}, api_version=DEVICES, spec=spec
    )
    yield _case(
        "resourceclaimtemplates",
        "of another",
        change={"spec": {"spec": changed}},
        api_version=DEVICES,
        spec={"metadata": {"labels": {"a": "b"}}, "spec": spec},
    )

    def resource_slice(says: str, change: Object | None = None, **parts: Any) -> Case:
        pool = {"name": "x", "generation": 1, "resourceSliceCount": 1}
        whole = {"driver": "example.com", "pool": pool, "nodeName": "x", **parts}
        return _case(
            "resourceslices",
            says,
            change=change,
            api_version=DEVICES,
            namespaced=False,
            spec={key: value for key, value in whole.items() if value is not None},
        )

    yield resource_slice("good")
    yield resource_slice("without an owner", driver=None, pool=None)
    yield resource_slice("for no node", nodeName=None)
    yield resource_slice("for one node and all", allNodes=True)
    yield resource_slice("for another node", {"spec": {"nodeName": "y"}})
    yield resource_slice("of another pool", {"spec": {"pool": {"name": "y"}}})


def _policies() -> Iterator[Case]:
    cluster = partial(_cluster, ADMISSION)

    for kind in ("mutating", "validating"):
        yield cluster(f"{kind}admissionpolicies", "empty")
        yield cluster(f"{kind}admissionpolicybindings", "empty")
        actions = {"validationActions": ["Deny"]} if kind == "validating" else {}
        bound = {"policyName": "x", **actions}
        yield cluster(f"{kind}admissionpolicybindings", "good", spec=bound)

    def budget(says: str, **spec: Any) -> Case:
        return _case("poddisruptionbudgets", says, api_version="policy/v1", spec=spec)

    yield budget("good", minAvailable=1)
    yield budget("of both", minAvailable=1, maxUnavailable="50%", selector={})
    yield budget("of too many", minAvailable="150%")
    yield budget("of less than none", maxUnavailable=-1)
    yield budget("of something", minAvailable="x")
    yield budget("strangely selected", selector={"matchLabels": {"a!": "b"}})


def _nodes_and_classes() -> Iterator[Case]:
    node = {"podCIDRs": ["10.1.0.0/24"], "podCIDR": "10.1.0.0/24", "providerID": "x"}
    for says, part in (
        ("elsewhere", {"podCIDRs": ["10.2.0.0/24"], "podCIDR": "10.2.0.0/24"}),
        ("of another", {"providerID": "y"}),
        ("unschedulable", {"unschedulable": True}),
    ):
        yield _case("nodes", says, change={"spec": part}, namespaced=False, spec=node)
    yield _case(
        "resourcequotas",
        "of other scopes",
        change={"spec": {"scopes": ["Terminating"]}},
        spec={"scopes": ["BestEffort"], "hard": {"pods": "1"}},
    )
    changes: list[Object] = [{"value": 2}, {"preemptionPolicy": "Never"}, {"description": "x"}]
    for each in changes:
        yield _cluster("scheduling.k8s.io/v1", "priorityclasses", f"then {each}", each, value=1)
    classes, flows = "node.k8s.io/v1", "flowcontrol.apiserver.k8s.io/v1"
    yield _cluster(classes, "runtimeclasses", "empty")
    yield _cluster(classes, "runtimeclasses", "of another", {"handler": "y"}, handler="x")
    yield _cluster(flows, "flowschemas", "empty")
    yield _cluster(flows, "prioritylevelconfigurations", "empty")
    sizes: list[tuple[str, Object]] = [
        ("good", {"minReplicas": 1}),
        ("of none", {"maxReplicas": 0}),
        ("of less than none", {"maxReplicas": -1}),
        ("of none at least", {"minReplicas": 0}),
        ("of more than most", {"minReplicas": 9}),
        ("of nothing", {"scaleTargetRef": {}}),
        ("of the core", {"scaleTargetRef": {"kind": "X", "name": "x", "apiVersion": "v1"}}),
    ]
    for says, spec in sizes:
        target = {"kind": "Deployment", "name": "x", "apiVersion": "apps/v1"}
        whole = {"maxReplicas": 2, "scaleTargetRef": target, **spec}
        yield _case("horizontalpodautoscalers", says, api_version="autoscaling/v2", spec=whole)
    elsewhere = {"namespace": "x", "name": "y"}
    service: Object = {"group": "example.com", "version": "v1", "service": elsewhere}
    priorities = {"groupPriorityMinimum": 1, "versionPriority": 1}
    for name, spec in (
        ("v1.example.com", {**service, **priorities}),
        ("v2.example.com", {**service, **priorities}),
        ("v1.example.com", service),
        ("v2.", {"version": "v2", **priorities}),
        ("V1.example.com", {**service, **priorities, "version": "V1"}),
    ):
        yield _case(
            "apiservices",
            f"{name} of {spec}",
            api_version="apiregistration.k8s.io/v1",
            namespaced=False,
            metadata={"name": name},
            spec=spec,
        )
    for says, data in (
        ("empty", {"tls.crt": "", "tls.key": ""}),
        ("switched", {"tls.crt": _pem("PRIVATE KEY"), "tls.key": _pem("CERTIFICATE")}),
        ("twice", {"tls.crt": _pem("CERTIFICATE"), "tls.key": _pem("CERTIFICATE")}),
        ("of others", {"tls.crt": _pem("A"), "tls.key": _pem("B")}),
        ("of other keys", {"tls.crt": _pem("CERTIFICATE"), "tls.key": _pem("B")}),
    ):
        yield _case("secrets", f"of a pair, {says}", type="kubernetes.io/tls", stringData=data)


def _signing_requests() -> Iterator[Case]:
    good = next(each for each in sample_cases() if each.plural == "certificatesigningrequests")
    label = f"{'a' * 60}."
    for says, signer in (
        ("a long domain", f"{label * 5}com/signer"),
        ("a long name", f"{label * 4}com/{label * 6}signer"),
    ):
        body = merged(good.body, {"spec": {"signerName": signer}})
        yield replace(good, says=f"a signer with {says}", body=body)


def _pem(kind: str) -> str:
    return f"-----BEGIN {kind}-----\nAAAA\n-----END {kind}-----\n"
