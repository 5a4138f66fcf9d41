"""The pytest plugin with the fixture ``cluster``, which runs a cluster during a test.

The fixture is available wherever steersman-cluster is installed. A coroutine test that requests the
fixture runs on the cluster's own event loop, and so do the test's async fixtures, even if other
plugins are installed that run coroutine tests. By default, the event loop has virtual time, so no
test waits. With ``--cluster=real``, the same test uses a real control plane.

Pytest loads this module for every test suite in an environment that contains steersman. Therefore,
the module avoids conflicts with other plugins. Its options begin with ``--steersman``. The short
option ``--cluster`` is added only if it is used and no other plugin has it. If another plugin has a
fixture called ``cluster``, pytest uses that fixture.

The module must load even with a pytest that is too old for the fixture, on every supported Python.
Therefore, hooks are wrapped in a way that all versions of pluggy support, and names that pytest 7
lacks are in strings.
"""

import inspect
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from steersman_cluster.simulation import Cluster
    from steersman_cluster.testing.cluster_runner import ClusterRunner
    from steersman_cluster.workloads import WorkloadSettings

EMBEDDED: Final = "embedded"
REAL: Final = "real"

# The keys of the options' values, independent of the option's name.
CLUSTER: Final = "steersman_cluster"
SEED: Final = "steersman_seed"

# The short names, added where no other plugin has an option of that name.
_SHORT_NAMES: Final = {"--cluster": CLUSTER, "--cluster-seed": SEED}

_FIXTURES: Final = ("cluster", "cluster_settings")
_PACKAGE: Final = __name__.partition(".")[0]

#: The runner of a test that has one.
RUNNER: "pytest.StashKey[ClusterRunner]" = pytest.StashKey()
#: Set on tests that run on the loop of their cluster.
ON_CLUSTER: Final = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options that select the type of the cluster and its seed."""
    _confine_rewriting(pluginmanager)
    group = parser.getgroup("steersman")
    group.addoption(
        "--steersman-cluster",
        dest=CLUSTER,
        choices=(EMBEDDED, REAL),
        default=EMBEDDED,
        help="type of the fixture `cluster`: in this process and in virtual time, or a real"
        " control plane on this machine (default: embedded). Short form: --cluster, unless another"
        " plugin defines that option",
    )
    group.addoption(
        "--steersman-seed",
        dest=SEED,
        type=int,
        default=0,
        metavar="N",
        help="seed of the order of events in an embedded cluster (default: 0)."
        " Short form: --cluster-seed",
    )


def _confine_rewriting(pluginmanager: pytest.PytestPluginManager) -> None:
    """Make pytest rewrite the assertions of this module only.

    By default, pytest rewrites all modules of a distribution with a plugin, and so compiles each of
    them a second time.
    """
    hook: Any = getattr(pluginmanager, "rewrite_hook", None)
    marked = getattr(hook, "_must_rewrite", None)
    if isinstance(marked, set) and _PACKAGE in marked:
        marked.discard(_PACKAGE)
        marked.add(__name__)
        getattr(hook, "_marked_for_rewrite_cache", {}).clear()


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests(
    parser: pytest.Parser, args: list[str]
) -> Generator[None, None, None]:
    """Add the short names of the options, if they are used and no other plugin has them."""
    yield
    used = {each.partition("=")[0] for each in args}
    for name, dest in _SHORT_NAMES.items():
        if name in used and not _is_taken(parser, name):
            kind: dict[str, Any] = {"type": int} if dest == SEED else {"choices": (EMBEDDED, REAL)}
            parser.getgroup("steersman").addoption(
                name, dest=dest, default=0 if dest == SEED else EMBEDDED, **kind
            )


def _is_taken(parser: Any, name: str) -> bool:
    groups = [*getattr(parser, "_groups", ()), getattr(parser, "_anonymous", None)]
    return any(
        name in option.names() for group in groups if group is not None for option in group.options
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks."""
    config.addinivalue_line(
        "markers",
        "embedded_only(reason='it skips time'): the test needs the embedded cluster,"
        " and is skipped with --cluster=real",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Reorder fixtures, so that other plugins' fixtures of the same names take precedence.

    Of several fixtures with the same name, pytest uses the last.
    """
    manager: Any = getattr(session, "_fixturemanager", None)
    for name in _FIXTURES:
        # Until pytest 9.0 the last of a list counts; since then, the first at each node.
        _order(getattr(manager, "_arg2fixturedefs", {}).get(name, []), ours_last=False)
        for table in ("_arg2node2fixturedefs", "_arg2nodeid2fixturedefs"):
            for found in getattr(manager, table, {}).get(name, {}).values():
                _order(found, ours_last=True)


def _order(found: Any, *, ours_last: bool) -> None:
    ordered = sorted(found, key=lambda each: _is_own(each) is ours_last)
    found.clear()
    found.extend(ordered)


def _is_own(fixture: "pytest.FixtureDef[Any]") -> bool:
    return getattr(fixture.func, "__module__", None) == __name__


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``--cluster=real``, skip the tests with the marker ``embedded_only``."""
    if config.getoption(CLUSTER) != REAL:
        return
    for item in items:
        mark = item.get_closest_marker("embedded_only")
        if mark is not None:
            reason = mark.kwargs.get("reason") or next(iter(mark.args), "it skips time")
            item.add_marker(pytest.mark.skip(reason=f"only on the embedded cluster: {reason}"))


@pytest.fixture
def cluster_settings() -> "WorkloadSettings":
    """The settings of the fixture ``cluster``: its number of nodes, and its own controllers.

    To change the settings for a test, a module or a directory, override this fixture there.
    """
    from steersman_cluster.simulation import DEFAULT_SETTINGS

    return DEFAULT_SETTINGS


@pytest.fixture(scope="session")
def _steersman_control_plane() -> Iterator[Any]:
    from steersman_cluster.testing.real_runner import found_control_plane

    with found_control_plane() as plane:
        yield plane


@pytest.fixture
def cluster(
    request: pytest.FixtureRequest, cluster_settings: "WorkloadSettings"
) -> "Iterator[Cluster]":
    """A cluster for one test; start operators with ``await cluster.run_operator(controller)``."""
    if request.config.getoption(CLUSTER) == REAL:
        from steersman_cluster.testing.real_runner import real_runner

        plane = request.getfixturevalue("_steersman_control_plane")
        opened = real_runner(plane, settings=cluster_settings)
    else:
        from steersman_cluster.testing.cluster_runner import simulated_runner

        seed: Any = request.config.getoption(SEED)
        opened = simulated_runner(seed=seed, settings=cluster_settings)
    with opened as runner:
        request.node.stash[RUNNER] = runner
        yield runner.cluster


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_pycollect_makeitem(
    collector: "pytest.Module | pytest.Class",
    name: str,  # noqa: ARG001 - as pytest calls it
    obj: object,  # noqa: ARG001
) -> Generator[None, Any, None]:
    """Replace each collected coroutine test that requests a cluster by a ``ClusterFunction``.

    This happens after other plugins have collected the tests.
    """
    outcome = yield
    if outcome.excinfo is not None:
        return
    made = outcome.get_result()
    if isinstance(made, list):
        outcome.force_result([_taken_over(collector, each) for each in made])
    else:
        outcome.force_result(_taken_over(collector, made))


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: "pytest.FixtureDef[Any]", request: pytest.FixtureRequest
) -> Generator[None, Any, None]:
    """Run the async fixtures of a test that requests a cluster, on the cluster's event loop.

    This hook runs before the same hook of other plugins.
    """
    function: Any = fixturedef.func
    if (
        not (inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function))
        or fixturedef.scope != "function"
        or not request.node.stash.get(ON_CLUSTER, False)
    ):
        yield
        return
    from steersman_cluster.testing.pytest_items import run_on_cluster

    request.getfixturevalue("cluster")
    runner = request.node.stash[RUNNER]
    # A new function, without the attributes that other plugins have set on the fixture.
    fixturedef.func = run_on_cluster(runner, function, request)  # type: ignore[misc]
    try:
        yield
    finally:
        fixturedef.func = function  # type: ignore[misc]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, None]:
    """Add the cluster's last writes and the replay command to the report of a failed test."""
    outcome = yield
    runner = item.stash.get(RUNNER, None)
    if runner is None or call.when != "call" or outcome.excinfo is not None:
        return
    report = outcome.get_result()
    if report.failed:
        report.sections.append(runner.steps(item.nodeid))


def _taken_over(collector: Any, item: Any) -> Any:
    """Return the test as a ``ClusterFunction`` if it is a coroutine that requests this fixture.

    Any other test is returned unchanged.
    """
    if not isinstance(item, pytest.Function) or not inspect.iscoroutinefunction(item.function):
        return item
    asked_for: Any = getattr(item, "_fixtureinfo")  # noqa: B009 - it is pytest's own
    if not _is_ours(asked_for.name2fixturedefs.get("cluster", ())):
        return item
    from steersman_cluster.testing.pytest_items import ClusterFunction

    ours = ClusterFunction.instead_of(item, collector, runner=RUNNER)
    ours.stash[ON_CLUSTER] = True
    return ours


def _is_ours(named: "Sequence[pytest.FixtureDef[Any]]") -> bool:
    """Whether the last of these fixtures is this plugin's, or extends this plugin's fixture."""
    for each in reversed(named):
        if _is_own(each):
            return True
        if "cluster" not in each.argnames:
            return False
    return False
