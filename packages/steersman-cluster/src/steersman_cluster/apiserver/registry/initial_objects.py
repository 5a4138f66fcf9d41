"""The objects of a new cluster: namespaces, bootstrap RBAC policy, Service ``kubernetes``."""

from ipaddress import IPv4Network
from pathlib import Path

import msgspec

from steersman.units import format_time
from steersman_cluster.apiserver.builtin.cluster.bootstrap import bootstrap_objects
from steersman_cluster.apiserver.meta import object_meta
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.registry.builtin_resources import FieldManagers
from steersman_cluster.apiserver.registry.store import Store
from steersman_cluster.apiserver.request.resources import ResourceRegistry, ServedResource
from steersman_cluster.apiserver.storage import Key

POLICY = Path(__file__).parent / "policy-1.36.json"

# kube-apiserver's field managers.
SERVER = "kube-apiserver"
RBAC = "rbac.authorization.k8s.io"
FLOW_CONTROL = "flowcontrol.apiserver.k8s.io"
FLOWS_PRODUCER = "api-priority-and-fairness-config-producer-v1"
# Fields of the spec that strategies and allocators set; they have no manager.
UNMANAGED = {"Namespace": ("finalizers",), "Service": ("clusterIPs", "ipFamilies")}
STATUS_MANAGERS = {
    "FlowSchema": "api-priority-and-fairness-config-consumer-v1",
    "ServiceCIDR": "kubernetes-service-cidr-controller",
}


# The fields of Endpoints and EndpointSlices with addresses and ports.
_REACHED_BY = ("subsets", "endpoints", "ports")


def create_initial_objects(
    store: Store,
    registry: ResourceRegistry,
    *,
    address: str,
    port: int,
    client_ca: str,
    service_addresses: IPv4Network,
    field_managers: FieldManagers,
) -> None:
    """Create the initial objects that do not exist.

    Existing objects are not changed, except for the Service ``kubernetes`` and its endpoints. These
    are updated, because the server's address may have changed since its last start.
    """
    now = store.clock.now()
    policy: list[Object] = msgspec.json.decode(POLICY.read_bytes())
    objects = bootstrap_objects(
        address=address,
        port=port,
        client_ca=client_ca,
        service_addresses=service_addresses,
        now=now,
    )
    by_kind = {(each.gvk.api_version, each.gvk.kind): each for each in registry}
    owners = _ManagedFieldsWriter(field_managers, time=format_time(now))
    for obj in (*objects, *policy):
        served = by_kind[obj["apiVersion"], obj["kind"]]
        about = obj["metadata"]
        key = Key(served.stored_as, served.place(about.get("namespace", ""), about["name"]))
        found = store.view.get(key)
        if found is not None:
            if (moved := _moved(found.value or {}, obj)) is not None:
                store.write(key, moved, strategy=served.strategy, replacing=found)
        else:
            object_meta.prepare_create(about, rng=store.rng, time=format_time(now))
            owned = owners.of(obj, served)
            store.write(key, owned, strategy=served.strategy, replacing=None)


def _moved(kept: Object, wanted: Object) -> Object | None:
    """Return ``kept`` with the server's current address; None if nothing changes.

    ``kept`` is the stored object, ``wanted`` the initial one. Only the Service ``kubernetes`` and
    its endpoints contain the address.
    """
    about = kept["metadata"]
    if (about.get("namespace"), about["name"]) != ("default", "kubernetes"):
        return None
    if kept["kind"] == "Service":
        ports = wanted["spec"]["ports"]
        parts: Object = {"spec": {**kept["spec"], "ports": ports}}
    else:
        parts = {name: wanted[name] for name in _REACHED_BY if name in wanted}
    if all(kept.get(name) == value for name, value in parts.items()):
        return None
    fresh = {**about}
    if "generation" in about:
        fresh["generation"] += 1
    return {**kept, **parts, "metadata": fresh}


class _ManagedFieldsWriter:
    """A class that adds managedFields to initial objects, with kube-apiserver's field managers."""

    def __init__(self, field_managers: FieldManagers, *, time: str) -> None:
        self._field_managers = field_managers
        self._time = time
        # Cached by shape: there are many roles and bindings with the same fields.
        self._known: dict[tuple[str, ...], Object] = {}

    def of(self, obj: Object, served: ServedResource) -> Object:
        """Return the object with its managedFields."""
        if served.gvk.group != RBAC:
            return self._with_status(self._with_managers(obj, served), obj, served)
        shape = _shape(obj)
        if shape not in self._known:
            self._known[shape] = self._with_managers(obj, served)["metadata"]["managedFields"]
        return {**obj, "metadata": {**obj["metadata"], "managedFields": self._known[shape]}}

    def _with_managers(self, obj: Object, served: ServedResource) -> Object:
        is_flow = served.gvk.group == FLOW_CONTROL
        made = {name: value for name, value in obj.items() if name != "status"}
        made["metadata"] = {**obj["metadata"]}
        for name in UNMANAGED.get(served.gvk.kind, ()):
            made["spec"] = {key: value for key, value in made["spec"].items() if key != name}
        manager = FLOWS_PRODUCER if is_flow else SERVER
        self._field_managers.of(served, "").update(None, made, manager=manager, time=self._time)
        return {**obj, "metadata": made["metadata"]}

    def _with_status(self, owned: Object, obj: Object, served: ServedResource) -> Object:
        manager = STATUS_MANAGERS.get(served.gvk.kind)
        if manager is None or "status" not in obj:
            return owned
        head = {name: obj[name] for name in ("apiVersion", "kind", "status")}
        status = {**head, "metadata": {"name": obj["metadata"]["name"]}}
        return self._field_managers.of(served, "status").apply(
            {**owned, "status": {}}, status, manager=manager, force=True, time=self._time
        )


def _shape(obj: Object) -> tuple[str, ...]:
    """Return the key of the cache: RBAC objects with the same shape have the same managedFields."""
    about = obj["metadata"]
    labels, annotations = about.get("labels", ()), about.get("annotations", ())
    return (obj["kind"], *obj, "labels", *labels, "annotations", *annotations)
