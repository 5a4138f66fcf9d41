"""Two custom kinds: Widgets, with every feature of a kind, and Octopodes."""

from typing import Annotated, Any

from steersman.client import Client, has_condition, wait_for
from steersman.kinds import Condition, CustomResource, Part, Rule, Unstructured, meta_v1
from steersman.kinds.apiextensions_v1 import (
    CustomResourceDefinition,
    CustomResourceDefinitionNames,
    CustomResourceDefinitionSpec,
    CustomResourceDefinitionVersion,
    CustomResourceSubresources,
    CustomResourceSubresourceScale,
    CustomResourceValidation,
    JSONSchemaProps,
    SelectableField,
)

GROUP = "toys.example.com"
DEPRECATION = f"{GROUP}/v1beta1 Widget is old; use v1"


class WidgetSpec(Part):
    """The desired state of a Widget."""

    size: Annotated[int, Rule(ge=0)] = 1
    shiny: bool = False
    tags: tuple[str, ...] = ()
    color: str | None = None


class WidgetStatus(Part):
    """The observed state of a Widget."""

    ready: int | None = None
    conditions: tuple[Condition, ...] | None = None


class Widget(CustomResource[WidgetSpec, WidgetStatus], group=GROUP, version="v1"):
    """A kind with a size."""


class OctopusSpec(Part):
    """The desired state of an Octopus."""

    arms: int = 8


class Octopus(
    CustomResource[OctopusSpec, Part],
    group=GROUP,
    version="v1",
    plural="octopodes",
    namespaced=False,
):
    """A cluster-scoped kind with an irregular plural."""


AnyWidget = Unstructured.of(f"{GROUP}/v1", "Widget")
OldWidget = Unstructured.of(f"{GROUP}/v1beta1", "Widget")


def widget(namespace: str, name: str, **spec: Any) -> Widget:
    """A Widget; other fields have the defaults of the class."""
    return Widget(
        metadata=meta_v1.ObjectMeta(name=name, namespace=namespace), spec=WidgetSpec(**spec)
    )


def any_widget(namespace: str, name: str, **spec: Any) -> Unstructured:
    """An unstructured Widget with only these fields."""
    return AnyWidget(
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": "Widget",
            "metadata": {"name": name, "namespace": namespace},
            "spec": spec,
        }
    )


async def install(client: Client, definition: CustomResourceDefinition) -> None:
    """Install the definition of the kind, unless it is served already."""
    await client.apply(definition, field_manager="tests")
    await wait_for(
        client,
        CustomResourceDefinition,
        definition.name,
        has_condition("Established"),
        within_seconds=20.0,
    )


def definition(
    kind: str,
    plural: str,
    *versions: CustomResourceDefinitionVersion,
    namespaced: bool = True,
    short_names: tuple[str, ...] | None = None,
) -> CustomResourceDefinition:
    """The definition of a kind in these versions."""
    return CustomResourceDefinition(
        metadata=meta_v1.ObjectMeta(name=f"{plural}.{GROUP}"),
        spec=CustomResourceDefinitionSpec(
            group=GROUP,
            names=CustomResourceDefinitionNames(kind=kind, plural=plural, short_names=short_names),
            scope="Namespaced" if namespaced else "Cluster",
            versions=versions,
        ),
    )


def version(
    name: str = "v1", *, spec: JSONSchemaProps, status: JSONSchemaProps | None = None, **rest: Any
) -> CustomResourceDefinitionVersion:
    """A version of a kind with a spec, and optionally a status."""
    properties = {"spec": spec} if status is None else {"spec": spec, "status": status}
    schema = JSONSchemaProps(type="object", properties=properties)
    return CustomResourceDefinitionVersion(
        name=name,
        served=True,
        storage=name == "v1",
        schema=CustomResourceValidation(open_api_v3_schema=schema),
        **rest,
    )


def of_type(name: str, **rest: Any) -> JSONSchemaProps:
    """The schema of a value of this type."""
    return JSONSchemaProps(type=name, **rest)


ANYTHING = of_type("object", x_kubernetes_preserve_unknown_fields=True)

_WIDGET_SPEC = of_type(
    "object",
    properties={
        "size": of_type("integer", minimum=0),
        "shiny": of_type("boolean"),
        "tags": of_type("array", items=of_type("string")),
        "color": of_type("string"),
    },
)

_WIDGET_STATUS = of_type(
    "object",
    properties={
        "ready": of_type("integer"),
        "conditions": of_type(
            "array",
            items=of_type(
                "object",
                properties={
                    "type": of_type("string"),
                    "status": of_type("string"),
                    "reason": of_type("string"),
                    "message": of_type("string"),
                    "lastTransitionTime": of_type("string", format="date-time"),
                },
                required=("type", "status"),
            ),
            x_kubernetes_list_type="map",
            x_kubernetes_list_map_keys=("type",),
        ),
    },
)

WIDGETS = definition(
    "Widget",
    "widgets",
    version(
        spec=_WIDGET_SPEC,
        status=_WIDGET_STATUS,
        selectable_fields=(SelectableField(json_path=".spec.color"),),
        subresources=CustomResourceSubresources(
            status={},
            scale=CustomResourceSubresourceScale(
                spec_replicas_path=".spec.size", status_replicas_path=".status.ready"
            ),
        ),
    ),
    version("v1beta1", spec=ANYTHING, deprecated=True, deprecation_warning=DEPRECATION),
    short_names=("wd",),
)

OCTOPODES = definition(
    "Octopus",
    "octopodes",
    version(spec=of_type("object", properties={"arms": of_type("integer")})),
    namespaced=False,
)
