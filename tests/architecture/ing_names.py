"""Modules and packages whose name ends in -ing, where a noun would describe the content."""

from collections.abc import Iterable

from tests.architecture.tree import Module

FIELD_WORD = "testing"  # the name in Go and Kubernetes for a package for tests


def ing_names(modules: Iterable[Module]) -> dict[str, int]:
    """The dotted names that end in -ing; a package of the name ``testing`` may."""
    return {
        module.name: 1
        for module in modules
        if module.name.endswith("ing")
        and not (module.is_package and module.name.endswith(f".{FIELD_WORD}"))
    }
