"""Every public name of a package exists and has a docstring. (ruff keeps ``__all__`` sorted.)"""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from importlib import import_module
from types import ModuleType

from tests.architecture.tree import assert_none, offenders, packages


def has_docstring(value: object) -> bool:
    written = value.__doc__ or ""
    if isinstance(value, type) and is_dataclass(value):
        # Without a docstring, dataclass sets one with the signature.
        return not written.startswith(f"{value.__name__}(")
    return written.strip() != ""


def faulty_names(package: ModuleType) -> Iterator[str]:
    for name in package.__all__:
        if not hasattr(package, name):
            yield f"{package.__name__}.{name} does not exist"
            continue
        value = getattr(package, name)
        describable = inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value)
        if describable and not has_docstring(value):
            yield f"{package.__name__}.{name} has no docstring"


def package_with(**offered: object) -> ModuleType:
    package = ModuleType("example")
    package.__dict__.update(offered, __all__=["name"])
    return package


def test_every_public_name_exists_and_has_a_docstring() -> None:
    @dataclass
    class Undocumented:
        size: int

    bad = [package_with(), package_with(name=lambda: None), package_with(name=Undocumented)]

    assert_none(offenders(faulty_names, [import_module(p.name) for p in packages()], bad=bad))
