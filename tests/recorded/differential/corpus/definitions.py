"""The custom kinds of the corpus, and the requests that define them."""

from collections.abc import Mapping
from dataclasses import replace

from tests.recorded.differential.corpus.kinds import Kind
from tests.recorded.differential.scenario import Answer, Json, Request, Scenario

GROUP = "scenarios.example.com"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

FORMATS = (
    "byte",
    "cidr",
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "mac",
    "uri",
    "uuid",
)

TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "integer"}
FREE: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def an_object(properties: Json, **more: Json) -> Json:
    """The schema of an object."""
    return {"type": "object", "properties": properties, **more}


def a_list(items: Json, **more: Json) -> Json:
    """The schema of a list."""
    return {"type": "array", "items": items, **more}


WIDGET_SPEC = an_object(
    {
        "size": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 100, "default": 1},
        "large": {"type": "integer", "format": "int64"},
        "ratio": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "multipleOf": 0.5},
        "name": {"type": "string", "minLength": 2, "maxLength": 8, "pattern": "^[a-z]+$"},
        "color": {"type": "string", "enum": ["red", "green", "blue"], "default": "red"},
        "shiny": {"type": "boolean"},
        "secret": {"type": "string", "nullable": True},
        "nullableDefault": {"type": "string", "nullable": True, "default": "x"},
        "port": {"x-kubernetes-int-or-string": True},
        "amount": {
            "x-kubernetes-int-or-string": True,
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "pattern": "^[0-9]+%?$",
        },
        "formats": an_object({name: {"type": "string", "format": name} for name in FORMATS}),
        "tags": a_list(TEXT, maxItems=3, **{"x-kubernetes-list-type": "set"}),
        "ports": a_list(
            an_object(
                {
                    "port": NUMBER,
                    "protocol": {"type": "string", "default": "TCP"},
                    "name": TEXT,
                },
                required=["port"],
            ),
            **{
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["port", "protocol"],
            },
        ),
        "steps": a_list(an_object({"do": TEXT}), minItems=1),
        "env": {"type": "object", "additionalProperties": TEXT, "maxProperties": 3},
        "limits": {
            "type": "object",
            "additionalProperties": {"x-kubernetes-int-or-string": True},
            "minProperties": 1,
        },
        "nested": an_object(
            {
                "on": {"type": "boolean", "default": True},
                "deep": an_object({"level": {"type": "integer", "default": 3}}),
            },
            default={},
        ),
        "pair": an_object({"a": TEXT, "b": TEXT}, **{"x-kubernetes-map-type": "atomic"}),
        "free": an_object({"typed": NUMBER}, **{"x-kubernetes-preserve-unknown-fields": True}),
        "anything": {"x-kubernetes-preserve-unknown-fields": True},
        "template": {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
        "choice": an_object(
            {"one": TEXT, "two": TEXT},
            oneOf=[{"required": ["one"]}, {"required": ["two"]}],
        ),
        "either": an_object(
            {"one": TEXT, "two": TEXT},
            anyOf=[{"required": ["one"]}, {"required": ["two"]}],
        ),
        "never": an_object({"one": TEXT, "two": TEXT}, **{"not": {"required": ["two"]}}),
    },
    required=["size"],
)

WIDGET_STATUS = an_object(
    {
        "ready": NUMBER,
        "replicas": NUMBER,
        "selector": TEXT,
        "conditions": a_list(
            an_object({"type": TEXT, "status": TEXT, "reason": TEXT}, required=["type", "status"]),
            **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
        ),
    }
)

WIDGET_SUBRESOURCES = {
    "status": {},
    "scale": {
        "specReplicasPath": ".spec.size",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector",
    },
}


def version(name: str, schema: Json, **more: Json) -> Json:
    """A version of a custom kind; it is served and stored by default."""
    return {
        "name": name,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        **more,
    }


def definition(
    group: str, plural: str, kind: str, *versions: Json, scope: str = "Namespaced", **names: Json
) -> Json:
    """A CustomResourceDefinition."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"plural": plural, "kind": kind, **names},
            "versions": list(versions),
        },
    }


WIDGET_SCHEMA = an_object({"spec": WIDGET_SPEC, "status": WIDGET_STATUS}, required=["spec"])

WIDGETS = definition(
    GROUP,
    "widgets",
    "Widget",
    version(
        "v1",
        WIDGET_SCHEMA,
        subresources=WIDGET_SUBRESOURCES,
        selectableFields=[{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.size"}],
        additionalPrinterColumns=[{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
    ),
    version(
        "v1beta1",
        an_object({"spec": an_object({"size": NUMBER, "old": TEXT})}),
        storage=False,
        deprecated=True,
        deprecationWarning="widgets of v1beta1 are out of fashion",
        subresources={"status": {}},
    ),
    version("v1alpha1", an_object({}), storage=False, served=False),
    singular="widget",
    shortNames=["wd"],
    categories=["all"],
)

GADGETS = definition(
    GROUP,
    "gadgets",
    "Gadget",
    version(
        "v1",
        an_object(
            {
                "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "metadata": an_object({"name": {"type": "string", "maxLength": 60}}),
            }
        ),
    ),
    scope="Cluster",
)

# Namespaced, without subresources, in two equal versions.
TRINKETS = definition(
    GROUP,
    "trinkets",
    "Trinket",
    *(
        version(
            name,
            an_object({"spec": an_object({"kept": TEXT, "count": NUMBER}), "status": FREE}),
            storage=name == "v2",
            selectableFields=[{"jsonPath": ".spec.kept"}],
        )
        for name in ("v1", "v2")
    ),
)

# Cluster-scoped, with subresources.
GIZMOS = definition(
    GROUP,
    "gizmos",
    "Gizmo",
    version(
        "v1",
        an_object(
            {
                "spec": an_object({"replicas": {"type": "integer", "default": 1}}),
                "status": an_object({"replicas": NUMBER, "phase": TEXT}),
            }
        ),
        subresources={
            "status": {},
            "scale": {
                "specReplicasPath": ".spec.replicas",
                "statusReplicasPath": ".status.replicas",
            },
        },
    ),
    scope="Cluster",
)

SETUP_WIDGETS = "setup/widgets"
SETUP_GADGETS = "setup/gadgets"
SETUP_OTHERS = "setup/others"

VERBS = frozenset(
    ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
)

WIDGET = Kind(
    api_version=f"{GROUP}/v1",
    name="Widget",
    plural="widgets",
    namespaced=True,
    verbs=VERBS,
    subresources=frozenset(("status", "scale")),
    sample={
        "apiVersion": f"{GROUP}/v1",
        "kind": "Widget",
        "spec": {
            "size": 2,
            "tags": ["a", "b"],
            "ports": [{"port": 80, "name": "http"}],
            "env": {"A": "1"},
            "secret": None,
        },
    },
)

OLD_WIDGET = Kind(
    api_version=f"{GROUP}/v1beta1",
    name="Widget",
    plural="widgets",
    namespaced=True,
    verbs=VERBS,
    subresources=frozenset(("status",)),
    sample={"apiVersion": f"{GROUP}/v1beta1", "kind": "Widget", "spec": {"size": 2, "old": "x"}},
)

GADGET = Kind(
    api_version=f"{GROUP}/v1",
    name="Gadget",
    plural="gadgets",
    namespaced=False,
    verbs=VERBS,
    subresources=frozenset(),
    sample={
        "apiVersion": f"{GROUP}/v1",
        "kind": "Gadget",
        "spec": {"free": [1, "two", {"three": None}]},
    },
)


TRINKET = Kind(
    api_version=f"{GROUP}/v2",
    name="Trinket",
    plural="trinkets",
    namespaced=True,
    verbs=VERBS,
    subresources=frozenset(),
    sample={
        "apiVersion": f"{GROUP}/v2",
        "kind": "Trinket",
        "spec": {"kept": "here", "count": 3},
        "status": {"any": [1]},
    },
)

GIZMO = Kind(
    api_version=f"{GROUP}/v1",
    name="Gizmo",
    plural="gizmos",
    namespaced=False,
    verbs=VERBS,
    subresources=frozenset(("status", "scale")),
    sample={"apiVersion": f"{GROUP}/v1", "kind": "Gizmo", "spec": {}},
)

CUSTOM_KINDS = (WIDGET, OLD_WIDGET, GADGET, TRINKET, GIZMO)


def conditions(document: Json) -> Mapping[str, str]:
    """The status of each condition, by type."""
    found = (document or {}).get("status", {}).get("conditions") or []
    return {each["type"]: each["status"] for each in found}


def is_established(answer: Answer) -> bool:
    """Whether custom resources of a definition can be created."""
    return conditions(answer.json()).get("Established") == "True"


def has_names_condition(answer: Answer) -> bool:
    """Whether the condition NamesAccepted of a definition is set."""
    return "NamesAccepted" in conditions(answer.json())


def is_found(answer: Answer) -> bool:
    """Whether the path exists."""
    return answer.status == 200


def is_missing(answer: Answer) -> bool:
    """Whether the path or the object does not exist."""
    return answer.status == 404


def define(document: Json, *paths: str) -> tuple[Request, ...]:
    """Create a definition, and wait until these paths are served."""
    path = f"{DEFINITIONS}/{document['metadata']['name']}"
    return (
        Request(name="defined", method="POST", path=DEFINITIONS, body=document),
        Request(name="established", method="GET", path=path, until=is_established),
        *(
            Request(name=f"served-{number}", method="GET", path=each, until=is_found)
            for number, each in enumerate(paths)
        ),
    )


def setups() -> list[Scenario]:
    """The custom kinds that scenarios need."""
    root = f"/apis/{GROUP}"
    return [
        Scenario(
            name=SETUP_WIDGETS,
            requests=define(
                WIDGETS,
                f"{root}/v1/namespaces/default/widgets",
                f"{root}/v1beta1/namespaces/default/widgets",
            ),
            first=True,
        ),
        Scenario(name=SETUP_GADGETS, requests=define(GADGETS, f"{root}/v1/gadgets"), first=True),
        Scenario(
            name=SETUP_OTHERS,
            requests=(
                *define(
                    TRINKETS,
                    f"{root}/v1/namespaces/default/trinkets",
                    f"{root}/v2/namespaces/default/trinkets",
                ),
                *(
                    replace(each, name=f"gizmos-{each.name}")
                    for each in define(GIZMOS, f"{root}/v1/gizmos")
                ),
            ),
            first=True,
        ),
    ]
