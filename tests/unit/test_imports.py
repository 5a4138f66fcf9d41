"""The front door is lazy: a program pays for what it asks for."""

import json
import subprocess
import sys
from pathlib import Path

# Written out for a fresh interpreter, because in this one the tests have loaded everything.
LOADED = """
import json, sys
print(json.dumps({name: getattr(module, "__file__", None) for name, module in sys.modules.items()}))
"""


def loaded_modules(statements: str = "import steersman") -> dict[str, str | None]:
    """The modules that ``statements`` leave in memory, and their files."""
    program = [sys.executable, "-c", f"{statements}\n{LOADED}"]
    finished = subprocess.run(program, check=True, capture_output=True, text=True)
    loaded: dict[str, str | None] = json.loads(finished.stdout)
    return loaded


def says_generated(file: str) -> bool:
    with Path(file).open(encoding="utf-8") as lines:
        return "generated" in lines.readline().lower()


def test_importing_steersman_does_not_load_what_talks_to_servers() -> None:
    assert not {"asyncio", "httptools", "msgspec", "ssl", "typing"} & loaded_modules().keys()


def test_importing_steersman_does_not_load_a_generated_kind() -> None:
    ours = {
        name: file
        for name, file in loaded_modules().items()
        if name.startswith("steersman.") and file is not None
    }

    assert [name for name, file in ours.items() if says_generated(file)] == []


def test_a_manager_loads_nothing_for_which_only_some_operators_have_a_use() -> None:
    loaded = loaded_modules("import steersman; steersman.Manager")

    seldom_needed = {
        "prometheus_client",
        "yaml",
        "tempfile",
        "steersman.units.schedule",
        "steersman.wire.server.listener",
    }
    assert seldom_needed & loaded.keys() == set()


def test_a_kubeconfig_that_is_json_is_read_without_yaml() -> None:
    loaded = loaded_modules(
        "from steersman.client import Kubeconfig\nKubeconfig.parse(b'{}', source='a test')"
    )

    assert "yaml" not in loaded
