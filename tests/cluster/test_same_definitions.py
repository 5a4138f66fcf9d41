"""Servers in one process with the same definition share no state."""

from typing import Any

import pytest

from tests.clocks import ManualClock
from tests.embedded import MERGE_PATCH, EmbeddedServer

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BOATS = "/apis/sea.example.com/v1/namespaces/default/boats"
FIELDS = {
    "names": {"type": "object", "additionalProperties": {"type": "string"}},
    "sails": {"type": "integer", "maximum": 3},
}
SPEC = {
    "type": "object",
    "default": {"names": {"first": "anna"}},
    "properties": FIELDS,
    "x-kubernetes-validations": [{"rule": "!has(self.sails) || self.sails != 2"}],
}


def definition(*versions: str, **spec: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"spec": {**SPEC, **spec}}}
    return {
        "metadata": {"name": "boats.sea.example.com"},
        "spec": {
            "group": "sea.example.com",
            "scope": "Namespaced",
            "names": {"plural": "boats", "kind": "Boat"},
            "versions": [
                {
                    "name": each,
                    "served": True,
                    "storage": each == versions[0],
                    "schema": {"openAPIV3Schema": schema},
                }
                for each in versions
            ],
        },
    }


def boat(**spec: Any) -> dict[str, Any]:
    kind = {"apiVersion": "sea.example.com/v1", "kind": "Boat"}
    return {**kind, "metadata": {"name": "one"}, **({"spec": spec} if spec else {})}


@pytest.fixture
async def servers() -> list[EmbeddedServer]:
    """Two servers with the definition of Boats."""
    made = [EmbeddedServer(clock=ManualClock()) for _ in range(2)]
    for each in made:
        await each.asked("POST", CRDS, definition("v1"))
    return made


async def test_defaults_of_one_server_do_not_change_with_the_other(
    servers: list[EmbeddedServer],
) -> None:
    here, there = servers
    await here.asked("POST", BOATS, boat())
    patch = {"spec": {"names": {"first": None, "second": "berta"}}}
    changed = await here.asked("PATCH", f"{BOATS}/one", patch, sends=MERGE_PATCH)

    made = await there.asked("POST", BOATS, boat())

    assert changed["spec"] == {"names": {"second": "berta"}}
    assert made["spec"] == {"names": {"first": "anna"}}


async def test_each_server_validates_with_its_own_definition(servers: list[EmbeddedServer]) -> None:
    here, there = servers
    new = definition("v1", **{"x-kubernetes-validations": []})
    current = await here.asked("GET", f"{CRDS}/boats.sea.example.com")
    new["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"]
    await here.asked("PUT", f"{CRDS}/boats.sea.example.com", new)

    assert (await here.ask("POST", BOATS, boat(sails=2))).status == 201
    assert (await there.ask("POST", BOATS, boat(sails=2))).status == 422
    for each in servers:
        assert (await each.ask("POST", BOATS, boat(sails=4))).status == 422


async def test_a_schema_error_is_reported_for_each_version() -> None:
    api = EmbeddedServer(clock=ManualClock())
    one, other = (definition("v1", pattern="(", title=each) for each in ("one", "other"))
    last = {**other["spec"]["versions"][0], "name": "v2", "storage": False}
    one["spec"]["versions"] += [
        {**one["spec"]["versions"][0], "name": "v0", "storage": False},
        last,
    ]

    for _ in range(2):
        refused = await api.ask("POST", CRDS, one)
        fields = [each["field"] for each in refused.json["details"]["causes"]]

        assert refused.status == 422
        assert fields == [
            f"spec.versions[{number}].schema.openAPIV3Schema.properties[spec].pattern"
            for number in range(3)
        ]


async def test_unknown_formats_are_reported_each_time() -> None:
    for _ in range(2):
        api = EmbeddedServer(clock=ManualClock())
        strange = {"type": "string", "format": "seemannsgarn"}
        response = await api.ask(
            "POST", CRDS, definition("v1", properties={**FIELDS, "tale": strange})
        )

        assert response.status == 201
        assert any("seemannsgarn" in each for each in response.warnings)
