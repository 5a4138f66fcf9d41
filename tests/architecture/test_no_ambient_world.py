"""Time, chance and the network come in as arguments; each is made in one place only.

ruff bans the best-known names; here nothing is taken from those modules except what is allowed,
and the event loop is no back door to them.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.tree import MODULES, imports, parsed, within

CLOCK = "steersman/clock.py"

# Where a loop of its own is run, whose time is a number: what is asked of it there, and no more.
OF_ONES_OWN_LOOP = {
    # A group that ends takes nobody in, and who comes then is cancelled before he begins.
    "steersman/cache/background.py": {"the loop's create_task"},
    "steersman/simulation/clock.py": {"asyncio.sleep", "the loop's call_later"},
    "steersman/simulation/simulated.py": {"the loop's create_task"},
    "steersman/simulation/scenario_run.py": {"the loop's call_later", "the loop's create_task"},
    "steersman/testing/stages.py": {"the loop's create_task"},
    # Clients come when they like, and what one of them breaks is no matter of the others: in a
    # group, it would end them all.
    "steersman/wire/listener.py": {"the loop's create_task"},
}

# Modules that hold clocks and dice, and what may be taken from them all the same.
AMBIENT = {
    "random": {"Random", "SystemRandom"},  # both are made by whoever starts the program
    "time": set[str](),
    "uuid": {"UUID"},
}

FORBIDDEN_CALLS = {
    "asyncio.create_task",
    "asyncio.ensure_future",
    "asyncio.sleep",
    "asyncio.timeout",
    "asyncio.timeout_at",
    "asyncio.wait_for",
    "datetime.date.today",
    "datetime.datetime.now",
    "datetime.datetime.today",
    "datetime.datetime.utcnow",
    "os.urandom",
}

# What a loop can do that a Clock and a TaskGroup are for.
LOOP_METHODS = {"call_at", "call_later", "create_task", "time"}
WAYS_TO_THE_LOOP = {"get_event_loop", "get_running_loop", "new_event_loop"}

# A library that only these files know; a folder stands for everything in it.
HOMES = {
    "httptools": ("steersman/wire/connection.py", "steersman/wire/hearing.py"),
    "logging": ("steersman/observe/",),
    "prometheus_client": ("steersman/observe/",),
    # Tokens that must not be guessed: of a cluster for tests, and of every start of our own server.
    "secrets": ("steersman/testing/", "steersman/apiserver/running.py"),
}


def bound_names(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for: ``from datetime import datetime as d`` binds ``d``."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                bound[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return bound


def full_name(node: ast.expr, bound: dict[str, str]) -> str | None:
    match node:
        case ast.Name(id=name):
            return bound.get(name)
        case ast.Attribute(value=value, attr=attribute):
            owner = full_name(value, bound)
            return f"{owner}.{attribute}" if owner else None
        case _:
            return None


def is_forbidden(name: str) -> bool:
    module, _, thing = name.partition(".")
    if thing and module in AMBIENT:
        return thing.partition(".")[0] not in AMBIENT[module]
    return name in FORBIDDEN_CALLS


def is_loop(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in WAYS_TO_THE_LOOP
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_") in {"loop", "event_loop"}
        case _:
            return False


def ambient_uses(path: Path) -> Iterator[str]:
    tree = parsed(path)
    bound = bound_names(tree)
    allowed = OF_ONES_OWN_LOOP.get(within(path), set[str]())
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_loop(node.value) and node.attr in LOOP_METHODS:
            used: str | None = f"the loop's {node.attr}"
        elif isinstance(node, ast.Name | ast.Attribute):
            name = full_name(node, bound)
            used = name if name is not None and is_forbidden(name) else None
        else:
            continue
        if used is not None and used not in allowed:
            yield f"{within(path)}:{node.lineno} uses {used}"


def strangers(path: Path) -> Iterator[str]:
    for line, name in imports(path):
        library = name.partition(".")[0]
        if library in HOMES and not within(path).startswith(HOMES[library]):
            yield f"{within(path)}:{line} imports {library}"


@pytest.mark.parametrize("path", [p for p in MODULES if within(p) != CLOCK], ids=within)
def test_no_module_but_the_clock_looks_at_the_time_or_rolls_its_own_dice(path: Path) -> None:
    assert list(ambient_uses(path)) == []


@pytest.mark.parametrize("path", MODULES, ids=within)
def test_a_library_is_known_only_in_its_own_home(path: Path) -> None:
    assert list(strangers(path)) == []
