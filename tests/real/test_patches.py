"""The embedded server's patches give the same result or error as the real server's."""

from collections.abc import Iterator
from typing import Any

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.testing import RealControlPlane
from steersman_cluster.testing.calls import HttpCaller
from steersman_cluster.testing.namespaces import fresh_namespace
from tests.unit.apiserver.apply.patches.cases import CASES, OBJECTS, Case, patched


class Stored:
    """The objects of the cases, on the server."""

    def __init__(self, api: HttpCaller, namespace: str) -> None:
        self._api = api
        self._namespace = namespace
        self.objects = {
            target: api.call("POST", self._collection(target), obj).json()
            for target, obj in OBJECTS.items()
        }

    def patch(self, case: Case) -> Any:
        """The result of a dry-run patch."""
        path = f"{self._collection(case.target)}/it?dryRun=All&{case.query}"
        return self._api.call("PATCH", path, case.patch, sends=case.type).json()

    def put(self, target: str, obj: dict[str, Any]) -> Any:
        """The result of a dry-run update."""
        return self._api.call("PUT", f"{self._collection(target)}/it?dryRun=All", obj).json()

    def _collection(self, target: str) -> str:
        root, resource = target.split()
        return f"/{root}/namespaces/{self._namespace}/{resource}"


@pytest.fixture(scope="module")
def stored(control_plane: RealControlPlane) -> Iterator[Stored]:
    """The objects for all cases, which a dry run does not change."""
    with fresh_namespace(control_plane) as namespace, control_plane.caller() as api:
        yield Stored(api, namespace)


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
