"""Custom resources at the edges of their schemas, as the real server treats them.

``tests/recorded/differential/corpus/edges.py`` sends the same requests to both servers.
"""

from typing import Any

import pytest

from tests.embedded import APPLY, MERGE_PATCH, EmbeddedServer

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "/apis/example.com/v1"
THINGS = f"{GROUP}/namespaces/default/things"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
NOT_FOUND = (404, "text/plain; charset=utf-8", b"404 page not found\n")


@pytest.fixture
def api() -> EmbeddedServer:
    """A new server for each test, because each test has another definition."""
    return EmbeddedServer()


def definition(spec: Any = None, *, scope: str = "Namespaced", **version: Any) -> Any:
    schema = {
        "type": "object",
        "properties": {
            "spec": spec or {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            **version.pop("properties", {}),
        },
    }
    return {
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": scope,
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    **version,
                }
            ],
        },
    }


def thing(name: str = "one", **parts: Any) -> Any:
    about = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": name}}
    return {**about, **parts}


async def applied(api: EmbeddedServer, spec: Any, *, name: str = "one") -> Any:
    path = f"{THINGS}/{name}?fieldManager=me"
    return await api.ask("PATCH", path, thing(name, spec=spec), sends=APPLY)


# The default of a status


def with_status_default() -> Any:
    status = {
        "type": "object",
        "default": {"observedGeneration": -1},
        "properties": {
            "observedGeneration": {"type": "integer"},
            "phase": {"type": "string", "default": "New"},
        },
    }
    return definition(properties={"status": status}, subresources={"status": {}})


async def test_a_new_custom_resource_has_the_default_status_in_every_response(
    api: EmbeddedServer,
) -> None:
    await api.asked("POST", DEFINITIONS, with_status_default())
    filled = {"observedGeneration": -1, "phase": "New"}

    dry = await api.asked("POST", f"{THINGS}?dryRun=All", thing(status={"phase": "Sent"}))
    made = await api.asked("POST", THINGS, thing(status={"phase": "Sent"}))
    listed = await api.asked("GET", THINGS)
    async with api.watch(f"{THINGS}?resourceVersion=0") as events:
        [event] = await events.first(1)

    assert dry["status"] == made["status"] == filled
    assert [each["status"] for each in listed["items"]] == [filled]
    assert event["object"] == made
    assert await api.asked("GET", f"{THINGS}/one") == made
    assert "managedFields" not in made["metadata"]


async def test_the_first_write_keeps_the_default_of_the_status_even_if_it_changes_nothing_else(
    api: EmbeddedServer,
) -> None:
    await api.asked("POST", DEFINITIONS, with_status_default())
    made = await api.asked("POST", THINGS, thing(spec={"a": 1}))

    first = await api.asked("PUT", f"{THINGS}/one", made)
    second = await api.asked("PUT", f"{THINGS}/one", first)

    versions = [each["metadata"].pop("resourceVersion") for each in (made, first, second)]
    assert versions[0] != versions[1] == versions[2]
    assert made == first == second


async def test_the_first_apply_keeps_the_default_of_the_status_even_if_it_changes_nothing_else(
    api: EmbeddedServer,
) -> None:
    await api.asked("POST", DEFINITIONS, with_status_default())

    made, first, second = [(await applied(api, {"a": 1})).json for _ in range(3)]

    versions = [each["metadata"]["resourceVersion"] for each in (made, first, second)]
    assert versions[0] != versions[1] == versions[2]


async def test_a_status_of_another_version_is_kept_with_the_first_write_too(
    api: EmbeddedServer,
) -> None:
    crd = with_status_default()
    [stored] = crd["spec"]["versions"]
    schema = stored["schema"]["openAPIV3Schema"]
    more = {**schema, "properties": {**schema["properties"], "more": {"type": "string"}}}
    older = {**stored, "name": "v1beta1", "storage": False, "schema": {"openAPIV3Schema": more}}
    crd["spec"]["versions"].append(older)
    await api.asked("POST", DEFINITIONS, crd)
    path = THINGS.replace("/v1/", "/v1beta1/")

    made = await api.asked("POST", path, {**thing(), "apiVersion": "example.com/v1beta1"})
    first = await api.asked("PUT", f"{path}/one", made)
    second = await api.asked("PUT", f"{path}/one", first)

    versions = [each["metadata"].pop("resourceVersion") for each in (made, first, second)]
    assert versions[0] != versions[1] == versions[2]
    assert made == first == second
    assert made["status"] == {"observedGeneration": -1, "phase": "New"}


async def test_an_apply_that_changes_nothing_fills_in_no_default_of_its_version(
    api: EmbeddedServer,
) -> None:
    crd = definition({"type": "object", "properties": {"a": {"type": "integer"}}})
    [stored] = crd["spec"]["versions"]
    own = {"type": "object", "properties": {"old": {"type": "string", "default": "x"}}}
    schema = {"type": "object", "properties": {"spec": own}}
    older = {**stored, "name": "v1beta1", "storage": False, "schema": {"openAPIV3Schema": schema}}
    crd["spec"]["versions"].append(older)
    await api.asked("POST", DEFINITIONS, crd)
    path = f"{THINGS.replace('/v1/', '/v1beta1/')}/one?fieldManager=me"
    body = {**thing(spec={}), "apiVersion": "example.com/v1beta1"}

    made, again = [await api.asked("PATCH", path, body, sends=APPLY) for _ in range(2)]

    assert made == again
    assert made["metadata"]["generation"] == 1


async def test_a_written_status_replaces_the_default(api: EmbeddedServer) -> None:
    await api.asked("POST", DEFINITIONS, with_status_default())
    await api.asked("POST", THINGS, thing())

    written = await api.asked(
        "PATCH", f"{THINGS}/one/status", {"status": {"phase": "Old"}}, sends=MERGE_PATCH
    )
    emptied = await api.asked("PATCH", f"{THINGS}/one/status", {"status": None}, sends=MERGE_PATCH)

    assert written["status"] == {"observedGeneration": -1, "phase": "Old"}
    assert emptied["status"] == {"observedGeneration": -1, "phase": "New"}


# Fields of an apply


SPEC = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "text": {"type": "string", "default": "x"},
        "perhaps": {"type": "integer", "nullable": True},
        "bare": {"type": "object"},
    },
}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"count": None},
            'spec.count: Invalid value: "null": spec.count in body must be of type integer: "null"',
        ),
        (
            {"bare": None},
            'spec.bare: Invalid value: "null": spec.bare in body must be of type object: "null"',
        ),
    ],
)
async def test_a_null_in_an_apply_reaches_validation(
    api: EmbeddedServer, spec: Any, message: str
) -> None:
    await api.asked("POST", DEFINITIONS, definition(SPEC))

    response = await applied(api, spec)

    assert response.status == 422
    assert response.json["message"] == f'Thing.example.com "one" is invalid: {message}'


async def test_a_null_in_an_apply_becomes_the_default_or_stays_where_it_may(
    api: EmbeddedServer,
) -> None:
    await api.asked("POST", DEFINITIONS, definition(SPEC))

    made = await applied(api, {"text": None, "perhaps": None})

    assert made.status == 201
    assert made.json["spec"] == {"text": "x", "perhaps": None}


async def test_each_apply_of_a_pruned_field_increases_the_generation(
    api: EmbeddedServer,
) -> None:
    await api.asked("POST", DEFINITIONS, definition(SPEC))
    made = (await applied(api, {"count": 1})).json

    first, second = [(await applied(api, {"count": 1, "bare": {"lost": 1}})).json for _ in range(2)]

    assert made["metadata"]["generation"] == 1
    assert [each["metadata"]["generation"] for each in (first, second)] == [2, 3]
    assert first["spec"] == second["spec"] == {"count": 1, "text": "x", "bare": {}}
    [owner] = second["metadata"]["managedFields"]
    assert owner["fieldsV1"]["f:spec"] == {"f:bare": {"f:lost": {}}, "f:count": {}}
    assert await api.asked("GET", f"{THINGS}/one") == second


async def test_the_first_write_after_an_apply_of_a_pruned_field_is_a_change(
    api: EmbeddedServer,
) -> None:
    await api.asked("POST", DEFINITIONS, definition(SPEC))
    lost = (await applied(api, {"bare": {"lost": 1}})).json

    first, second = [
        await api.asked("PATCH", f"{THINGS}/one", {}, sends=MERGE_PATCH) for _ in range(2)
    ]

    versions = [each["metadata"].pop("resourceVersion") for each in (lost, first, second)]
    assert versions[0] != versions[1] == versions[2]
    assert lost == first == second


async def test_a_write_of_a_pruned_status_is_a_change_each_time_or_once_a_second_in_another_version(
    api: EmbeddedServer,
) -> None:
    crd = definition(properties={"status": {"type": "object"}}, subresources={"status": {}})
    [stored] = crd["spec"]["versions"]
    crd["spec"]["versions"].append({**stored, "name": "v1beta1", "storage": False})
    await api.asked("POST", DEFINITIONS, crd)
    await api.asked("POST", THINGS, thing())

    async def version_after_apply(served: str) -> str:
        path = f"{THINGS.replace('/v1/', f'/{served}/')}/one/status?fieldManager=me"
        body = {**thing(status={"lost": 1}), "apiVersion": f"example.com/{served}"}
        response = await api.asked("PATCH", path, body, sends=APPLY)
        return str(response["metadata"]["resourceVersion"])

    as_stored = [await version_after_apply("v1") for _ in range(3)]
    as_other = [await version_after_apply("v1beta1") for _ in range(3)]
    api.clock.advance(1.0)
    a_second_later = await version_after_apply("v1beta1")

    assert len(set(as_stored)) == 3
    assert len(set(as_other)) == 1
    assert a_second_later not in as_other


# Booleans and numbers


async def test_a_boolean_instead_of_an_equal_number_is_a_change(api: EmbeddedServer) -> None:
    await api.asked("POST", DEFINITIONS, definition())
    made = await api.asked("POST", f"{THINGS}?fieldManager=me", thing(spec={"free": 0}))
    api.clock.advance(60.0)

    changed = await api.asked(
        "PATCH",
        f"{THINGS}/one?fieldManager=me",
        {"spec": {"free": False}},
        sends=MERGE_PATCH,
    )

    assert (made["metadata"]["generation"], changed["metadata"]["generation"]) == (1, 2)
    [before], [after] = (each["metadata"]["managedFields"] for each in (made, changed))
    assert before["time"] != after["time"]


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        (0, 0, 200),
        (0, False, 422),
        (True, True, 200),
        (True, 1, 422),
        ([0], [0], 200),
        ([0], [False], 422),
        (1, 1.0, 422),
        ([0], [0.0], 422),
        (
            {"a": 0},
            {"a": 0},
            422,
        ),  # without a schema the server cannot see that the value is unchanged
    ],
)
async def test_ratcheting_accepts_only_the_same_value_of_the_same_type(
    api: EmbeddedServer, before: Any, after: Any, status: int
) -> None:
    await api.asked("POST", DEFINITIONS, definition())
    await api.asked("POST", THINGS, thing(spec={"x": before}))
    stricter = {"x-kubernetes-preserve-unknown-fields": True, "enum": ["fine"]}
    found = await api.asked("GET", f"{DEFINITIONS}/things.example.com")
    schema = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["properties"] = {"x": stricter}
    await api.asked("PUT", f"{DEFINITIONS}/things.example.com", found)

    response = await api.ask("PATCH", f"{THINGS}/one", {"spec": {"x": after}}, sends=MERGE_PATCH)

    assert response.status == status, response.body


async def test_a_default_that_changes_from_a_number_to_a_boolean_is_published(
    api: EmbeddedServer,
) -> None:
    crd = definition({"type": "object", "properties": {}})
    free = {"x-kubernetes-preserve-unknown-fields": True}
    properties = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    properties["spec"]["properties"] = {"x": {**free, "default": 1}}
    await api.asked("POST", DEFINITIONS, crd)
    document = f"/openapi/v3{GROUP}"
    await api.asked("GET", document)

    properties["spec"]["properties"] = {"x": {**free, "default": True}}
    found = await api.asked("GET", f"{DEFINITIONS}/things.example.com")
    crd["metadata"] = found["metadata"]
    changed = await api.asked("PUT", f"{DEFINITIONS}/things.example.com", crd)
    published = await api.asked("GET", document)

    assert changed["metadata"]["generation"] == 2
    spec = published["components"]["schemas"]["com.example.v1.Thing"]["properties"]["spec"]
    assert spec["properties"]["x"]["default"] is True


async def test_an_integer_sent_with_a_decimal_point_increases_the_generation(
    api: EmbeddedServer,
) -> None:
    await api.asked("POST", DEFINITIONS, definition())
    await api.asked("POST", THINGS, thing(spec={"a": 1.0, "list": [1]}))

    generations = [
        (await api.asked("PATCH", f"{THINGS}/one", {"spec": spec}, sends=MERGE_PATCH))["metadata"][
            "generation"
        ]
        for spec in ({"a": 1}, {"a": 1.0}, {"list": [1.0]}, {"list": [1]})
    ]
    pointed = (await applied(api, {"a": 1.0})).json

    assert generations == [1, 2, 3, 3]
    assert pointed["metadata"]["generation"] == 3
    assert pointed["spec"] == {"a": 1, "list": [1]}


@pytest.mark.parametrize(
    "spec",
    [
        b'{"a":1.0,"tag":"shop:1.0.0"}',
        b'{"a":1e0}',
        b'{"a":10E-1}',
        b'{"a": 0.1e+1 }',
        b'{"a":\n1.0\n}',
        b'{"list":[-2.0,3]}',
        b'{"list":[-2,3.0]}',
    ],
)
async def test_a_field_selector_finds_an_integer_in_any_notation(
    api: EmbeddedServer, spec: bytes
) -> None:
    await api.asked("POST", DEFINITIONS, definition())
    parts = {"a": 1, "list": [-2, 3], "tag": "shop:1.0.0"}
    await api.asked("POST", THINGS, thing(spec=parts))

    body = b'{"spec":' + spec + b"}"
    made = await api.ask("PATCH", f"{THINGS}/one", body, sends=MERGE_PATCH)

    assert made.json["metadata"]["generation"] == 2
    assert made.json["spec"] == parts


# Columns


async def test_an_empty_index_in_the_path_of_a_column_is_the_first_element(
    api: EmbeddedServer,
) -> None:
    columns = [
        {"name": "First", "type": "string", "jsonPath": ".spec.list[]"},
        {"name": "Field", "type": "integer", "jsonPath": ".spec.parts[].size"},
        {"name": "None", "type": "string", "jsonPath": ".spec.empty[]"},
        {"name": "Last", "type": "string", "jsonPath": ".metadata.name"},
    ]
    await api.asked("POST", DEFINITIONS, definition(additionalPrinterColumns=columns))
    spec = {"list": ["a", "b"], "parts": [{"size": 3}], "empty": []}
    await api.asked("POST", THINGS, thing(spec=spec))

    table = await api.asked("GET", THINGS, accept=TABLE)

    assert [each["name"] for each in table["columnDefinitions"]] == [
        "Name",
        "First",
        "Field",
        "None",
        "Last",
    ]
    assert [each["cells"] for each in table["rows"]] == [["one", "a", 3, None, "one"]]


# Paths


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"{GROUP}/nothings"),
        ("GET", f"{GROUP}/namespaces/default/nothings/one"),
        ("POST", f"{GROUP}/namespaces/default/nothings"),
        ("GET", f"{GROUP}/watch/nothings"),
        ("GET", "/apis/example.com/v2/things"),
        ("GET", "/apis/example.com/v2"),
        ("GET", f"{GROUP}/things/one"),
        ("POST", f"{GROUP}/things"),
        ("PUT", f"{GROUP}/things/one"),
        ("DELETE", f"{GROUP}/things"),
    ],
)
async def test_an_unserved_path_of_a_custom_group_is_a_plain_404(
    api: EmbeddedServer, method: str, path: str
) -> None:
    await api.asked("POST", DEFINITIONS, definition())

    response = await api.ask(method, path, thing() if method in ("POST", "PUT") else None)

    assert (response.status, response.header("content-type"), response.body) == NOT_FOUND


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_cluster_scoped_resource_in_a_namespace_path_is_a_plain_404(
    api: EmbeddedServer, method: str
) -> None:
    await api.asked("POST", DEFINITIONS, definition(scope="Cluster"))

    response = await api.ask(method, THINGS, thing() if method == "POST" else None)

    assert (response.status, response.header("content-type"), response.body) == NOT_FOUND


async def test_an_unserved_path_of_a_built_in_group_is_a_status_404(
    api: EmbeddedServer,
) -> None:
    response = await api.ask("GET", "/apis/apps/v1/nothings")

    assert response.status == 404
    assert response.json["message"] == "the server could not find the requested resource"


async def test_a_custom_resource_is_created_by_the_name_in_its_body(api: EmbeddedServer) -> None:
    await api.asked("POST", DEFINITIONS, definition())

    made = await api.asked("POST", f"{THINGS}/other", thing("one"))

    assert made["metadata"]["name"] == "one"


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_a_custom_resource_is_written_by_name(api: EmbeddedServer, method: str) -> None:
    await api.asked("POST", DEFINITIONS, definition())

    response = await api.ask(method, THINGS, thing(), sends=MERGE_PATCH)

    assert (response.status, response.json["message"]) == (400, "name must be provided")


async def test_a_deprecated_version_has_a_warning_even_with_status_406(
    api: EmbeddedServer,
) -> None:
    crd = definition(deprecated=True, deprecationWarning="things are out of fashion")
    await api.asked("POST", DEFINITIONS, crd)

    response = await api.ask("GET", THINGS, accept="image/png")

    assert (response.status, response.warnings) == (406, ["things are out of fashion"])


async def test_a_custom_resource_supports_head_requests(api: EmbeddedServer) -> None:
    await api.asked("POST", DEFINITIONS, definition())
    await api.asked("POST", THINGS, thing())

    responses = [await api.ask("HEAD", path) for path in (THINGS, f"{THINGS}/one", f"{THINGS}/two")]

    assert [(each.status, each.body) for each in responses] == [(200, b""), (200, b""), (404, b"")]
