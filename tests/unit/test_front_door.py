"""The imports for type checkers, the table of lazy names and ``__all__`` agree."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import steersman


def imported_for_type_checkers() -> dict[str, str]:
    """The imports under ``TYPE_CHECKING``: each name, and its package."""
    tree = ast.parse(Path(steersman.__file__).read_text(encoding="utf-8"))
    return {
        alias.name: node.module.removeprefix("steersman.")
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def lazy_names() -> dict[str, str]:
    """The package of each public name."""
    modules = {name: module.partition(".")[0] for name, module in steersman._LAZY_MODULES.items()}
    return {**steersman._LAZY, **modules}


def test_type_checkers_get_the_names_that_exist() -> None:
    assert imported_for_type_checkers() == lazy_names()
    assert steersman.__all__ == sorted(lazy_names())
    assert set(steersman.__all__) <= set(dir(steersman))


@pytest.mark.parametrize("name", steersman.__all__)
def test_a_name_is_the_same_object_in_its_package(name: str) -> None:
    inner = import_module(f"steersman.{lazy_names()[name]}")

    assert getattr(steersman, name) is getattr(inner, name)
    assert vars(steersman)[name] is getattr(inner, name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'steersman' has no attribute 'Rudder'"):
        _ = steersman.Rudder  # type: ignore[attr-defined]
