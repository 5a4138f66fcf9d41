"""The facts from which the kinds are generated equal the server's documents."""

import pytest

from steersman.openapi import VERSION, load_all_facts
from steersman_cluster.testing import RealControlPlane
from tools.openapi import facts_from, version_of


def test_the_recorded_facts_match_the_server(control_plane: RealControlPlane) -> None:
    with control_plane.caller() as server:
        version = version_of(server)
        if version != VERSION:
            pytest.skip(f"the kinds are those of {VERSION}, and this server is {version}")
        found = facts_from(server)

    assert found == load_all_facts(), "run `make generate`"
