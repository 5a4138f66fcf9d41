"""What the clients are given: objects as a manifest has them."""

from pathlib import Path
from typing import Any

# The definition of the custom kind that is here for clients that we did not write.
GREETINGS = Path(__file__).with_name("greetings.crd.yaml")


def greeting(name: str, /, **spec: Any) -> dict[str, Any]:
    """Something nice to say to somebody."""
    return {
        "apiVersion": "foreign.steersman.dev/v1",
        "kind": "Greeting",
        "metadata": {"name": name},
        "spec": spec,
    }


def config_map(name: str, **data: str) -> dict[str, Any]:
    """A ConfigMap with this data."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def deployment(name: str, image: str = "example.com/web:1") -> dict[str, Any]:
    """A Deployment of one container."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": image}]},
            },
        },
    }


def pod(name: str) -> dict[str, Any]:
    """A Pod of one container."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "main", "image": "example.com/web:1"}]},
    }
