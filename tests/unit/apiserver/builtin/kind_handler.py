"""Creates and updates of a built-in kind, as its strategy processes them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import msgspec

from steersman.clock import Clock
from steersman.names import GroupResource, GroupVersionKind
from steersman_cluster.apiserver.builtin.cluster.namespaces import NAMESPACE_FINALIZE
from steersman_cluster.apiserver.builtin.conversion import to_served, to_stored
from steersman_cluster.apiserver.builtin.label_selectors import label_errors
from steersman_cluster.apiserver.builtin.network.service_network import ServiceNetwork
from steersman_cluster.apiserver.builtin.network.services import service_strategy
from steersman_cluster.apiserver.builtin.plugins.pod_admission import USUAL_PLUGINS
from steersman_cluster.apiserver.builtin.pods.pod_parts import POD_DEBUGGING, POD_RESIZING
from steersman_cluster.apiserver.builtin.table import SERVICES, shared_strategies
from steersman_cluster.apiserver.custom import DEFINITION, DEFINITIONS
from steersman_cluster.apiserver.meta import field_errors, status_errors
from steersman_cluster.apiserver.meta.strategy import Object, Strategy
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas
from steersman_cluster.apiserver.schema.serializer.decoder import BodyDecoder, BodyDecoders, decode
from tests.clocks import FakeClock

SCHEMAS = BuiltinSchemas.read()
EXPECTATIONS = BodyDecoders(SCHEMAS)
KINDS = {(each.gvk.api_version, each.plural): each.gvk for each in SCHEMAS.resources}
# Those whose rules are not those of the kind or of its status.
SUBRESOURCES = {
    "ephemeralcontainers": POD_DEBUGGING,
    "finalize": NAMESPACE_FINALIZE,
    "resize": POD_RESIZING,
}
# Jobs copy their UID into their labels.
UID = "11111111-2222-4333-8444-555555555555"


@dataclass(frozen=True, kw_only=True)
class FakeStrategyContext:
    """A strategy context without stored objects."""

    clock: Clock = field(default_factory=FakeClock)
    rng: Random = field(default_factory=lambda: Random(4))

    def find(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        return None

    def every(self, resource: GroupResource, *, namespace: str = "") -> Iterable[Object]:
        return ()


def strategies_with(network: ServiceNetwork) -> Mapping[GroupResource, Strategy]:
    """Return the strategy of every kind."""
    own = {SERVICES: service_strategy(network), DEFINITIONS: DEFINITION}
    return {**shared_strategies(frozenset(USUAL_PLUGINS)), **own}


class KindHandler:
    """Processes writes of one kind; ``stored`` contains its existing objects."""

    def __init__(self, api_version: str, plural: str, *, stored: Iterable[Object] = ()) -> None:
        self.gvk: GroupVersionKind = KINDS[api_version, plural]
        self.network = ServiceNetwork(rng=Random(4))
        group_resource = GroupResource(group=self.gvk.group, resource=plural)
        self.strategy: Strategy = strategies_with(self.network)[group_resource]
        self.expected: BodyDecoder = EXPECTATIONS.builtin(self.gvk)
        self.context = FakeStrategyContext()
        for each in stored:
            self.strategy.after_write(None, each)

    def create(self, body: Object, *, namespace: str) -> Object:
        """Return the object in the response to a POST."""
        obj = self._decoded(body, namespace)
        self.strategy.default(obj)
        self.strategy.admit(obj, None, self.context)
        stored = to_stored(obj)
        if self.strategy.has_status and not self.strategy.status_on_create:
            stored["status"] = self._expected_of(stored).walk({})["status"]
        self.strategy.prepare_create(stored, self.context)
        if self.strategy.generation_fields:
            stored["metadata"]["generation"] = 1
        name = stored["metadata"].get("name", "")
        name_errors = self.strategy.name_errors
        if self.strategy.name_errors_of is not None:
            name_errors = self.strategy.name_errors_of(stored)
        errors = field_errors.all_invalid("metadata.name", name, name_errors(name, False))
        errors += label_errors(stored["metadata"].get("labels", {}), "metadata.labels")
        self._reject_if(
            name, errors + self.strategy.validate(stored) + self.strategy.validate_create(stored)
        )
        self.warnings = self.strategy.warnings(stored, None)
        return to_served(stored, self.gvk.api_version)

    def update(self, body: Object, old: Object, *, namespace: str, subresource: str) -> Object:
        """Return the object in the response to a PUT."""
        strategy = SUBRESOURCES.get(subresource, self.strategy)
        obj, was = self._decoded(body, namespace), to_stored(self._decoded(old, namespace))
        strategy.default(obj)
        if not subresource:
            strategy.admit(obj, was, self.context)
        stored = to_stored(obj)
        if subresource == "status":
            stored = {**was, "metadata": stored["metadata"], "status": stored.get("status", {})}
            strategy.prepare_status(stored, was, self.context)
            errors = strategy.validate_status(stored, was)
        else:
            if strategy.has_status:
                stored["status"] = was["status"]
            strategy.prepare_update(stored, was, self.context)
            if any(
                part_of(stored, part) != part_of(was, part) for part in strategy.generation_fields
            ):
                stored["metadata"]["generation"] = was["metadata"].get("generation", 0) + 1
            first, second = strategy.validate_update(stored, was), strategy.validate(stored)
            errors = first + second if strategy.update_first else second + first
        self._reject_if(stored["metadata"]["name"], errors)
        return to_served(stored, self.gvk.api_version)

    def _expected_of(self, stored: Object) -> BodyDecoder:
        return EXPECTATIONS.builtin(GroupVersionKind.of(stored["apiVersion"], stored["kind"]))

    def _decoded(self, body: Object, namespace: str) -> Object:
        obj = decode(msgspec.json.encode(body), self.expected, content_type="").obj
        if namespace:
            obj["metadata"]["namespace"] = namespace
        obj["metadata"].setdefault("uid", UID)
        return obj

    def _reject_if(self, name: str, errors: list[Any]) -> None:
        if errors:
            kind = f"{self.gvk.kind}.{self.gvk.group}".rstrip(".")
            raise status_errors.invalid(kind, name, errors)


def part_of(obj: Object, path: str) -> Any:
    """Return the value at a path like ``metadata.annotations``."""
    for name in path.split("."):
        obj = obj.get(name) or {}
    return obj
