"""Applies the objects in a file to a cluster, as ``kubectl apply`` does."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from steersman.client import Client, Discovery
from steersman.errors import ProjectError
from steersman.kinds import Unstructured
from steersman.names import ObjectRef

ENDINGS: Final = (".yaml", ".yml", ".json")
FIELD_MANAGER: Final = "steersman-dev"
NAMESPACE: Final = "default"


async def apply_file(client: Client, path: Path) -> tuple[ObjectRef, ...]:
    """Apply each object in the file ``path``, in order, and return references to the objects.

    If the server rejects an object, its error is raised, and the objects after it are not applied.
    """
    applied: list[ObjectRef] = []
    served: Discovery | None = None
    for document in documents_in(path):
        served = served or await client.discover()
        obj = _object(document, served)
        response = await client.apply(obj, field_manager=FIELD_MANAGER, force=True)
        applied.append(response.ref)
    return tuple(applied)


def documents_in(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield each object in the YAML or JSON file ``path``."""
    try:
        documents = [each for each in yaml.safe_load_all(path.read_text(encoding="utf-8")) if each]
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ProjectError(
            problem=f"{path.name} cannot be read: {' '.join(str(error).split())}",
            what_now="Correct the file.",
        ) from error
    for document in documents:
        if not isinstance(document, Mapping) or not {"apiVersion", "kind"} <= document.keys():
            raise ProjectError(
                problem=f"{path.name} contains a document that is not a Kubernetes object",
                what_now="Give it an apiVersion and a kind, or remove it from the directory.",
            )
        yield document


def _object(document: Mapping[str, Any], served: Discovery) -> Unstructured:
    kind = served.class_of(str(document["apiVersion"]), str(document["kind"]))
    metadata = document.get("metadata") or {}
    if kind.resource_type.namespaced and not metadata.get("namespace"):
        metadata = {**metadata, "namespace": NAMESPACE}
    return kind({**document, "metadata": metadata})
