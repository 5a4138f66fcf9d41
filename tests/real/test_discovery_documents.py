"""Discovery and OpenAPI documents of the built-in kinds equal the real server's."""

from collections.abc import Mapping
from typing import Any

import pytest

from steersman_cluster.apiserver.discovery import OpenApi, Swagger, installed_descriptions
from steersman_cluster.testing import RealControlPlane
from tests.embedded import EmbeddedServer
from tests.unit.apiserver.discovery.sample_documents import (
    AGGREGATED,
    BUILTIN,
    SCHEMAS,
    content,
    discovery,
    open_api,
)

JSON = "application/json"
ROOTS = sorted(
    {
        f"apis/{each.gvk.group}/{each.gvk.version}" if each.gvk.group else f"api/{each.gvk.version}"
        for each in BUILTIN
    }
)
GROUPS = sorted({each.gvk.group for each in BUILTIN if each.gvk.group})

# The parameter is described, but behind a gate that is closed.
NOT_OURS = {"shardSelector string"}

# We say of every operation what a refusal looks like; the server leaves that out.
OF_REFUSALS = {
    f"io.k8s.apimachinery.pkg.apis.meta.v1.{kind}"
    for kind in ("ListMeta", "ShardInfo", "Status", "StatusCause", "StatusDetails")
}

# The server names every group and version that it has ever had.
OF_EVERY_GROUP = {
    f"io.k8s.apimachinery.pkg.apis.meta.v1.{kind}" for kind in ("DeleteOptions", "WatchEvent")
}
GVK = "x-kubernetes-group-version-kind"

OPEN_API = open_api()

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CUSTOM_ROOT = "apis/documented.example.com/v1"
TEXT: dict[str, Any] = {"type": "string"}
DOCUMENTED: dict[str, Any] = {
    "metadata": {"name": "things.documented.example.com"},
    "spec": {
        "group": "documented.example.com",
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                    },
                },
                "selectableFields": [{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.replicas"}],
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "color": TEXT,
                                    "replicas": {"type": "integer", "default": 1},
                                    "port": {"x-kubernetes-int-or-string": True},
                                    "perhaps": {**TEXT, "nullable": True},
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {"replicas": {"type": "integer"}},
                            },
                        },
                    }
                },
            }
        ],
    },
}


def asked(plane: RealControlPlane, path: str, accept: str = JSON) -> Any:
    with plane.caller() as api:
        return api.call("GET", path, accept=accept).json()


def built_in(groups: list[Any]) -> list[Any]:
    """Without the groups that other tests have defined."""
    return [
        each
        for each in groups
        if each.get("name", each.get("metadata", {}).get("name", "")) in ("", *GROUPS)
    ]


@pytest.mark.parametrize("path", [*(f"/{root}" for root in ROOTS), *(f"/apis/{g}" for g in GROUPS)])
def test_a_legacy_discovery_document_equals_the_servers(
    control_plane: RealControlPlane, path: str
) -> None:
    assert content(discovery().find(path)) == asked(control_plane, path)


def test_the_list_of_groups_equals_the_servers(control_plane: RealControlPlane) -> None:
    theirs = asked(control_plane, "/apis")

    assert content(discovery().find("/apis"))["groups"] == built_in(theirs["groups"])


@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_an_aggregated_document_equals_the_servers(
    control_plane: RealControlPlane, path: str
) -> None:
    theirs = asked(control_plane, path, AGGREGATED)

    ours = content(discovery().find(path, accept=AGGREGATED))

    assert ours == {**theirs, "items": built_in(theirs["items"])}


def test_the_versions_of_the_core_group_equal_the_servers(control_plane: RealControlPlane) -> None:
    theirs = asked(control_plane, "/api")

    assert content(discovery().find("/api")).keys() == theirs.keys()
    assert content(discovery().find("/version")).keys() == asked(control_plane, "/version").keys()


def essence(path: Mapping[str, Any]) -> dict[str, Any]:
    """What an operation is about, without words, and without what can be sent and received."""
    everywhere = names(path.get("parameters", ()))
    return {
        method: (
            operation["operationId"],
            operation.get("x-kubernetes-action"),
            operation.get("x-kubernetes-group-version-kind"),
            sorted({*everywhere, *names(operation.get("parameters", ()))} - NOT_OURS),
            sorted(set(operation["responses"]) - {"401", "default"}),
            response(operation),
        )
        for method, operation in path.items()
        if method != "parameters"
    }


def names(parameters: Any) -> list[str]:
    return [f"{each['name']} {each['schema']['type']}" for each in parameters]


def response(operation: Mapping[str, Any]) -> Any:
    return operation["responses"]["200"]["content"][JSON]["schema"]


def is_described(path: str, operations: Mapping[str, Any]) -> bool:
    """Whether we describe it: neither the old paths of watches, nor streams, nor logs."""
    actions = {
        each.get("x-kubernetes-action") for each in operations.values() if isinstance(each, dict)
    }
    return "/watch/" not in path and "connect" not in actions and not path.endswith("/log")


@pytest.mark.parametrize("root", ROOTS)
def test_the_paths_of_an_openapi_document_equal_the_servers(
    control_plane: RealControlPlane, root: str
) -> None:
    theirs = asked(control_plane, f"/openapi/v3/{root}")["paths"]

    ours = content(OPEN_API.find(f"/openapi/v3/{root}"))["paths"]

    assert {path: essence(operations) for path, operations in ours.items()} == {
        path: essence(operations)
        for path, operations in theirs.items()
        if is_described(path, operations)
    }


@pytest.mark.parametrize("root", ROOTS)
def test_the_schemas_of_an_openapi_document_equal_the_servers(
    control_plane: RealControlPlane, root: str
) -> None:
    theirs = asked(control_plane, f"/openapi/v3/{root}")["components"]["schemas"]

    ours = content(OPEN_API.find(f"/openapi/v3/{root}"))["components"]["schemas"]

    assert set(ours) == set(theirs) | OF_REFUSALS


def without_words(schema: Any, *, named: bool = False) -> Any:
    """A schema without its descriptions, which are not ours; ``named``: a map of schemas."""
    if isinstance(schema, dict):
        return {
            key: without_words(value, named=key == "properties")
            for key, value in schema.items()
            if named or key != "description"
        }
    return schema


def test_the_definitions_of_the_v2_document_equal_the_servers(
    control_plane: RealControlPlane,
) -> None:
    theirs = asked(control_plane, "/openapi/v2")["definitions"]

    ours = content(Swagger(OPEN_API).find(JSON))["definitions"]

    assert set(theirs) >= set(ours)
    for name, schema in ours.items():
        if name in OF_EVERY_GROUP:
            schema[GVK], theirs[name][GVK] = None, None
        assert schema == without_words(theirs[name]), name


def described() -> OpenApi:
    """The documents with what fields mean, from the package that has it."""
    found = OpenApi(SCHEMAS.written, find_descriptions=installed_descriptions)
    found.serve(BUILTIN, {})
    return found


# Not even the project's own published documents, from which the package is made, have these texts.
NOT_IN_THE_PACKAGE = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
}


def texts(schema: Any) -> Any:
    """What a schema says about itself and its fields, without what single values mean."""
    fields = schema.get("properties", {})
    said = {key: fields[key].get("description", "") for key in fields}
    said[""] = schema.get("description", "")
    return {key: text.partition("Possible enum values:")[0].strip() for key, text in said.items()}


def test_with_the_package_descriptions_of_types_equal_the_servers(
    control_plane: RealControlPlane,
) -> None:
    theirs = asked(control_plane, "/openapi/v2")["definitions"]

    ours = content(Swagger(described()).find(JSON))["definitions"]

    for name in ours.keys() - NOT_IN_THE_PACKAGE:
        assert texts(ours[name]) == texts(theirs[name]), name


@pytest.mark.parametrize("root", ROOTS)
def test_with_the_package_descriptions_in_v3_documents_equal_the_servers(
    control_plane: RealControlPlane, root: str
) -> None:
    theirs = asked(control_plane, f"/openapi/v3/{root}")["components"]["schemas"]

    ours = content(described().find(f"/openapi/v3/{root}"))["components"]["schemas"]

    for name in theirs.keys() - NOT_IN_THE_PACKAGE:
        assert texts(ours[name]) == texts(theirs[name]), name


@pytest.fixture(scope="module")
def custom_documents(control_plane: RealControlPlane) -> tuple[dict[str, Any], dict[str, Any]]:
    """The v3 and the v2 document of a group of definitions, as the server has them."""
    with control_plane.caller() as api:
        assert api.call("POST", DEFINITIONS, DOCUMENTED).status == 201
        # It publishes a definition some time after it serves it.
        while (found := api.call("GET", f"/openapi/v3/{CUSTOM_ROOT}")).status != 200:
            pass
        while not of_custom(v2 := api.call("GET", "/openapi/v2").json(), "definitions"):
            pass
    return found.json(), v2


def of_custom(document: Mapping[str, Any], part: str) -> dict[str, Any]:
    """What a document says of the group of definitions."""
    names = ("documented.example.com", "com.example.documented")
    return {
        name: each for name, each in document[part].items() if any(group in name for group in names)
    }


def without_gated(operations: Mapping[str, Any]) -> Any:
    """The operations at a path, without words and what is behind a gate that is closed."""
    kept = without_words(operations)
    for each in (kept, *(operation for name, operation in kept.items() if name != "parameters")):
        if "parameters" in each:
            own = (one for one in each["parameters"] if one["name"] != "shardSelector")
            each["parameters"] = [without_words(one) for one in own]
    return kept


async def test_the_documents_of_a_group_of_custom_resources_equal_the_servers(
    custom_documents: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    theirs, theirs_v2 = custom_documents
    api = EmbeddedServer()
    await api.asked("POST", DEFINITIONS, DOCUMENTED)

    ours = await api.asked("GET", f"/openapi/v3/{CUSTOM_ROOT}")
    ours_v2 = await api.asked("GET", "/openapi/v2")

    assert ours["info"] == theirs["info"]
    assert without_gates(ours["paths"]) == without_gates(theirs["paths"])
    assert set(ours["components"]["schemas"]) == set(theirs["components"]["schemas"])
    assert without_words(of_custom(ours["components"], "schemas"), named=True) == without_words(
        of_custom(theirs["components"], "schemas"), named=True
    )
    assert without_words(of_custom(ours_v2, "definitions"), named=True) == without_words(
        of_custom(theirs_v2, "definitions"), named=True
    )
    assert set(of_custom(ours_v2, "paths")) == set(of_custom(theirs_v2, "paths"))


def without_gates(paths: Mapping[str, Any]) -> Any:
    """Every path without words, and without what is behind a gate that is closed."""
    return {path: without_gated(operations) for path, operations in paths.items()}


def test_the_v2_document_has_the_servers_patch_operations(
    control_plane: RealControlPlane,
) -> None:
    theirs = asked(control_plane, "/openapi/v2")
    ours = content(Swagger(OPEN_API).find(JSON))

    assert patches(ours) == {
        path: patch for path, patch in patches(theirs).items() if path in ours["paths"]
    }


def patches(document: Mapping[str, Any]) -> dict[str, Any]:
    """What can be patched, and how."""
    shared = document["parameters"]
    return {
        path: (
            operation[GVK],
            sorted(operation["consumes"]),
            sorted(
                shared.get(each.get("$ref", "").removeprefix("#/parameters/"), each)["name"]
                for each in operation["parameters"]
            ),
        )
        for path, operations in document["paths"].items()
        if (operation := operations.get("patch")) is not None and "proxy" not in path
    }
