"""The strategy of every built-in resource; those of CustomResourceDefinitions are in ``custom``."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.cluster import admission_kinds as admission
from steersman_cluster.apiserver.builtin.cluster import cluster_kinds as cluster
from steersman_cluster.apiserver.builtin.cluster import device_kinds as devices
from steersman_cluster.apiserver.builtin.cluster import rbac_kinds as rbac
from steersman_cluster.apiserver.builtin.cluster.api_services import API_SERVICE
from steersman_cluster.apiserver.builtin.cluster.approvals import SIGNING_REQUEST
from steersman_cluster.apiserver.builtin.cluster.configuration import CONFIG_MAP, SECRET
from steersman_cluster.apiserver.builtin.cluster.events import EVENT, NEW_EVENT
from steersman_cluster.apiserver.builtin.cluster.leases import LEASE
from steersman_cluster.apiserver.builtin.cluster.limit_ranges import LIMIT_RANGE
from steersman_cluster.apiserver.builtin.cluster.namespaces import NAMESPACE, NAMESPACES
from steersman_cluster.apiserver.builtin.cluster.nodes import NODE
from steersman_cluster.apiserver.builtin.cluster.quotas import RESOURCE_QUOTA
from steersman_cluster.apiserver.builtin.conversion import EVENTS, NEW_EVENTS
from steersman_cluster.apiserver.builtin.network import network_kinds as networking
from steersman_cluster.apiserver.builtin.network.endpoints import ENDPOINT_SLICE, ENDPOINTS
from steersman_cluster.apiserver.builtin.network.ingresses import INGRESS, INGRESS_CLASS
from steersman_cluster.apiserver.builtin.network.network_policies import NETWORK_POLICY
from steersman_cluster.apiserver.builtin.plugins.pod_admission import POD_SECURITY
from steersman_cluster.apiserver.builtin.plugins.pod_classes import PRIORITY_CLASS, RUNTIME_CLASS
from steersman_cluster.apiserver.builtin.plugins.pod_security import (
    template_validator,
    validate_namespace_policy,
)
from steersman_cluster.apiserver.builtin.pods.pods import pod_strategy
from steersman_cluster.apiserver.builtin.storage import csi_kinds as csi
from steersman_cluster.apiserver.builtin.storage import storage_kinds as storage
from steersman_cluster.apiserver.builtin.storage.claims import PERSISTENT_VOLUME_CLAIM
from steersman_cluster.apiserver.builtin.storage.persistent_volumes import PERSISTENT_VOLUME
from steersman_cluster.apiserver.builtin.workloads.autoscalers import HORIZONTAL_POD_AUTOSCALER
from steersman_cluster.apiserver.builtin.workloads.budgets import POD_DISRUPTION_BUDGET
from steersman_cluster.apiserver.builtin.workloads.cron_jobs import CRON_JOB
from steersman_cluster.apiserver.builtin.workloads.daemon_sets import DAEMON_SET
from steersman_cluster.apiserver.builtin.workloads.deployments import DEPLOYMENT
from steersman_cluster.apiserver.builtin.workloads.jobs import JOB
from steersman_cluster.apiserver.builtin.workloads.replica_sets import (
    POD_TEMPLATE,
    REPLICA_SET,
    REPLICATION_CONTROLLER,
)
from steersman_cluster.apiserver.builtin.workloads.stateful_sets import STATEFUL_SET
from steersman_cluster.apiserver.meta.strategy import Strategy

SERVICES = GroupResource("", "services")

# Resources without stored objects, such as reviews, and read-only ones.
_NO_STRATEGY = Strategy()


@lru_cache(maxsize=16)
def shared_strategies(plugins: frozenset[str]) -> Mapping[GroupResource, Strategy]:
    """Return the strategies of all resources except Services and CustomResourceDefinitions.

    They are the same for all servers with these ``plugins``. The strategy of Services depends on
    the network of a server (``service_strategy``).
    """
    strategies: dict[GroupResource, Strategy] = {
        NAMESPACES: NAMESPACE,
        EVENTS: EVENT,
        NEW_EVENTS: NEW_EVENT,
        GroupResource("", "pods"): pod_strategy(plugins),
    }
    for group, resources in _GROUPS.items():
        for resource, strategy in resources.items():
            strategies[GroupResource(group, resource)] = strategy
    if POD_SECURITY in plugins:
        strategies[NAMESPACES] = replace(NAMESPACE, validate_admission=validate_namespace_policy)
        for each, path in _TEMPLATES.items():
            strategies[each] = replace(
                strategies[each], validate_admission=template_validator(*path)
            )
    return strategies


# The path of the Pod template in each kind that has one.
_TEMPLATES: Mapping[GroupResource, tuple[str, ...]] = {
    GroupResource("", "podtemplates"): ("template",),
    GroupResource("", "replicationcontrollers"): ("spec", "template"),
    GroupResource("apps", "daemonsets"): ("spec", "template"),
    GroupResource("apps", "deployments"): ("spec", "template"),
    GroupResource("apps", "replicasets"): ("spec", "template"),
    GroupResource("apps", "statefulsets"): ("spec", "template"),
    GroupResource("batch", "cronjobs"): ("spec", "jobTemplate", "spec", "template"),
    GroupResource("batch", "jobs"): ("spec", "template"),
}


_GROUPS: Mapping[str, Mapping[str, Strategy]] = {
    "": {
        "bindings": _NO_STRATEGY,
        "componentstatuses": _NO_STRATEGY,
        "configmaps": CONFIG_MAP,
        "endpoints": ENDPOINTS,
        "limitranges": LIMIT_RANGE,
        "nodes": NODE,
        "persistentvolumeclaims": PERSISTENT_VOLUME_CLAIM,
        "persistentvolumes": PERSISTENT_VOLUME,
        "podtemplates": POD_TEMPLATE,
        "replicationcontrollers": REPLICATION_CONTROLLER,
        "resourcequotas": RESOURCE_QUOTA,
        "secrets": SECRET,
        "serviceaccounts": cluster.SERVICE_ACCOUNT,
    },
    "admissionregistration.k8s.io": {
        "mutatingadmissionpolicies": admission.MUTATING_POLICY,
        "mutatingadmissionpolicybindings": admission.MUTATING_BINDING,
        "mutatingwebhookconfigurations": admission.MUTATING_WEBHOOKS,
        "validatingadmissionpolicies": admission.VALIDATING_POLICY,
        "validatingadmissionpolicybindings": admission.VALIDATING_BINDING,
        "validatingwebhookconfigurations": admission.VALIDATING_WEBHOOKS,
    },
    "apiregistration.k8s.io": {"apiservices": API_SERVICE},
    "apps": {
        "controllerrevisions": cluster.CONTROLLER_REVISION,
        "daemonsets": DAEMON_SET,
        "deployments": DEPLOYMENT,
        "replicasets": REPLICA_SET,
        "statefulsets": STATEFUL_SET,
    },
    "authentication.k8s.io": {
        "selfsubjectreviews": _NO_STRATEGY,
        "tokenreviews": _NO_STRATEGY,
    },
    "authorization.k8s.io": {
        "localsubjectaccessreviews": _NO_STRATEGY,
        "selfsubjectaccessreviews": _NO_STRATEGY,
        "selfsubjectrulesreviews": _NO_STRATEGY,
        "subjectaccessreviews": _NO_STRATEGY,
    },
    "autoscaling": {"horizontalpodautoscalers": HORIZONTAL_POD_AUTOSCALER},
    "batch": {"cronjobs": CRON_JOB, "jobs": JOB},
    "certificates.k8s.io": {"certificatesigningrequests": SIGNING_REQUEST},
    "coordination.k8s.io": {"leases": LEASE},
    "discovery.k8s.io": {"endpointslices": ENDPOINT_SLICE},
    "flowcontrol.apiserver.k8s.io": {
        "flowschemas": cluster.FLOW_SCHEMA,
        "prioritylevelconfigurations": cluster.PRIORITY_LEVEL,
    },
    "networking.k8s.io": {
        "ingressclasses": INGRESS_CLASS,
        "ingresses": INGRESS,
        "ipaddresses": networking.IP_ADDRESS,
        "networkpolicies": NETWORK_POLICY,
        "servicecidrs": networking.SERVICE_CIDR,
    },
    "node.k8s.io": {"runtimeclasses": RUNTIME_CLASS},
    "policy": {"poddisruptionbudgets": POD_DISRUPTION_BUDGET},
    "rbac.authorization.k8s.io": {
        "clusterrolebindings": rbac.CLUSTER_ROLE_BINDING,
        "clusterroles": rbac.CLUSTER_ROLE,
        "rolebindings": rbac.ROLE_BINDING,
        "roles": rbac.ROLE,
    },
    "resource.k8s.io": {
        "deviceclasses": devices.DEVICE_CLASS,
        "resourceclaims": devices.RESOURCE_CLAIM,
        "resourceclaimtemplates": devices.RESOURCE_CLAIM_TEMPLATE,
        "resourceslices": devices.RESOURCE_SLICE,
    },
    "scheduling.k8s.io": {"priorityclasses": PRIORITY_CLASS},
    "storage.k8s.io": {
        "csidrivers": csi.CSI_DRIVER,
        "csinodes": csi.CSI_NODE,
        "csistoragecapacities": csi.CSI_STORAGE_CAPACITY,
        "storageclasses": storage.STORAGE_CLASS,
        "volumeattachments": storage.VOLUME_ATTACHMENT,
        "volumeattributesclasses": storage.VOLUME_ATTRIBUTES_CLASS,
    },
}
