"""The description of an operator for catalogs, shared by charts and bundles."""

from collections.abc import Iterable
from typing import Final

from steersman.manifests.documents import Document
from steersman.manifests.installation import Installation

# Every server from this version on evaluates CEL rules, which the generated schemas have.
OLDEST_KUBERNETES: Final = "1.29.0"
# The same for selectable fields. An older server drops them, and rejects the watch of an operator
# that selects by such a field.
OLDEST_WITH_SELECTABLE_FIELDS: Final = "1.32.0"


def title_of(installation: Installation) -> str:
    """Return the operator's display name; by default, its name as words: ``Shop Operator``."""
    return installation.title or installation.name.replace("-", " ").title()


def summary_of(installation: Installation) -> str:
    """Return the first paragraph of the operator's description, on one line."""
    words = installation.description.strip().partition("\n\n")[0]
    return " ".join(words.split()) or f"An operator for {_kinds(installation)}."


def is_mature(installation: Installation) -> bool:
    """Whether the operator's version promises backward compatibility.

    Such a version is 1.0 or later, and is not a prerelease.
    """
    return not installation.version.startswith("0.") and "-" not in installation.version


def oldest_kubernetes(crds: Iterable[Document]) -> str:
    """Return the oldest Kubernetes version that supports all fields in ``crds``."""
    versions = (version for crd in crds for version in crd["spec"]["versions"])
    if any(version.get("selectableFields") for version in versions):
        return OLDEST_WITH_SELECTABLE_FIELDS
    return OLDEST_KUBERNETES


def _kinds(installation: Installation) -> str:
    names = dict.fromkeys(each.kind.resource_type.gvk.kind for each in installation.controllers)
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
