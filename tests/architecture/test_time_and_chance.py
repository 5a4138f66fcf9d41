"""Time, randomness and the network are arguments; each is created in one place only.

ruff bans the best-known names. These tests allow only listed names of those modules, and no use of
the event loop in their place.
"""

import ast
from collections.abc import Iterator

from tests.architecture.tree import Module, assert_none, modules, offenders

CLOCK = "steersman/clock.py"

# The methods of an event loop that these modules may use.
ALLOWED_LOOP_USES = {
    # A TaskGroup that is ending accepts no tasks: a new one would be cancelled before it starts.
    "steersman/cache/background.py": {"the loop's create_task"},
    "steersman_cluster/simulation/clock.py": {"asyncio.sleep", "the loop's call_later"},
    "steersman_cluster/simulation/simulated_cluster.py": {"the loop's create_task"},
    "steersman_cluster/simulation/scenarios/scenario_run.py": {
        "the loop's call_later",
        "the loop's create_task",
    },
    "steersman_cluster/testing/cluster_runner.py": {"the loop's create_task"},
    # In a TaskGroup, an error of one connection would cancel all others.
    "steersman/wire/server/listener.py": {"the loop's create_task"},
}

# Modules with clocks and random generators, and the names that may be imported from them.
CLOCKS_AND_RANDOMNESS = {
    "random": {"Random", "SystemRandom"},  # created where the program starts
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

# Methods of a loop for which a Clock or a TaskGroup must be used.
LOOP_METHODS = {"call_at", "call_later", "create_task", "time"}
LOOP_GETTERS = {"get_event_loop", "get_running_loop", "new_event_loop"}

# Libraries that only these files import; a directory includes all of its files.
LIBRARY_USERS = {
    "httptools": (
        "steersman/wire/server/request_parser.py",
        "steersman/wire/transport/connection.py",
    ),
    "logging": ("steersman/observe/",),
    "prometheus_client": ("steersman/observe/",),
    # Tokens that must not be guessable: those of test clusters and of the embedded server.
    "secrets": (
        "steersman_cluster/testing/",
        "steersman_cluster/apiserver/server/running_cluster.py",
    ),
}


def is_forbidden(name: str) -> bool:
    module, _, thing = name.partition(".")
    if thing and module in CLOCKS_AND_RANDOMNESS:
        return thing.partition(".")[0] not in CLOCKS_AND_RANDOMNESS[module]
    return name in FORBIDDEN_CALLS


def is_loop(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in LOOP_GETTERS
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_") in {"loop", "event_loop"}
        case _:
            return False


def forbidden_uses(module: Module) -> Iterator[str]:
    if module.path == CLOCK:
        return
    allowed = ALLOWED_LOOP_USES.get(module.path, set[str]())
    for node in ast.walk(module.parsed()):
        if isinstance(node, ast.Attribute) and is_loop(node.value) and node.attr in LOOP_METHODS:
            used: str | None = f"the loop's {node.attr}"
        elif isinstance(node, ast.Name | ast.Attribute):
            name = module.full_name(node)
            used = name if name is not None and is_forbidden(name) else None
        else:
            continue
        if used is not None and used not in allowed:
            yield f"{module.path}:{node.lineno} uses {used}"


def library_uses(module: Module) -> Iterator[str]:
    for line, name in module.imports:
        library = name.partition(".")[0]
        if library in LIBRARY_USERS and not module.path.startswith(LIBRARY_USERS[library]):
            yield f"{module.path}:{line} imports {library}"


def not_arguments(module: Module) -> Iterator[str]:
    yield from forbidden_uses(module)
    yield from library_uses(module)


def test_time_randomness_and_the_network_are_arguments() -> None:
    bad = [
        Module("steersman/client/example.py", text)
        for text in (
            "import time as t\nt.monotonic()",
            "from random import random\nrandom()",
            "from datetime import datetime as d\nd.now()",
            "import asyncio\nasync def f(): await asyncio.sleep(1)",
            "import asyncio\nasyncio.get_running_loop().call_later(1, print)",
            "def f(loop): return loop.time()",
            "import logging",
            "def f():\n    from httptools import parser",
        )
    ]

    assert_none(offenders(not_arguments, modules(), bad=bad))
