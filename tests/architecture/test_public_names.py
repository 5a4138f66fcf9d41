"""What a package offers is there, and says what it is. (ruff keeps ``__all__`` in order.)"""

import inspect
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path

import pytest

from tests.architecture.tree import PACKAGES, dotted


def offered(package: Path) -> list[str]:
    return list(import_module(dotted(package)).__all__)


def has_docstring(value: object) -> bool:
    written = value.__doc__ or ""
    if isinstance(value, type) and is_dataclass(value):
        # Without one, dataclass writes the signature there.
        return not written.startswith(f"{value.__name__}(")
    return written.strip() != ""


def undocumented(package: Path) -> Iterator[str]:
    module = import_module(dotted(package))
    for name in offered(package):
        value = getattr(module, name)
        describable = inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value)
        if describable and not has_docstring(value):
            yield name


@pytest.mark.parametrize("package", PACKAGES, ids=dotted)
def test_every_offered_name_exists(package: Path) -> None:
    module = import_module(dotted(package))

    assert [name for name in offered(package) if not hasattr(module, name)] == []


@pytest.mark.parametrize("package", PACKAGES, ids=dotted)
def test_every_offered_class_and_function_says_what_it_is(package: Path) -> None:
    assert list(undocumented(package)) == []
