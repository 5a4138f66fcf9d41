"""The front door: the type checkers, the table and the list of names agree on what is behind it."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import steersman


def imported_for_the_checkers() -> dict[str, str]:
    """What stands under ``TYPE_CHECKING``: each name, and the package it comes from."""
    tree = ast.parse(Path(steersman.__file__).read_text(encoding="utf-8"))
    return {
        alias.name: node.module.removeprefix("steersman.")
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def table() -> dict[str, str]:
    """The package of each public name."""
    modules = {name: module.partition(".")[0] for name, module in steersman._LAZY_MODULES.items()}
    return {**steersman._LAZY, **modules}


def test_what_the_checkers_see_is_what_there_is() -> None:
    assert imported_for_the_checkers() == table()
    assert steersman.__all__ == sorted(table())
    assert set(steersman.__all__) <= set(dir(steersman))


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", steersman.__all__)
def test_a_name_is_the_same_at_both_doors(name: str) -> None:
    inner = import_module(f"steersman.{table()[name]}")

    assert getattr(steersman, name) is getattr(inner, name)
    assert vars(steersman)[name] is getattr(inner, name)


def test_there_is_nothing_else_behind_the_door() -> None:
    with pytest.raises(AttributeError, match="module 'steersman' has no attribute 'Rudder'"):
        _ = steersman.Rudder  # type: ignore[attr-defined]
