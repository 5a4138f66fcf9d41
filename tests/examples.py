"""The example projects, their controllers and their kinds."""

import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

from steersman.controller import Controller
from steersman.kinds import CustomResource

EXAMPLES = Path(__file__).parents[1] / "examples"
PROJECTS = {each.parent.name: each.parent for each in sorted(EXAMPLES.glob("*/pyproject.toml"))}


def example_controllers() -> dict[str, Controller[Any]]:
    """The controllers of the examples, by the name of the example and their own."""
    found: dict[str, Controller[Any]] = {}
    for name, project in PROJECTS.items():
        settings = tomllib.loads((project / "pyproject.toml").read_text())["tool"]
        if "steersman" in settings:
            module, _, attribute = settings["steersman"]["target"].partition(":")
            for each in getattr(import_module(module), attribute).controllers:
                found[f"{name}-{each.name}"] = each
    return found


def example_kinds() -> list[type[CustomResource[Any, Any]]]:
    """All kinds that an example defines."""
    found: dict[type[CustomResource[Any, Any]], None] = {}
    for project in PROJECTS.values():
        for module in _modules(project / "src"):
            for each in vars(import_module(module)).values():
                is_kind = isinstance(each, type) and issubclass(each, CustomResource)
                if is_kind and each.declared_crd and each.__module__ == module:
                    found.setdefault(each)
    return list(found)


def _modules(source: Path) -> Iterator[str]:
    for found in walk_packages([str(source)]):
        if found.ispkg:
            for module in walk_packages([str(source / found.name)], prefix=f"{found.name}."):
                if not module.name.endswith("__main__"):
                    yield module.name
