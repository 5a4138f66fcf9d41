"""Every public name of a package exists, and has a docstring and one import path.

ruff keeps ``__all__`` sorted.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from importlib import import_module
from types import ModuleType

from tests.architecture.public_api.names import documented_packages, public_names
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


def shared_names(exported: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The names that more than one package exports."""
    exporters: dict[str, list[str]] = {}
    for package, names in exported.items():
        for name in names:
            exporters.setdefault(name, []).append(package)
    for name, found in exporters.items():
        if len(found) > 1:
            yield f"{name} is exported by {', '.join(found)}"


def test_no_two_documented_packages_export_the_same_name() -> None:
    # The top package, which is not among them, repeats the most common names on purpose.
    exported = {package: public_names(package) for package in documented_packages()}
    bad = [{"steersman.cache": ["key_of"], "steersman.watch": ["key_of"]}]

    assert_none(offenders(shared_names, [exported], bad=bad))
