"""The objects that the clients create, as in a manifest."""

from pathlib import Path
from typing import Any

# The definition of the custom kind that is here for clients that we did not write.
GREETINGS = Path(__file__).with_name("greetings.crd.yaml")


def greeting(name: str, /, **spec: Any) -> dict[str, Any]:
    """Something nice to say to a client."""
    return {
        "apiVersion": "foreign.steersman.dev/v1",
        "kind": "Greeting",
        "metadata": {"name": name},
        "spec": spec,
    }
