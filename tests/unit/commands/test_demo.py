"""The demo of each example."""

import sys
from collections.abc import Iterator

import pytest

from steersman.cli import load_manager, load_object
from steersman_cluster.demos import Demo, find_example
from tests.examples import PROJECTS

TARGET = "demo.py:demo"


@pytest.fixture(autouse=True)
def restored_imports() -> Iterator[None]:
    """Restore ``sys.path`` and unload ``demo``, a module that every example has."""
    path = list(sys.path)
    yield
    sys.path[:] = path
    sys.modules.pop("demo", None)


@pytest.mark.parametrize("name", PROJECTS)
def test_the_manager_of_a_demo_is_found(name: str) -> None:
    directory = find_example(name)

    demo = load_object(TARGET, Demo, directory=directory)

    assert demo.title
    assert load_manager(TARGET, directory=directory) is not None
