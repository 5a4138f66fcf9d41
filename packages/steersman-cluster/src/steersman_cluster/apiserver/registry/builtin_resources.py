"""The built-in resources: each with its schema, its strategy and its version conversion."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial

from steersman.names import GroupResource
from steersman_cluster.apiserver.apply.field_manager import FieldManager
from steersman_cluster.apiserver.builtin.conversion import STORED_RESOURCE, to_served, to_stored
from steersman_cluster.apiserver.builtin.network.service_network import ServiceNetwork
from steersman_cluster.apiserver.builtin.network.services import service_strategy
from steersman_cluster.apiserver.builtin.table import SERVICES, shared_strategies
from steersman_cluster.apiserver.custom import BUILTIN_SCALE, DEFINITION, DEFINITIONS
from steersman_cluster.apiserver.meta.reset_fields import reset_fields
from steersman_cluster.apiserver.meta.strategy import Object, Strategy
from steersman_cluster.apiserver.request.resources import ResourceRegistry, ServedResource
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas

# Warnings for clients that use deprecated resources.
_DEPRECATED = {
    GroupResource("", "componentstatuses"): "v1 ComponentStatus is deprecated in v1.19+",
    GroupResource("", "endpoints"): (
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
    ),
}

# Kinds whose versions differ in more than the apiVersion.
_CONVERTED = frozenset(("Event", "HorizontalPodAutoscaler"))


def builtin_resources(
    schemas: BuiltinSchemas, strategies: Mapping[GroupResource, Strategy]
) -> Iterator[ServedResource]:
    """Yield every built-in resource in every version."""
    for found in schemas.resources:
        gvk, resource = found.gvk, GroupResource(found.gvk.group, found.plural)
        served = ServedResource(
            gvk=gvk,
            plural=found.plural,
            singular=found.singular,
            list_kind=f"{gvk.kind}List",
            namespaced=found.namespaced,
            verbs=frozenset(found.verbs),
            schema=schemas.of(gvk),
            strategy=strategies.get(resource, Strategy()),
            stored_as=str(STORED_RESOURCE.get(resource, resource)),
            short_names=found.short_names,
            categories=found.categories,
            subresources=found.subresources,
            deprecation=_DEPRECATED.get(resource),
            scale=BUILTIN_SCALE if "scale" in found.subresources else None,
        )
        if gvk.kind in _CONVERTED:
            back = partial(to_served, api_version=gvk.api_version)
            served = replace(served, to_stored=to_stored, from_stored=back)
        yield served


def builtin_resources_with(
    schemas: BuiltinSchemas, network: ServiceNetwork, *, plugins: frozenset[str]
) -> list[ServedResource]:
    """Return all built-in resources; the strategy of Services allocates from ``network``.

    All servers of a process share the other resources.
    """
    return [
        replace(each, strategy=service_strategy(network))
        if each.group_resource == SERVICES
        else each
        for each in _shared(schemas, plugins)
    ]


@lru_cache(maxsize=16)
def _shared(schemas: BuiltinSchemas, plugins: frozenset[str]) -> tuple[ServedResource, ...]:
    return tuple(
        builtin_resources(schemas, {**shared_strategies(plugins), DEFINITIONS: DEFINITION})
    )


class FieldManagers:
    """The field managers of all resources, each created at its first use."""

    def __init__(self, registry: ResourceRegistry, schemas: BuiltinSchemas) -> None:
        self._registry = registry
        self._schemas = schemas
        self._revision = -1
        self._made: dict[tuple[int, str], FieldManager] = {}

    def of(self, served: ServedResource, subresource: str) -> FieldManager:
        """Return the field manager of a resource in one version, or of one of its subresources."""
        if self._revision != self._registry.revision:
            self._revision = self._registry.revision
            self._made.clear()
        key = (id(served), subresource)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._make(served, subresource)
        return found

    def _make(self, served: ServedResource, subresource: str) -> FieldManager:
        if (gvk := served.kind_of(subresource)) != served.gvk:
            schemas = {gvk.api_version: self._schemas.of(gvk)}
            return FieldManager(gvk=gvk, schemas=schemas, subresource=subresource)
        versions = self._registry.versions(served.group_resource)
        return FieldManager(
            gvk=served.gvk,
            schemas={each.gvk.api_version: each.schema for each in versions},
            subresource=subresource,
            reset=reset_fields(
                served.group_resource,
                subresource,
                has_status=served.strategy.has_status,
                custom=served.custom,
            ),
            convert=_converted if len(versions) > 1 and not served.custom else None,
        )


def _converted(obj: Object, api_version: str) -> Object:
    return to_served(to_stored(obj), api_version)
