"""For pytest: the fixture ``cluster``, a cluster that lives as long as the test.

It is there wherever steersman is installed. A coroutine test that asks for it runs on the cluster's
own event loop, together with the async fixtures that it uses, whichever other plugins run coroutine
tests. By default the loop's time is a number, and nothing has to be waited for; with
``--cluster=real`` the same test runs against a real control plane.
"""

import inspect
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from steersman.simulation import World
    from steersman.testing.stages import Stage
    from steersman.workloads import WorkloadSettings

EMBEDDED: Final = "embedded"
REAL: Final = "real"

_STAGE: Final = pytest.StashKey["Stage"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which cluster, and which of all the ways in which things may happen there."""
    group = parser.getgroup("steersman")
    group.addoption(
        "--cluster",
        choices=(EMBEDDED, REAL),
        default=EMBEDDED,
        help="what the fixture `cluster` is: in this process and in virtual time, or a real"
        " control plane on this machine (default: embedded)",
    )
    group.addoption(
        "--cluster-seed",
        type=int,
        default=0,
        metavar="N",
        help="from which every order of events in an embedded cluster follows (default: 0)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Say which marks there are."""
    config.addinivalue_line(
        "markers",
        "embedded_only(reason='it skips time'): the test asks for what only the embedded cluster"
        " can do, and is skipped with --cluster=real",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what a real cluster cannot do."""
    if config.getoption("--cluster") != REAL:
        return
    for item in items:
        mark = item.get_closest_marker("embedded_only")
        if mark is not None:
            reason = mark.kwargs.get("reason") or next(iter(mark.args), "it skips time")
            item.add_marker(pytest.mark.skip(reason=f"only on the embedded cluster: {reason}"))


@pytest.fixture
def cluster_settings() -> "WorkloadSettings":
    """How many nodes the cluster has, and which of a cluster's own controllers run on it.

    To be overridden where a test, a module or a directory needs others.
    """
    from steersman.simulation import USUAL

    return USUAL


@pytest.fixture(scope="session")
def _real_control_plane() -> Iterator[Any]:
    from steersman.testing.real_stage import running_real_control_plane

    with running_real_control_plane() as plane:
        yield plane


@pytest.fixture
def cluster(
    request: pytest.FixtureRequest, cluster_settings: "WorkloadSettings"
) -> "Iterator[World]":
    """A cluster and the operators on it: ``await cluster.run_operator(controller)``."""
    if request.config.getoption("--cluster") == REAL:
        from steersman.testing.real_stage import real_stage

        plane = request.getfixturevalue("_real_control_plane")
        opened = real_stage(plane, settings=cluster_settings)
    else:
        from steersman.testing.stages import embedded_stage

        seed: Any = request.config.getoption("--cluster-seed")
        opened = embedded_stage(seed=seed, settings=cluster_settings)
    with opened as stage:
        request.node.stash[_STAGE] = stage
        yield stage.world


class ClusterFunction(pytest.Function):
    """A coroutine test on the loop of its cluster."""

    @classmethod
    def instead_of(cls, item: object, collector: Any) -> "ClusterFunction | None":
        """The same test as one of ours, if it is for us to run."""
        if not isinstance(item, pytest.Function) or not inspect.iscoroutinefunction(item.function):
            return None
        if not _is_ours(item._fixtureinfo.name2fixturedefs.get("cluster", ())):
            return None
        ours = cls.from_parent(
            collector,
            name=item.name,
            callspec=getattr(item, "callspec", None),
            callobj=item.obj,
            fixtureinfo=item._fixtureinfo,
            keywords=item.keywords,
            originalname=item.originalname,
        )
        ours.own_markers = item.own_markers
        return ours

    def runtest(self) -> None:
        """Run it; other plugins that run coroutine tests are not asked."""
        given = {name: self.funcargs[name] for name in self._fixtureinfo.argnames}
        self.stash[_STAGE].run(self.obj(**given))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class,
    name: str,  # noqa: ARG001 - as pytest calls it
    obj: object,  # noqa: ARG001
) -> Generator[None, Any, Any]:
    """Take over the coroutine tests that ask for a cluster, after everybody else."""
    made = yield
    if not isinstance(made, list):
        return _taken_over(collector, made)
    return [_taken_over(collector, each) for each in made]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    """Run the async fixtures of such a test on the loop of its cluster, before anybody else."""
    function: Any = fixturedef.func
    if (
        not (inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function))
        or fixturedef.scope != "function"
        or not isinstance(request.node, ClusterFunction)
    ):
        return (yield)
    request.getfixturevalue("cluster")
    stage = request.node.stash[_STAGE]
    instance = request.instance
    bound = function
    if inspect.ismethod(function) and isinstance(instance, type(function.__self__)):
        # Collected with one instance of the class, and each test has its own.
        bound = function.__func__.__get__(instance)
    # A function of its own, without what other plugins have marked the fixture with.
    fixturedef.func = _on_stage(stage, bound, request.addfinalizer)  # type: ignore[misc]
    try:
        return (yield)
    finally:
        fixturedef.func = function  # type: ignore[misc]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell with a failure what led there, and how to have it again."""
    report = yield
    stage = item.stash.get(_STAGE, None)
    if stage is not None and report.failed and call.when == "call":
        report.sections.append(stage.story(item.nodeid))
    return report


def _taken_over(collector: Any, item: Any) -> Any:
    return ClusterFunction.instead_of(item, collector) or item


def _is_ours(named: Sequence[pytest.FixtureDef[Any]]) -> bool:
    """Whether the last fixture of that name is ours, or one that extends ours."""
    for each in reversed(named):
        if each.func.__module__ == __name__:
            return True
        if "cluster" not in each.argnames:
            return False
    return False


def _on_stage(
    stage: "Stage", function: Any, addfinalizer: Callable[[Callable[[], object]], None]
) -> Callable[..., Any]:
    """An async fixture, as a plain one."""

    def made(*args: Any, **kwargs: Any) -> Any:
        if inspect.iscoroutinefunction(function):
            return stage.run(function(*args, **kwargs))
        generator = function(*args, **kwargs)
        value = stage.run(anext(generator))
        addfinalizer(partial(_end, stage, generator))
        return value

    return made


def _end(stage: "Stage", generator: Any) -> None:
    async def end() -> None:
        async for _ in generator:
            raise RuntimeError("an async fixture yields once")

    stage.run(end())
