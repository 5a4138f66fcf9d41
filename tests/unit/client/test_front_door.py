"""An import of the client loads only the modules that are used."""

import subprocess
import sys

import pytest

import steersman.client
import steersman.client.access

LOADED = "import sys; import steersman.client; {more}; print(*sys.modules)"


def loaded_after(more: str) -> set[str]:
    """The modules that a new interpreter loads when it imports the client and runs ``more``."""
    program = [sys.executable, "-c", LOADED.format(more=more)]
    finished = subprocess.run(program, check=True, capture_output=True, text=True)
    return set(finished.stdout.split())


def test_importing_the_client_loads_neither_yaml_nor_plugins_nor_discovery() -> None:
    loaded = loaded_after("pass")

    assert "steersman.client.client" in loaded
    assert loaded.isdisjoint(
        {
            "yaml",
            "steersman.client.access.exec_plugin",
            "steersman.client.access.kubeconfig",
            "steersman.client.discovery",
            "steersman.kinds.core_v1",
        }
    )


def test_connecting_loads_no_server_modules() -> None:
    loaded = loaded_after("steersman.client.connect")

    assert "steersman.wire.transport.network" in loaded
    assert "steersman.wire.server.listener" not in loaded


def test_finding_the_cluster_from_inside_it_needs_no_yaml() -> None:
    loaded = loaded_after("steersman.client.find_config; steersman.client.connect")

    assert "steersman.client.access.config_lookup" in loaded
    assert "yaml" not in loaded


@pytest.mark.parametrize("door", [steersman.client, steersman.client.access])
def test_a_missing_name_raises_attribute_error(door: object) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        door.nothing  # type: ignore[attr-defined]  # noqa: B018
