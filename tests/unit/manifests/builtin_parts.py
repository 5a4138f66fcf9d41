"""Kinds that embed all the parts of a module of built-in kinds."""

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

# They contain themselves.
_ENDLESS: Final = (
    "CustomResourceDefinition",
    "CustomResourceDefinitionSpec",
    "CustomResourceDefinitionVersion",
    "CustomResourceValidation",
    "JSONSchemaProps",
)


@cache
def kind_of_everything_in(module: str) -> type[Resource]:
    """A kind with a field for each part in the module that is no field of another one's field.

    Those are in the schema all the same, inside of the others.
    """
    found = import_module(f"steersman.kinds.{module}")
    parts = {
        name: each
        for name, each in vars(found).items()
        if isinstance(each, type)
        and issubclass(each, Part)
        and each.__module__ == found.__name__
        and name not in _ENDLESS
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
