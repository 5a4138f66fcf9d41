"""Patches give the same result, or the same error, as on the real server."""

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
        """What the server makes of the patch; nothing is written."""
        path = f"{self._collection(case.target)}/it?dryRun=All&{case.query}"
        return self._api.call("PATCH", path, case.patch, sends=case.type).json()

    def put(self, target: str, obj: dict[str, Any]) -> Any:
        """What the server makes of the object; nothing is written."""
        return self._api.call("PUT", f"{self._collection(target)}/it?dryRun=All", obj).json()

    def _collection(self, target: str) -> str:
        root, resource = target.split()
        return f"/{root}/namespaces/{self._namespace}/{resource}"


@pytest.fixture(scope="module")
def stored(control_plane: RealControlPlane) -> Iterator[Stored]:
    """They are there for all cases, because a dry run changes nothing."""
    with fresh_namespace(control_plane) as namespace, control_plane.caller() as api:
        yield Stored(api, namespace)


def comparable(body: Any) -> Any:
    body["metadata"].pop("managedFields", None)
    return body


def as_we_do_it(case: Case, stored: Stored) -> Any:
    """Our refusal; or our result, with what the server does to every object that is written."""
    try:
        return stored.put(case.target, patched(case, stored.objects[case.target]))
    except StatusError as refusal:
        return refusal.status()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_patch_does_what_the_server_does(case: Case, stored: Stored) -> None:
    theirs = stored.patch(case)

    ours = as_we_do_it(case, stored)

    assert comparable(ours) == comparable(theirs)
