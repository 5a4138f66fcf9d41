"""Every built-in resource, with its rules."""

from collections.abc import Mapping

from steersman.apiserver.builtin import admission_kinds as admission
from steersman.apiserver.builtin import cluster_kinds as cluster
from steersman.apiserver.builtin import device_kinds as devices
from steersman.apiserver.builtin import network_kinds as networking
from steersman.apiserver.builtin import rbac_kinds as rbac
from steersman.apiserver.builtin import storage_kinds as storage
from steersman.apiserver.builtin.autoscalers import HORIZONTAL_POD_AUTOSCALER
from steersman.apiserver.builtin.configuration import CONFIG_MAP, SECRET
from steersman.apiserver.builtin.converting import EVENTS, NEW_EVENTS
from steersman.apiserver.builtin.daemon_sets import DAEMON_SET
from steersman.apiserver.builtin.deployments import DEPLOYMENT
from steersman.apiserver.builtin.events import EVENT, NEW_EVENT
from steersman.apiserver.builtin.jobs import CRON_JOB, JOB
from steersman.apiserver.builtin.leases import LEASE
from steersman.apiserver.builtin.namespaces import NAMESPACE, NAMESPACES
from steersman.apiserver.builtin.pods import POD
from steersman.apiserver.builtin.replica_sets import (
    POD_TEMPLATE,
    REPLICA_SET,
    REPLICATION_CONTROLLER,
)
from steersman.apiserver.builtin.service_network import ServiceNetwork
from steersman.apiserver.builtin.services import service_rules
from steersman.apiserver.builtin.stateful_sets import STATEFUL_SET
from steersman.apiserver.custom.definition_rules import DEFINITION
from steersman.apiserver.rules import Rules
from steersman.names import GroupResource

# Questions, which are answered and not kept, and what is only looked at.
_NOTHING_TO_KEEP = Rules()


def builtin_rules(network: ServiceNetwork) -> Mapping[GroupResource, Rules]:
    """The rules of each; those of Services share ``network``."""
    rules: dict[GroupResource, Rules] = {
        NAMESPACES: NAMESPACE,
        EVENTS: EVENT,
        NEW_EVENTS: NEW_EVENT,
        GroupResource("", "services"): service_rules(network),
    }
    for group, resources in _GROUPS.items():
        for resource, its_rules in resources.items():
            rules[GroupResource(group, resource)] = its_rules
    return rules


_GROUPS: Mapping[str, Mapping[str, Rules]] = {
    "": {
        "bindings": _NOTHING_TO_KEEP,
        "componentstatuses": _NOTHING_TO_KEEP,
        "configmaps": CONFIG_MAP,
        "endpoints": networking.ENDPOINTS,
        "limitranges": cluster.LIMIT_RANGE,
        "nodes": cluster.NODE,
        "persistentvolumeclaims": storage.PERSISTENT_VOLUME_CLAIM,
        "persistentvolumes": storage.PERSISTENT_VOLUME,
        "pods": POD,
        "podtemplates": POD_TEMPLATE,
        "replicationcontrollers": REPLICATION_CONTROLLER,
        "resourcequotas": cluster.RESOURCE_QUOTA,
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
    "apiextensions.k8s.io": {"customresourcedefinitions": DEFINITION},
    "apiregistration.k8s.io": {"apiservices": cluster.API_SERVICE},
    "apps": {
        "controllerrevisions": cluster.CONTROLLER_REVISION,
        "daemonsets": DAEMON_SET,
        "deployments": DEPLOYMENT,
        "replicasets": REPLICA_SET,
        "statefulsets": STATEFUL_SET,
    },
    "authentication.k8s.io": {
        "selfsubjectreviews": _NOTHING_TO_KEEP,
        "tokenreviews": _NOTHING_TO_KEEP,
    },
    "authorization.k8s.io": {
        "localsubjectaccessreviews": _NOTHING_TO_KEEP,
        "selfsubjectaccessreviews": _NOTHING_TO_KEEP,
        "selfsubjectrulesreviews": _NOTHING_TO_KEEP,
        "subjectaccessreviews": _NOTHING_TO_KEEP,
    },
    "autoscaling": {"horizontalpodautoscalers": HORIZONTAL_POD_AUTOSCALER},
    "batch": {"cronjobs": CRON_JOB, "jobs": JOB},
    "certificates.k8s.io": {"certificatesigningrequests": cluster.CERTIFICATE_SIGNING_REQUEST},
    "coordination.k8s.io": {"leases": LEASE},
    "discovery.k8s.io": {"endpointslices": networking.ENDPOINT_SLICE},
    "flowcontrol.apiserver.k8s.io": {
        "flowschemas": cluster.FLOW_SCHEMA,
        "prioritylevelconfigurations": cluster.PRIORITY_LEVEL,
    },
    "networking.k8s.io": {
        "ingressclasses": networking.INGRESS_CLASS,
        "ingresses": networking.INGRESS,
        "ipaddresses": networking.IP_ADDRESS,
        "networkpolicies": networking.NETWORK_POLICY,
        "servicecidrs": networking.SERVICE_CIDR,
    },
    "node.k8s.io": {"runtimeclasses": cluster.RUNTIME_CLASS},
    "policy": {"poddisruptionbudgets": cluster.POD_DISRUPTION_BUDGET},
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
    "scheduling.k8s.io": {"priorityclasses": cluster.PRIORITY_CLASS},
    "storage.k8s.io": {
        "csidrivers": storage.CSI_DRIVER,
        "csinodes": storage.CSI_NODE,
        "csistoragecapacities": storage.CSI_STORAGE_CAPACITY,
        "storageclasses": storage.STORAGE_CLASS,
        "volumeattachments": storage.VOLUME_ATTACHMENT,
        "volumeattributesclasses": storage.VOLUME_ATTRIBUTES_CLASS,
    },
}
