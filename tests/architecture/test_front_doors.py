"""Packages talk to each other through their front doors."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.tree import FRONT_DOOR, MODULES, SOURCE, imports, within

OPEN_HOUSE = {"kinds"}  # its modules are API groups, and meant to be imported by name
GIVEN_AWAY = {"steersman.controller.changed"}  # a module that is meant to be used whole


def is_module(name: str) -> bool:
    path = SOURCE.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def back_door_imports(path: Path) -> Iterator[str]:
    home = path.relative_to(FRONT_DOOR).parts[0]
    for line, name in imports(path):
        root, _, inside = name.partition(".")
        package, _, thing = inside.partition(".")
        if root != "steersman" or package in {home, *OPEN_HOUSE} or name in GIVEN_AWAY:
            continue
        # What a door gives is a name in it; a further dot, or a file of that name, is a room.
        if "." in thing or (thing and is_module(name)):
            yield f"{within(path)}:{line} imports {name}"


def lazy_imports(path: Path) -> Iterator[str]:
    if path == FRONT_DOOR / "__init__.py":
        return
    for line, name in imports(path):
        root, _, inside = name.partition(".")
        if root == "steersman" and "." not in inside and not (inside and is_module(name)):
            yield f"{within(path)}:{line} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=within)
def test_no_one_comes_in_through_the_back_door(path: Path) -> None:
    assert list(back_door_imports(path)) == []


@pytest.mark.parametrize("path", MODULES, ids=within)
def test_nothing_inside_depends_on_the_front_door_of_the_whole(path: Path) -> None:
    assert list(lazy_imports(path)) == []
