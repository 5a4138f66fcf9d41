"""The manifests that the clients apply."""

from pathlib import Path
from typing import Any

# The definition of the custom kind that the third-party operators manage.
GREETINGS = Path(__file__).with_name("greetings.crd.yaml")


def greeting(name: str, /, **spec: Any) -> dict[str, Any]:
    """A Greeting."""
    return {
        "apiVersion": "foreign.steersman.dev/v1",
        "kind": "Greeting",
        "metadata": {"name": name},
        "spec": spec,
    }
