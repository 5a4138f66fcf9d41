"""The controller of CustomResourceDefinitions: names, serving, and finalization.

On a kube-apiserver, controllers do this work asynchronously. In steersman, the work is complete
before the server responds to the request that changed a CustomResourceDefinition.
"""

from steersman.names import GroupResource
from steersman.units import format_time, same_json
from steersman_cluster.apiserver.apply import FieldManager
from steersman_cluster.apiserver.custom import DEFINITIONS
from steersman_cluster.apiserver.custom.definition_resources import served as served_by
from steersman_cluster.apiserver.custom.definition_status import accepted, instances_gone
from steersman_cluster.apiserver.meta.strategy import Object, Strategy
from steersman_cluster.apiserver.registry import deletion
from steersman_cluster.apiserver.registry.store import Store
from steersman_cluster.apiserver.request.delete_options import DeleteOptions
from steersman_cluster.apiserver.request.resources import ResourceRegistry, ServedResource
from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.storage import Entry

# The field manager of the status of definitions.
SERVER = "kube-apiserver"


class DefinitionController:
    """A controller that makes the server serve the resources of the stored CRDs."""

    def __init__(
        self,
        store: Store,
        registry: ResourceRegistry,
        *,
        strategy: Strategy,
        object_meta: Schema,
        status: FieldManager,
    ) -> None:
        self._store = store
        self._registry = registry
        self._strategy = strategy
        self._object_meta = object_meta
        self._status = status
        self._synced_revision = 0
        self._has_terminating = False  # whether a definition waits for its objects' finalizers
        # Keyed by the name of the definition.
        self._served: dict[str, tuple[Object, tuple[ServedResource, ...]]] = {}

    def sync(self) -> None:
        """Update the status of every stored CRD, and serve or finalize its custom resources."""
        if self._has_terminating:
            self._sync_once()
        # Repeated after each change: a deleted definition frees its names for another.
        while self._store.last_change(DEFINITIONS) != self._synced_revision:
            self._sync_once()

    def _sync_once(self) -> None:
        self._synced_revision = self._store.last_change(DEFINITIONS)
        self._has_terminating = False
        for entry in self._entries():
            self._update_names(entry)
        for entry in self._entries():
            self._serve_or_finalize(entry)
        self._stop_serving_deleted()

    def _entries(self) -> list[Entry]:
        return self._store.view.page(str(DEFINITIONS)).entries

    def _now(self) -> str:
        return format_time(self._store.clock.now())

    def _update_names(self, entry: Entry) -> None:
        crd = entry.value or {}
        others = [each for each in self._store.every(DEFINITIONS) if each is not crd]
        named = accepted(crd, others, now=self._now())
        if named is not crd:
            self._write(entry, named)

    def _write(self, entry: Entry, crd: Object) -> Entry:
        fresh = {**crd, "metadata": {**crd["metadata"]}}
        self._status.update(entry.value, fresh, manager=SERVER, time=self._now())
        return self._store.write(entry.key, fresh, strategy=self._strategy, replacing=entry)

    def _serve_or_finalize(self, entry: Entry) -> None:
        crd = entry.value or {}
        name = crd["metadata"]["name"]
        known, _ = self._served.get(name, (None, ()))
        if known is not crd:
            served = tuple(served_by(crd, object_meta=self._object_meta))
            self._served[name] = (crd, served)
            self._registry.define(name, served)
            if known is not None and not same_json(known["spec"], crd["spec"]):
                self._store.end_watches(name)
        if crd["metadata"].get("deletionTimestamp"):
            self._has_terminating = True
            self._finalize(entry, self._served[name][1])

    def _finalize(self, entry: Entry, versions: tuple[ServedResource, ...]) -> None:
        """Delete the objects that a CRD defines, and then the CRD."""
        crd = entry.value or {}
        group, plural = crd["spec"]["group"], crd["spec"]["names"]["plural"]
        resource = str(GroupResource(group, plural))
        if versions:
            for each in self._store.view.page(resource).entries:
                deletion.delete(self._store, versions[0], each, DeleteOptions())
        if self._store.view.page(resource, limit=1).entries:
            return  # some objects have finalizers
        ended = instances_gone(crd, now=self._now())
        if ended["metadata"].get("finalizers"):
            if ended is not crd:
                self._write(entry, ended)
        else:
            self._store.delete(entry, strategy=self._strategy)

    def _stop_serving_deleted(self) -> None:
        kept = {(entry.value or {})["metadata"]["name"] for entry in self._entries()}
        for name in self._served.keys() - kept:
            del self._served[name]
            self._registry.define(name, ())
            self._store.end_watches(name)
