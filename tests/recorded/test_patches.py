"""The embedded server's patches give the same result or error as the real server's."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from tests.recorded.module_recording import ModuleRecording, RecordedCaller
from tests.unit.apiserver.apply.patches.cases import CASES, OBJECTS, Case, patched


class Stored:
    """The objects of the cases, on the server."""

    def __init__(self, api: RecordedCaller, namespace: str, objects: Mapping[str, Any]) -> None:
        self._api = api
        self._namespace = namespace
        self.objects = objects

    def patch(self, case: Case) -> Any:
        """The result of a dry-run patch."""
        path = f"{collection(case.target, self._namespace)}/it?dryRun=All&{case.query}"
        return self._api.call("PATCH", path, case.patch, sends=case.type).json()

    def put(self, target: str, obj: dict[str, Any]) -> Any:
        """The result of a dry-run update."""
        return self._api.call(
            "PUT", f"{collection(target, self._namespace)}/it?dryRun=All", obj
        ).json()


def collection(target: str, namespace: str) -> str:
    root, resource = target.split()
    return f"/{root}/namespaces/{namespace}/{resource}"


def create_objects(api: RecordedCaller, namespace: str) -> dict[str, Any]:
    return {
        target: api.call("POST", collection(target, namespace), obj).json()
        for target, obj in OBJECTS.items()
    }


@pytest.fixture(scope="module")
def stored(real: ModuleRecording) -> Iterator[Stored]:
    """The objects for all cases, which a dry run does not change."""
    with real.namespace() as namespace, real.caller() as api:
        with real.fixture("stored") as first:
            objects = create_objects(first, namespace)
        yield Stored(api, namespace, objects)


def comparable(body: Any) -> Any:
    body["metadata"].pop("managedFields", None)
    return body


def embedded_result(case: Case, stored: Stored) -> Any:
    """The embedded server's error; or its result, defaulted by a dry run on the real server."""
    try:
        return stored.put(case.target, patched(case, stored.objects[case.target]))
    except StatusError as error:
        return error.status()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_patch_gives_the_same_result_as_on_the_real_server(case: Case, stored: Stored) -> None:
    expected = stored.patch(case)

    actual = embedded_result(case, stored)

    assert comparable(actual) == comparable(expected)
