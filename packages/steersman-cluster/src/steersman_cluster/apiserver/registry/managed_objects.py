"""Objects that the server creates and deletes together with other objects.

Each version of a custom API group has an APIService, and each cluster IP of a Service has an
IPAddress. kube-apiserver creates and deletes APIServices and IPAddresses asynchronously. In
steersman, they are up to date before the server responds to the request that changed a
CustomResourceDefinition or a Service.
"""

from contextlib import suppress

from steersman.names import GroupResource
from steersman.units import format_time
from steersman_cluster.apiserver.builtin.cluster.availability import (
    LOCAL,
    SERVICES,
    SLICES,
    availability,
    with_condition,
)
from steersman_cluster.apiserver.builtin.cluster.bootstrap import api_service, ip_address_of
from steersman_cluster.apiserver.builtin.network.service_network import ServiceNetwork
from steersman_cluster.apiserver.meta import object_meta
from steersman_cluster.apiserver.meta.group_versions import (
    GROUP_PRIORITY,
    VERSION_PRIORITY,
    GroupVersionInfo,
)
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.registry import deletion
from steersman_cluster.apiserver.registry.builtin_resources import FieldManagers
from steersman_cluster.apiserver.registry.store import Store
from steersman_cluster.apiserver.request.delete_options import DeleteOptions
from steersman_cluster.apiserver.request.resources import ResourceRegistry, ServedResource
from steersman_cluster.apiserver.storage import Entry, Key, RevisionConflict

# Their field manager.
SERVER = "kube-apiserver"

_API_SERVICES = GroupResource("apiregistration.k8s.io", "apiservices")
_ADDRESSES = GroupResource("networking.k8s.io", "ipaddresses")

# The label is "true" on APIServices of definitions; those of built-in groups have "onstart".
_MANAGED = "kube-aggregator.kubernetes.io/automanaged"

# The resources whose changes may change an APIService; Services matter only if one is remote.
_OWN = (str(_API_SERVICES),)
_WITH_ENDPOINTS = (*_OWN, str(SERVICES), str(SLICES))
TRIGGERS = frozenset((_API_SERVICES, SERVICES, SLICES))


class ManagedObjects:
    """The controller of CRDs' APIServices and of Services' IPAddresses."""

    def __init__(
        self,
        store: Store,
        registry: ResourceRegistry,
        *,
        network: ServiceNetwork,
        field_managers: FieldManagers,
    ) -> None:
        self._store = store
        self._registry = registry
        self._network = network
        self._field_managers = field_managers
        self._synced = (-1, 0)  # the revisions of the registry and of the log
        self._watched_resources: tuple[str, ...] = _OWN
        # APIServices that this server serves: their status is final.
        self._local: dict[Key, Entry] = {}
        self._api_services = registry.versions(_API_SERVICES)[0]
        self._addresses = registry.versions(_ADDRESSES)[0]

    def sync(self) -> None:
        """Create missing APIServices and IPAddresses, and delete superfluous ones.

        An object is superfluous if its CustomResourceDefinition or Service no longer exists.
        """
        # Repeated after each change: a write may require another.
        while self._synced != (now := self._state()):
            self._synced = now
            self._sync_api_services()
        for address, service in self._network.moved():
            if service is None:
                self._delete(self._addresses, address)
            else:
                self._create(self._addresses, ip_address_of(address, service))

    def _state(self) -> tuple[int, int]:
        resource_log = self._store.log.resource_log
        last = max([resource_log(each).last_revision for each in self._watched_resources])
        return self._registry.revision, min(last, self._store.view.revision)

    def _sync_api_services(self) -> None:
        now = self._now()
        wanted = {
            f"{version}.{group}": api_service(
                group,
                version,
                priorities=(GROUP_PRIORITY, VERSION_PRIORITY),
                managed="true",
                now=now,
            )
            for group, version in sorted(self._registry.defined())
        }
        claims: dict[tuple[str, str], GroupVersionInfo] = {}
        for entry in self._store.view.page(self._api_services.stored_as).entries:
            found = entry.value or {}
            about, spec = found["metadata"], found["spec"]
            desired = wanted.pop(about["name"], None)
            managed = (about.get("labels") or {}).get(_MANAGED)
            if managed == "true" and "deletionTimestamp" not in about:
                self._manage(entry, desired, now)
            else:
                self._update_availability(entry, now)
            if managed is None:
                claims[spec.get("group", ""), spec["version"]] = GroupVersionInfo.of(spec)
        for each in wanted.values():
            self._create(self._api_services, each)
        self._registry.claim(claims)
        is_remote = any(each.remote for each in claims.values())
        self._watched_resources = _WITH_ENDPOINTS if is_remote else _OWN

    def _manage(self, entry: Entry, desired: Object | None, now: str) -> None:
        """Change the stored APIService to ``desired``; if ``desired`` is None, delete it.

        If the spec is already equal to the desired one, only the availability is updated.
        """
        found = entry.value or {}
        if desired is None:
            with suppress(RevisionConflict):  # another server of the same log was first
                deletion.delete(self._store, self._api_services, entry, DeleteOptions())
        elif found["spec"] != desired["spec"]:
            self._write(entry, {**found, "spec": desired["spec"]}, "")
        else:
            self._update_availability(entry, now)

    def _update_availability(self, entry: Entry, now: str) -> None:
        """Update the status: whether the APIService is available."""
        if self._local.get(entry.key) is entry:
            return
        found = entry.value or {}
        said = availability(found, self._store)
        updated = with_condition(found, said, now=now)
        if updated is not found:
            self._write(entry, updated, "status")
        elif said is LOCAL:
            self._local[entry.key] = entry

    def _write(self, entry: Entry, obj: Object, part: str) -> None:
        served, fresh = self._api_services, {**obj, "metadata": {**obj["metadata"]}}
        field_manager = self._field_managers.of(served, part)
        field_manager.update(entry.value, fresh, manager=SERVER, time=self._now())
        with suppress(RevisionConflict):  # as above
            self._store.write(entry.key, fresh, strategy=served.strategy, replacing=entry)

    def _create(self, served: ServedResource, obj: Object) -> None:
        about = obj["metadata"]
        key = Key(served.stored_as, served.place("", about["name"]))
        if self._store.view.get(key) is not None:
            return
        now = self._now()
        object_meta.prepare_create(about, rng=self._store.rng, time=now)
        made = {name: value for name, value in obj.items() if name != "status"}
        self._field_managers.of(served, "").update(None, made, manager=SERVER, time=now)
        owned = {**obj, "metadata": made["metadata"]}
        with suppress(RevisionConflict):  # as above
            self._store.write(key, owned, strategy=served.strategy, replacing=None)

    def _delete(self, served: ServedResource, name: str) -> None:
        entry = self._store.entry(served, "", name)
        if entry is not None:
            with suppress(RevisionConflict):  # as above
                self._store.delete(entry, strategy=served.strategy)

    def _now(self) -> str:
        return format_time(self._store.clock.now())
