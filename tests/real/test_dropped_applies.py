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

# Longer than a second, and than a busy machine needs to send two requests within one second.
DEADLINE_SECONDS = 30.0
POLL_SECONDS = 0.02

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"widgets.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets"},
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


class WidgetWriter:
    """Writes one object, each time after the watch cache has received the last write.

    The real server compares a write with the object in that cache. Where the cache is behind, it
    compares with etcd, which has the unknown fields: then an equal apply is no write.
    """

    def __init__(self, api: HttpCaller, namespace: str) -> None:
        self._api = api
        self._namespace = namespace

    def apply(self, *, version: str = "v1", subresource: str = "", **fields: Any) -> Any:
        """The metadata after an apply of these fields."""
        body = {"apiVersion": f"{GROUP}/{version}", "kind": "Widget", **fields}
        body["metadata"] = {"name": "one"}
        return self._send(f"{self._path(version)}{subresource}?fieldManager=me", body, APPLY)

    def merge(self, change: Any, *, subresource: str = "") -> Any:
        """The metadata after a merge patch."""
        return self._send(f"{self._path('v1')}{subresource}", change, MERGE)

    def _path(self, version: str) -> str:
        return f"/apis/{GROUP}/{version}/namespaces/{self._namespace}/widgets/one"

    def _send(self, path: str, body: Any, content_type: str) -> Any:
        response = self._api.call("PATCH", path, body, sends=content_type)
        assert response.status in (200, 201), response.body
        metadata = response.json()["metadata"]
        newest = f"{self._path('v1')}?resourceVersion={metadata['resourceVersion']}"
        assert self._api.call("GET", newest).status == 200
        return metadata


@pytest.fixture
def writer(control_plane: ControlPlane, namespace: str) -> Iterator[WidgetWriter]:
    """A writer of an object of a kind with a stored and another version."""
    with control_plane.caller() as api:
        api.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        paths = [f"/apis/{GROUP}/{version}/widgets" for version in ("v1", "v1beta1")]
        wait_until = SystemClock().monotonic() + DEADLINE_SECONDS
        while not all(api.call("GET", path).status == 200 for path in paths):
            assert SystemClock().monotonic() < wait_until
            threading.Event().wait(POLL_SECONDS)
        yield WidgetWriter(api, namespace)


def version_of(metadata: Any) -> str:
    return str(metadata["resourceVersion"])


def test_an_equal_apply_of_unknown_fields_is_a_write_each_time(writer: WidgetWriter) -> None:
    writer.apply(spec={})

    responses = [writer.apply(subresource="/status", status={"unknown": 1}) for _ in range(3)]

    assert len({version_of(each) for each in responses}) == 3
    assert {each["generation"] for each in responses} == {1}


@pytest.mark.parametrize("subresource", ["", "/status"])
def test_the_first_write_that_changes_nothing_removes_unknown_fields(
    writer: WidgetWriter, subresource: str
) -> None:
    unknown = writer.apply(spec={"unknown": 1})

    first, second = (
        writer.merge({}, subresource=subresource),
        writer.merge({}, subresource=subresource),
    )

    assert version_of(unknown) != version_of(first) == version_of(second)
    assert unknown["generation"] == first["generation"]
    assert unknown["managedFields"] == first["managedFields"]


def test_an_apply_in_a_version_that_is_not_stored_is_a_write_once_a_second(
    writer: WidgetWriter,
) -> None:
    """Conversion prunes the stored object, so only the time in managedFields differs."""
    writer.apply(version="v1beta1", spec={})
    clock = SystemClock()
    wait_until = clock.monotonic() + DEADLINE_SECONDS
    last = writer.apply(version="v1beta1", subresource="/status", status={"unknown": 1})
    written: set[bool] = set()

    while written != {False, True}:
        assert clock.monotonic() < wait_until
        metadata = writer.apply(version="v1beta1", subresource="/status", status={"unknown": 1})
        is_later = time_of(metadata) != time_of(last)
        assert (version_of(metadata) != version_of(last)) is is_later
        written.add(is_later)
        last = metadata
        threading.Event().wait(POLL_SECONDS)


def time_of(metadata: Any) -> str:
    [entry] = [each for each in metadata["managedFields"] if each.get("subresource") == "status"]
    return str(entry["time"])
