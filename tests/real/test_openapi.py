"""The facts from which the kinds are generated are what the server says."""

import pytest

from steersman.testing import ControlPlane
from tests.unit.kinds.schemas import OPENAPI, facts
from tools.openapi import facts_from, version_of


def test_the_facts_are_what_the_server_says(control_plane: ControlPlane) -> None:
    with control_plane.caller() as server:
        if OPENAPI.name != f"kubernetes-{version_of(server)}":
            pytest.skip("the facts are those of another version")
        found = facts_from(server)

    assert found == facts(), "run `make generate`"
