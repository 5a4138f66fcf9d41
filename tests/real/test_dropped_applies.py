"""Whether an apply of unknown fields writes, on a real and on the embedded server.

A custom resource has fields that are pruned where its schema declares no properties. The real
server prunes what it decodes, and an apply is merged after that. So it stores the unknown fields,
and shows the object without them.
"""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from steersman.clock import SystemClock
from steersman_cluster.testing import ControlPlane
from steersman_cluster.testing.calls import HttpCaller

GROUP = "dropped.example.com"
APPLY, MERGE = "application/apply-patch+yaml", "application/merge-patch+json"

# For a second to pass, and for a server on a busy machine to be asked twice within one.
DEADLINE_SECONDS = 30.0
POLL_SECONDS = 0.02

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"drops.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"kind": "Drop", "plural": "drops"},
        "versions": [
            {
                "name": version,
                "served": True,
                "storage": version == "v1",
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": {"type": "object"}, "status": {"type": "object"}},
                    }
                },
                "subresources": {"status": {}},
            }
            for version in ("v1", "v1beta1")
        ],
    },
}


class Drop:
    """One object, of which each request begins when the watch cache has the write before it.

    The real server compares a write with the object in that cache. Where the cache is behind, it
    compares with etcd, which has the unknown fields: then an equal apply is no write.
    """

    def __init__(self, api: HttpCaller, namespace: str) -> None:
        self._api = api
        self._namespace = namespace

    def apply(self, *, version: str = "v1", part: str = "", **fields: Any) -> Any:
        """The metadata after an apply of these fields."""
        body = {"apiVersion": f"{GROUP}/{version}", "kind": "Drop", **fields}
        body["metadata"] = {"name": "one"}
        return self._ask(f"{self._path(version)}{part}?fieldManager=me", body, APPLY)

    def merge(self, change: Any, *, part: str = "") -> Any:
        """The metadata after a merge patch."""
        return self._ask(f"{self._path('v1')}{part}", change, MERGE)

    def _path(self, version: str) -> str:
        return f"/apis/{GROUP}/{version}/namespaces/{self._namespace}/drops/one"

    def _ask(self, path: str, body: Any, language: str) -> Any:
        response = self._api.call("PATCH", path, body, sends=language)
        assert response.status in (200, 201), response.body
        metadata = response.json()["metadata"]
        newest = f"{self._path('v1')}?resourceVersion={metadata['resourceVersion']}"
        assert self._api.call("GET", newest).status == 200
        return metadata


@pytest.fixture
def drop(control_plane: ControlPlane, namespace: str) -> Iterator[Drop]:
    """An object in a version that is stored as it is, and served in another one, too."""
    with control_plane.caller() as api:
        api.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        paths = [f"/apis/{GROUP}/{version}/drops" for version in ("v1", "v1beta1")]
        wait_until = SystemClock().monotonic() + DEADLINE_SECONDS
        while not all(api.call("GET", path).status == 200 for path in paths):
            assert SystemClock().monotonic() < wait_until
            threading.Event().wait(POLL_SECONDS)
        yield Drop(api, namespace)


def version_of(metadata: Any) -> str:
    return str(metadata["resourceVersion"])


def test_an_equal_apply_of_unknown_fields_is_a_write_each_time(drop: Drop) -> None:
    drop.apply(spec={})

    responses = [drop.apply(part="/status", status={"lost": 1}) for _ in range(3)]

    assert len({version_of(each) for each in responses}) == 3
    assert {each["generation"] for each in responses} == {1}


@pytest.mark.parametrize("part", ["", "/status"])
def test_the_first_write_that_changes_nothing_removes_unknown_fields(drop: Drop, part: str) -> None:
    lost = drop.apply(spec={"lost": 1})

    first, second = drop.merge({}, part=part), drop.merge({}, part=part)

    assert version_of(lost) != version_of(first) == version_of(second)
    assert lost["generation"] == first["generation"]
    assert lost["managedFields"] == first["managedFields"]


def test_an_apply_in_a_version_that_is_not_stored_is_a_write_once_a_second(drop: Drop) -> None:
    """Conversion prunes what is stored. The time in managedFields is all that differs then."""
    drop.apply(version="v1beta1", spec={})
    clock = SystemClock()
    wait_until = clock.monotonic() + DEADLINE_SECONDS
    last = drop.apply(version="v1beta1", part="/status", status={"lost": 1})
    written: set[bool] = set()

    while written != {False, True}:
        assert clock.monotonic() < wait_until
        metadata = drop.apply(version="v1beta1", part="/status", status={"lost": 1})
        is_later = time_of(metadata) != time_of(last)
        assert (version_of(metadata) != version_of(last)) is is_later
        written.add(is_later)
        last = metadata
        threading.Event().wait(POLL_SECONDS)


def time_of(metadata: Any) -> str:
    [entry] = [each for each in metadata["managedFields"] if each.get("subresource") == "status"]
    return str(entry["time"])
