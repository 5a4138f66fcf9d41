"""What an operator is granted where: for those whose namespaces are chosen at installation."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from steersman.manifests.documents import Document
from steersman.manifests.installation import Installation

# A name that no namespace can have, and that stands for each.
SOME_NAMESPACE: Final = "steersman-some-namespace"
# Where events are about what has no namespace.
DEFAULT_NAMESPACE: Final = "default"
EVERYWHERE: Final = ""


def in_each(installation: Installation) -> Installation:
    """The same in some namespaces, of which ``SOME_NAMESPACE`` shows what is granted in each."""
    return replace(installation, namespaces=(SOME_NAMESPACE,))


def by_place(grants: Iterable[Document]) -> dict[str, tuple[Document, ...]]:
    """Roles and their bindings by the namespace that they are in, or ``EVERYWHERE``."""
    found: dict[str, tuple[Document, ...]] = {}
    for document in grants:
        place = document["metadata"].get("namespace", EVERYWHERE)
        found[place] = (*found.get(place, ()), document)
    return found
