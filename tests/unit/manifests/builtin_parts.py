"""Kinds that embed all parts of a module of built-in kinds."""

from functools import cache
from importlib import import_module
from pathlib import Path
from types import new_class
from typing import Any, Final

import steersman.kinds
from steersman.kinds import CustomResource, Part, Resource

BUILTIN_MODULES: Final = sorted(
    path.stem for path in Path(steersman.kinds.__file__).parent.glob("*_v[0-9].py")
)

# Recursive types.
_RECURSIVE: Final = (
    "CustomResourceDefinition",
    "CustomResourceDefinitionSpec",
    "CustomResourceDefinitionVersion",
    "CustomResourceValidation",
    "JSONSchemaProps",
)


@cache
def kind_with_parts_of(module: str) -> type[Resource]:
    """A kind with a field for each part of the module that no other part of the module contains.

    The schema has the others inside of these.
    """
    found = import_module(f"steersman.kinds.{module}")
    parts = {
        name: each
        for name, each in vars(found).items()
        if isinstance(each, type)
        and issubclass(each, Part)
        and each.__module__ == found.__name__
        and name not in _RECURSIVE
    }
    inside = {
        name
        for each in parts.values()
        for hint in each.__annotations__.values()
        for name in parts
        if name in str(hint).replace("[", " ").replace(",", " ").split()
    }
    fields = {f"f{name.lower()}": each | None for name, each in parts.items() if name not in inside}
    body: dict[str, Any] = {
        "__annotations__": fields,
        "__module__": __name__,
        **dict.fromkeys(fields),
    }
    spec = new_class("Spec", (Part,), {}, lambda namespace: namespace.update(body))
    return new_class(
        "Holder",
        (CustomResource[spec, Part],),  # type: ignore[valid-type]
        {"group": f"{module.replace('_', '-')}.example.com", "version": "v1"},
        lambda namespace: namespace.update({"__module__": __name__}),
    )
