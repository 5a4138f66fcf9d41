"""What our own functions make of a request, in the order in which the server uses them."""

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
from steersman_cluster.apiserver.builtin.network.services import service_rules
from steersman_cluster.apiserver.builtin.plugins.pod_admission import USUAL_PLUGINS
from steersman_cluster.apiserver.builtin.table import SERVICES, shared_rules
from steersman_cluster.apiserver.custom import DEFINITION, DEFINITIONS
from steersman_cluster.apiserver.meta import field_errors, status_errors
from steersman_cluster.apiserver.meta.strategy import Object, Strategy
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas
from steersman_cluster.apiserver.schema.serializer.decoder import BodyDecoder, BodyDecoders, decode
from tests.clocks import FakeClock

SCHEMAS = BuiltinSchemas.read()
EXPECTATIONS = BodyDecoders(SCHEMAS)
KINDS = {(each.gvk.api_version, each.plural): each.gvk for each in SCHEMAS.resources}
# Which Jobs write into their labels.
UID = "11111111-2222-4333-8444-555555555555"


@dataclass(frozen=True, kw_only=True)
class Around:
    """The little that strategy may know of the world."""

    clock: Clock = field(default_factory=FakeClock)
    rng: Random = field(default_factory=lambda: Random(4))

    def find(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        return None

    def every(self, resource: GroupResource, *, namespace: str = "") -> Iterable[Object]:
        return ()


def rules_with(network: ServiceNetwork) -> Mapping[GroupResource, Strategy]:
    """Those of every kind."""
    own = {SERVICES: service_rules(network), DEFINITIONS: DEFINITION}
    return {**shared_rules(frozenset(USUAL_PLUGINS)), **own}


class Here:
    """One kind, with the objects of it that are there."""

    def __init__(self, api_version: str, plural: str, *, stored: Iterable[Object] = ()) -> None:
        self.gvk: GroupVersionKind = KINDS[api_version, plural]
        self.network = ServiceNetwork(rng=Random(4))
        group_resource = GroupResource(group=self.gvk.group, resource=plural)
        self.strategy: Strategy = rules_with(self.network)[group_resource]
        self.expected: BodyDecoder = EXPECTATIONS.builtin(self.gvk)
        self.around = Around()
        for each in stored:
            self.strategy.after_write(None, each)

    def create(self, body: Object, *, namespace: str) -> Object:
        """What would be answered to a POST."""
        obj = self._decoded(body, namespace)
        self.strategy.default(obj)
        self.strategy.admit(obj, None, self.around)
        kept = to_stored(obj)
        if self.strategy.has_status and not self.strategy.status_on_create:
            kept["status"] = self._expected_of(kept).walk({})["status"]
        self.strategy.prepare_create(kept, self.around)
        if self.strategy.generation_fields:
            kept["metadata"]["generation"] = 1
        name = kept["metadata"].get("name", "")
        name_errors = self.strategy.name_errors
        if self.strategy.name_errors_of is not None:
            name_errors = self.strategy.name_errors_of(kept)
        errors = field_errors.all_invalid("metadata.name", name, name_errors(name, False))
        errors += label_errors(kept["metadata"].get("labels", {}), "metadata.labels")
        self._refuse_if(
            name, errors + self.strategy.validate(kept) + self.strategy.validate_create(kept)
        )
        self.warnings = self.strategy.warnings(kept, None)
        return to_served(kept, self.gvk.api_version)

    def update(self, body: Object, old: Object, *, namespace: str, subresource: str) -> Object:
        """What would be answered to a PUT."""
        strategy = NAMESPACE_FINALIZE if subresource == "finalize" else self.strategy
        obj, was = self._decoded(body, namespace), to_stored(self._decoded(old, namespace))
        strategy.default(obj)
        if not subresource:
            strategy.admit(obj, was, self.around)
        kept = to_stored(obj)
        if subresource == "status":
            kept = {**was, "metadata": kept["metadata"], "status": kept.get("status", {})}
            strategy.prepare_status(kept, was, self.around)
            errors = strategy.validate_status(kept, was)
        else:
            if strategy.has_status:
                kept["status"] = was["status"]
            strategy.prepare_update(kept, was, self.around)
            if any(
                part_of(kept, part) != part_of(was, part) for part in strategy.generation_fields
            ):
                kept["metadata"]["generation"] = was["metadata"].get("generation", 0) + 1
            first, second = strategy.validate_update(kept, was), strategy.validate(kept)
            errors = first + second if strategy.update_first else second + first
        self._refuse_if(kept["metadata"]["name"], errors)
        return to_served(kept, self.gvk.api_version)

    def _expected_of(self, kept: Object) -> BodyDecoder:
        return EXPECTATIONS.builtin(GroupVersionKind.of(kept["apiVersion"], kept["kind"]))

    def _decoded(self, body: Object, namespace: str) -> Object:
        obj = decode(msgspec.json.encode(body), self.expected, content_type="").obj
        if namespace:
            obj["metadata"]["namespace"] = namespace
        obj["metadata"].setdefault("uid", UID)
        return obj

    def _refuse_if(self, name: str, errors: list[Any]) -> None:
        if errors:
            kind = f"{self.gvk.kind}.{self.gvk.group}".rstrip(".")
            raise status_errors.invalid(kind, name, errors)


def part_of(obj: Object, path: str) -> Any:
    """What stands at ``spec`` or ``metadata.annotations``."""
    for name in path.split("."):
        obj = obj.get(name) or {}
    return obj
