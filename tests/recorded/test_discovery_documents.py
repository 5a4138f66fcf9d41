"""Discovery and OpenAPI documents of the built-in kinds equal the real server's."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

import pytest

from steersman_cluster.apiserver.discovery import OpenApi, Swagger, installed_descriptions
from steersman_cluster.testing import ControlPlane
from tests.embedded import EmbeddedServer
from tests.recorded.module_recording import Mode, ModuleRecording, open_plane
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

# Parameters of a feature gate that is off by default.
GATED_PARAMETERS = {"shardSelector string"}

# The embedded server documents the error responses of each operation.
ERROR_SCHEMAS = {
    f"io.k8s.apimachinery.pkg.apis.meta.v1.{kind}"
    for kind in ("ListMeta", "ShardInfo", "Status", "StatusCause", "StatusDetails")
}

# The real server lists all groups and versions, also removed ones.
SHARED_SCHEMAS = {
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


@pytest.fixture(scope="module")
def live_plane(mode: Mode) -> Iterator[ControlPlane | None]:
    """A real server without the definitions of other tests."""
    with open_plane(mode) as plane:
        yield plane


@pytest.fixture(scope="module")
def documents(real: ModuleRecording) -> dict[tuple[str, str], Any]:
    """The documents of the real server, by path and accepted media type.

    Only the OpenAPI documents have a custom group.
    """
    openapi = [f"/openapi/v3/{root}" for root in ROOTS]
    roots = [f"/{root}" for root in ROOTS]
    groups = [f"/apis/{each}" for each in GROUPS]
    wanted = [(path, JSON) for path in ("/api", "/apis", "/version", *openapi, *roots, *groups)]
    wanted += [("/api", AGGREGATED), ("/apis", AGGREGATED)]
    custom = f"/openapi/v3/{CUSTOM_ROOT}"
    with real.fixture("documents") as api:
        found = {
            (path, accept): api.call("GET", path, accept=accept).json() for path, accept in wanted
        }
        real.define(DOCUMENTED)
        # The server publishes the documents of a definition some time after it serves the kind.
        found[custom, JSON] = api.call_until(lambda each: each.status == 200, "GET", custom).json()
        found["/openapi/v2", JSON] = api.call_until(
            lambda each: bool(of_custom(each.json(), "definitions")), "GET", "/openapi/v2"
        ).json()
    return found


@pytest.fixture
def get(documents: dict[tuple[str, str], Any]) -> Callable[..., Any]:
    """Gets a copy of a document of the real server."""

    def get(path: str, accept: str = JSON) -> Any:
        return deepcopy(documents[path, accept])

    return get


@pytest.mark.parametrize("path", [*(f"/{root}" for root in ROOTS), *(f"/apis/{g}" for g in GROUPS)])
def test_a_legacy_discovery_document_equals_the_servers(get: Callable[..., Any], path: str) -> None:
    assert content(discovery().find(path)) == get(path)


def test_the_list_of_groups_equals_the_servers(get: Callable[..., Any]) -> None:
    expected = get("/apis")

    assert content(discovery().find("/apis"))["groups"] == expected["groups"]


@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_an_aggregated_document_equals_the_servers(get: Callable[..., Any], path: str) -> None:
    expected = get(path, AGGREGATED)

    actual = content(discovery().find(path, accept=AGGREGATED))

    assert actual == expected


def test_the_versions_of_the_core_group_equal_the_servers(get: Callable[..., Any]) -> None:
    expected = get("/api")

    assert content(discovery().find("/api")).keys() == expected.keys()
    assert content(discovery().find("/version")).keys() == get("/version").keys()


def compared_fields(path: Mapping[str, Any]) -> dict[str, Any]:
    """The operations without descriptions and media types."""
    everywhere = names(path.get("parameters", ()))
    return {
        method: (
            operation["operationId"],
            operation.get("x-kubernetes-action"),
            operation.get("x-kubernetes-group-version-kind"),
            sorted({*everywhere, *names(operation.get("parameters", ()))} - GATED_PARAMETERS),
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
    """Whether the embedded server documents the path: not for /watch/, connect and logs."""
    actions = {
        each.get("x-kubernetes-action") for each in operations.values() if isinstance(each, dict)
    }
    return "/watch/" not in path and "connect" not in actions and not path.endswith("/log")


@pytest.mark.parametrize("root", ROOTS)
def test_the_paths_of_an_openapi_document_equal_the_servers(
    get: Callable[..., Any], root: str
) -> None:
    expected = get(f"/openapi/v3/{root}")["paths"]

    actual = content(OPEN_API.find(f"/openapi/v3/{root}"))["paths"]

    assert {path: compared_fields(operations) for path, operations in actual.items()} == {
        path: compared_fields(operations)
        for path, operations in expected.items()
        if is_described(path, operations)
    }


@pytest.mark.parametrize("root", ROOTS)
def test_the_schemas_of_an_openapi_document_equal_the_servers(
    get: Callable[..., Any], root: str
) -> None:
    expected = get(f"/openapi/v3/{root}")["components"]["schemas"]

    actual = content(OPEN_API.find(f"/openapi/v3/{root}"))["components"]["schemas"]

    assert set(actual) == set(expected) | ERROR_SCHEMAS


def without_descriptions(schema: Any, *, named: bool = False) -> Any:
    """A schema without descriptions. ``named``: the schema is a map of schemas."""
    if isinstance(schema, dict):
        return {
            key: without_descriptions(value, named=key == "properties")
            for key, value in schema.items()
            if named or key != "description"
        }
    return schema


def test_the_definitions_of_the_v2_document_equal_the_servers(
    get: Callable[..., Any],
) -> None:
    expected = get("/openapi/v2")["definitions"]

    actual = content(Swagger(OPEN_API).find(JSON))["definitions"]

    assert set(expected) >= set(actual)
    for name, schema in actual.items():
        if name in SHARED_SCHEMAS:
            schema[GVK], expected[name][GVK] = None, None
        assert schema == without_descriptions(expected[name]), name


def documents_with_descriptions() -> OpenApi:
    """The documents with the descriptions of the installed package."""
    found = OpenApi(SCHEMAS.written, find_descriptions=installed_descriptions)
    found.serve(BUILTIN, {})
    return found


# The package lacks these descriptions, as does the published OpenAPI document of its source.
NOT_IN_THE_PACKAGE = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
}


def texts(schema: Any) -> Any:
    """The descriptions of a schema and its fields, without those of enum values."""
    fields = schema.get("properties", {})
    descriptions = {key: fields[key].get("description", "") for key in fields}
    descriptions[""] = schema.get("description", "")
    return {
        key: text.partition("Possible enum values:")[0].strip()
        for key, text in descriptions.items()
    }


def test_with_the_package_descriptions_of_types_equal_the_servers(
    get: Callable[..., Any],
) -> None:
    expected = get("/openapi/v2")["definitions"]

    actual = content(Swagger(documents_with_descriptions()).find(JSON))["definitions"]

    for name in actual.keys() - NOT_IN_THE_PACKAGE:
        assert texts(actual[name]) == texts(expected[name]), name


@pytest.mark.parametrize("root", ROOTS)
def test_with_the_package_descriptions_in_v3_documents_equal_the_servers(
    get: Callable[..., Any], root: str
) -> None:
    expected = get(f"/openapi/v3/{root}")["components"]["schemas"]

    actual = content(documents_with_descriptions().find(f"/openapi/v3/{root}"))["components"][
        "schemas"
    ]

    for name in expected.keys() - NOT_IN_THE_PACKAGE:
        assert texts(actual[name]) == texts(expected[name]), name


def of_custom(document: Mapping[str, Any], part: str) -> dict[str, Any]:
    """The entries of a document for the custom group."""
    names = ("documented.example.com", "com.example.documented")
    return {
        name: each for name, each in document[part].items() if any(group in name for group in names)
    }


def without_gated(operations: Mapping[str, Any]) -> Any:
    """The operations of a path, without descriptions and gated parameters."""
    kept = without_descriptions(operations)
    for each in (kept, *(operation for name, operation in kept.items() if name != "parameters")):
        if "parameters" in each:
            own = (one for one in each["parameters"] if one["name"] != "shardSelector")
            each["parameters"] = [without_descriptions(one) for one in own]
    return kept


async def test_the_documents_of_a_group_of_custom_resources_equal_the_servers(
    get: Callable[..., Any],
) -> None:
    expected, expected_v2 = get(f"/openapi/v3/{CUSTOM_ROOT}"), get("/openapi/v2")
    api = EmbeddedServer()
    await api.asked("POST", DEFINITIONS, DOCUMENTED)

    actual = await api.asked("GET", f"/openapi/v3/{CUSTOM_ROOT}")
    actual_v2 = await api.asked("GET", "/openapi/v2")

    assert actual["info"] == expected["info"]
    assert without_gates(actual["paths"]) == without_gates(expected["paths"])
    assert set(actual["components"]["schemas"]) == set(expected["components"]["schemas"])
    assert without_descriptions(
        of_custom(actual["components"], "schemas"), named=True
    ) == without_descriptions(of_custom(expected["components"], "schemas"), named=True)
    assert without_descriptions(
        of_custom(actual_v2, "definitions"), named=True
    ) == without_descriptions(of_custom(expected_v2, "definitions"), named=True)
    assert set(of_custom(actual_v2, "paths")) == set(of_custom(expected_v2, "paths"))


def without_gates(paths: Mapping[str, Any]) -> Any:
    """All paths, without descriptions and gated parameters."""
    return {path: without_gated(operations) for path, operations in paths.items()}


def test_the_v2_document_has_the_servers_patch_operations(
    get: Callable[..., Any],
) -> None:
    expected = get("/openapi/v2")
    actual = content(Swagger(OPEN_API).find(JSON))

    assert patches(actual) == {
        path: patch for path, patch in patches(expected).items() if path in actual["paths"]
    }


def patches(document: Mapping[str, Any]) -> dict[str, Any]:
    """The patch operations by path."""
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
