"""Sample kinds for the tests of controllers, and their objects."""

from collections.abc import Mapping
from typing import Any

from steersman.kinds import CustomResource, Part, Unstructured, meta_v1


class Spec(Part):
    size: int = 1
    image_name: str | None = None


class Status(Part):
    ready_replicas: int | None = None


class App(CustomResource[Spec, Status], group="app.example.com", version="v1"):
    """A namespaced kind."""


class Fleet(CustomResource[Spec, Status], group="app.example.com", version="v1", namespaced=False):
    """A cluster-scoped kind."""


def app(
    name: str = "web",
    *,
    version: str = "1",
    size: int = 1,
    status: Status | None = None,
    namespace: str | None = "here",
    **metadata: Any,
) -> App:
    """An App whose generation is its size."""
    metadata.setdefault("generation", size)
    meta = meta_v1.ObjectMeta(
        name=name, namespace=namespace, uid=f"uid-{name}", resource_version=version, **metadata
    )
    return App(metadata=meta, spec=Spec(size=size), status=status)


def widget(body: Mapping[str, Any] | None = None, **metadata: Any) -> Unstructured:
    """An unstructured object of a kind without a class."""
    meta = {"name": "one", "namespace": "here", "resourceVersion": "1", **metadata}
    return Unstructured(
        {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": meta, **(body or {})}
    )
