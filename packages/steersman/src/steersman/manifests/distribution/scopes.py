"""Permissions by namespace, for operators whose namespaces are chosen at installation."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from steersman.manifests.documents import Document
from steersman.manifests.installation import Installation

# A name that no namespace can have, as a placeholder for each of them.
SOME_NAMESPACE: Final = "steersman-some-namespace"
# The namespace of events about cluster-scoped objects.
DEFAULT_NAMESPACE: Final = "default"
EVERYWHERE: Final = ""


def in_each(installation: Installation) -> Installation:
    """Return a copy of ``installation`` with ``SOME_NAMESPACE`` as its only namespace.

    ``SOME_NAMESPACE`` stands for each of the namespaces that a user chooses at installation.
    """
    return replace(installation, namespaces=(SOME_NAMESPACE,))


def by_place(grants: Iterable[Document]) -> dict[str, tuple[Document, ...]]:
    """Return the roles and bindings in ``grants`` by namespace.

    Cluster-scoped roles and bindings are under the key ``EVERYWHERE``.
    """
    found: dict[str, tuple[Document, ...]] = {}
    for document in grants:
        place = document["metadata"].get("namespace", EVERYWHERE)
        found[place] = (*found.get(place, ()), document)
    return found
