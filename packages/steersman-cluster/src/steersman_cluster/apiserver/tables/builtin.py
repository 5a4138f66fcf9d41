"""The printer of each built-in kind."""

from collections.abc import Mapping

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.table_columns import Printer, TableColumn
from steersman_cluster.apiserver.tables import (
    cluster,
    devices,
    network,
    policies,
    storage,
    workloads,
)
from steersman_cluster.apiserver.tables.autoscalers import HORIZONTAL_POD_AUTOSCALER
from steersman_cluster.apiserver.tables.pods import POD
from steersman_cluster.apiserver.tables.printers import name_of


def _name_and_time(obj: Object, ages: Ages) -> list[str]:
    created = obj["metadata"].get("creationTimestamp")
    return [name_of(obj, ages), created or "0001-01-01T00:00:00Z"]


# For kinds without a specific printer, as in kube-apiserver's default table convertor.
DEFAULT = Printer(
    columns=(TableColumn(name="Name", format="name"), TableColumn(name="Created At", type="date")),
    cells=_name_and_time,
    empty_is_null=True,
)

_GROUPS: Mapping[str, Mapping[str, Printer]] = {
    "": {
        "componentstatuses": cluster.COMPONENT_STATUS,
        "configmaps": cluster.CONFIG_MAP,
        "endpoints": network.ENDPOINTS,
        "events": cluster.EVENT,
        "namespaces": cluster.NAMESPACE,
        "nodes": cluster.NODE,
        "persistentvolumeclaims": storage.PERSISTENT_VOLUME_CLAIM,
        "persistentvolumes": storage.PERSISTENT_VOLUME,
        "pods": POD,
        "podtemplates": workloads.POD_TEMPLATE,
        "replicationcontrollers": workloads.REPLICATION_CONTROLLER,
        "resourcequotas": cluster.RESOURCE_QUOTA,
        "secrets": cluster.SECRET,
        "serviceaccounts": cluster.SERVICE_ACCOUNT,
        "services": network.SERVICE,
    },
    "admissionregistration.k8s.io": {
        "mutatingadmissionpolicies": policies.MUTATING_POLICY,
        "mutatingadmissionpolicybindings": policies.POLICY_BINDING,
        "mutatingwebhookconfigurations": policies.WEBHOOKS,
        "validatingadmissionpolicies": policies.VALIDATING_POLICY,
        "validatingadmissionpolicybindings": policies.POLICY_BINDING,
        "validatingwebhookconfigurations": policies.WEBHOOKS,
    },
    "apiregistration.k8s.io": {"apiservices": cluster.API_SERVICE},
    "apps": {
        "controllerrevisions": workloads.CONTROLLER_REVISION,
        "daemonsets": workloads.DAEMON_SET,
        "deployments": workloads.DEPLOYMENT,
        "replicasets": workloads.REPLICA_SET,
        "statefulsets": workloads.STATEFUL_SET,
    },
    "autoscaling": {"horizontalpodautoscalers": HORIZONTAL_POD_AUTOSCALER},
    "batch": {"cronjobs": workloads.CRON_JOB, "jobs": workloads.JOB},
    "certificates.k8s.io": {"certificatesigningrequests": cluster.CERTIFICATE_SIGNING_REQUEST},
    "coordination.k8s.io": {"leases": cluster.LEASE},
    "discovery.k8s.io": {"endpointslices": network.ENDPOINT_SLICE},
    "events.k8s.io": {"events": cluster.EVENT},
    "flowcontrol.apiserver.k8s.io": {
        "flowschemas": policies.FLOW_SCHEMA,
        "prioritylevelconfigurations": policies.PRIORITY_LEVEL,
    },
    "networking.k8s.io": {
        "ingressclasses": network.INGRESS_CLASS,
        "ingresses": network.INGRESS,
        "ipaddresses": network.IP_ADDRESS,
        "networkpolicies": network.NETWORK_POLICY,
        "servicecidrs": network.SERVICE_CIDR,
    },
    "node.k8s.io": {"runtimeclasses": cluster.RUNTIME_CLASS},
    "policy": {"poddisruptionbudgets": cluster.POD_DISRUPTION_BUDGET},
    "rbac.authorization.k8s.io": {
        "clusterrolebindings": policies.ROLE_BINDING,
        "rolebindings": policies.ROLE_BINDING,
    },
    "resource.k8s.io": {
        "deviceclasses": devices.DEVICE_CLASS,
        "resourceclaims": devices.RESOURCE_CLAIM,
        "resourceclaimtemplates": devices.RESOURCE_CLAIM_TEMPLATE,
        "resourceslices": devices.RESOURCE_SLICE,
    },
    "scheduling.k8s.io": {"priorityclasses": cluster.PRIORITY_CLASS},
    "storage.k8s.io": {
        "csidrivers": storage.CSI_DRIVER,
        "csinodes": storage.CSI_NODE,
        "storageclasses": storage.STORAGE_CLASS,
        "volumeattachments": storage.VOLUME_ATTACHMENT,
        "volumeattributesclasses": storage.VOLUME_ATTRIBUTES_CLASS,
    },
}

# Groups without tables: their resources are reviews.
_NEVER = frozenset(("authentication.k8s.io", "authorization.k8s.io"))
_BINDINGS = GroupResource("", "bindings")

# Resources whose status subresource has no table. For all others it is the table of the object.
_NO_STATUS = frozenset(
    (
        GroupResource("apiextensions.k8s.io", "customresourcedefinitions"),
        GroupResource("apiregistration.k8s.io", "apiservices"),
        GroupResource("resource.k8s.io", "resourceclaims"),
    )
)


def builtin_printer(resource: GroupResource, subresource: str) -> Printer | None:
    """Return the table printer of a built-in resource or of one of its subresources.

    Returns None if kube-apiserver shows no table for it.
    """
    if resource.group in _NEVER or resource == _BINDINGS:
        return None
    if subresource == "scale":
        return workloads.SCALE
    if subresource and (subresource != "status" or resource in _NO_STATUS):
        return None
    return _GROUPS.get(resource.group, {}).get(resource.resource, DEFAULT)
