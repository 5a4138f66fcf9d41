"""Runs coroutine tests and async fixtures on the event loop of a cluster.

The pytest plugin imports this module when it collects the first such test.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import pytest

if TYPE_CHECKING:
    from steersman_cluster.testing.cluster_runner import ClusterRunner


class ClusterFunction(pytest.Function):
    """A coroutine test that runs on the event loop of its cluster."""

    runner: "pytest.StashKey[ClusterRunner]"

    @classmethod
    def instead_of(
        cls,
        item: pytest.Function,
        collector: Any,
        *,
        runner: "pytest.StashKey[ClusterRunner]",
    ) -> Self:
        """Return the test ``item`` as a ``ClusterFunction``.

        ``runner`` is the key under which the test's ``ClusterRunner`` is stored in the test's
        stash.
        """
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
        ours.runner = runner
        return ours

    def runtest(self) -> None:
        """Run the test, bypassing other plugins that run coroutine tests."""
        given = {name: self.funcargs[name] for name in self._fixtureinfo.argnames}
        self.stash[self.runner].run(self.obj(**given))


def run_on_cluster(
    runner: "ClusterRunner", function: Any, request: pytest.FixtureRequest
) -> Callable[..., Any]:
    """Return a synchronous fixture that runs ``function`` on the cluster's event loop.

    ``function`` is an async fixture function, and ``runner`` has the event loop.
    """
    instance, bound = request.instance, function
    if inspect.ismethod(function) and isinstance(instance, type(function.__self__)):
        # Collected with one instance of the class, while each test has its own.
        bound = function.__func__.__get__(instance)

    def made(*args: Any, **kwargs: Any) -> Any:
        if inspect.iscoroutinefunction(bound):
            return runner.run(bound(*args, **kwargs))
        generator = bound(*args, **kwargs)
        value = runner.run(anext(generator))
        request.addfinalizer(partial(_end, runner, generator))
        return value

    return made


def _end(runner: "ClusterRunner", generator: Any) -> None:
    async def end() -> None:
        async for _ in generator:
            raise RuntimeError("an async fixture must yield once")

    runner.run(end())
