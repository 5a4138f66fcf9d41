"""How the API server hears of a kind: a definition that takes whatever it is given."""

from typing import Any

from steersman.kinds import CustomResource, apiextensions_v1, meta_v1


def definition_of(
    kind: type[CustomResource[Any, Any]],
) -> apiextensions_v1.CustomResourceDefinition:
    """The kind, as the API server wants to hear of it."""
    where = kind.resource_type
    anything = apiextensions_v1.JSONSchemaProps(
        type="object", x_kubernetes_preserve_unknown_fields=True
    )
    schema = apiextensions_v1.JSONSchemaProps(
        type="object", properties={"spec": anything, "status": anything}
    )
    return apiextensions_v1.CustomResourceDefinition(
        metadata=meta_v1.ObjectMeta(name=f"{where.plural}.{where.gvk.group}"),
        spec=apiextensions_v1.CustomResourceDefinitionSpec(
            group=where.gvk.group,
            names=apiextensions_v1.CustomResourceDefinitionNames(
                kind=where.gvk.kind, plural=where.plural
            ),
            scope="Namespaced" if where.namespaced else "Cluster",
            versions=(
                apiextensions_v1.CustomResourceDefinitionVersion(
                    name=where.gvk.version,
                    served=True,
                    storage=True,
                    subresources=apiextensions_v1.CustomResourceSubresources(status={}),
                    schema=apiextensions_v1.CustomResourceValidation(open_api_v3_schema=schema),
                ),
            ),
        ),
    )
