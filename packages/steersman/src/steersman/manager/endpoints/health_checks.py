"""Calls the health checks that the operator's author defines.

A check that is not async is called at each probe. An async check is called in the background.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from steersman.cache import Start
from steersman.clock import Clock
from steersman.controller import is_async
from steersman.errors import AUTHOR_ERRORS, failure_of
from steersman.manager.endpoints.probes import Check
from steersman.manager.options import HealthCheck
from steersman.manager.runnables import Services


class HealthChecks:
    """The operator author's checks for one probe, ``/healthz`` or ``/readyz``.

    The checks are called only while the manager's services, which they use, exist.
    """

    def __init__(self, checks: Sequence[HealthCheck], *, clock: Clock) -> None:
        self._checks = tuple(checks)
        self._clock = clock
        self._services: Services | None = None
        self._last: dict[str, str | None] = {}

    def __repr__(self) -> str:
        return f"<HealthChecks {', '.join(each.name for each in self._checks) or 'none'}>"

    def begin(self, services: Services, start: Start) -> None:
        """Start calling the checks with ``services``.

        ``start`` starts the background tasks of async checks.
        """
        self._services = services
        for each in self._checks:
            if is_async(each.check):
                start(self._repeat(each, services), name=f"health check {each.name}")

    def end(self) -> None:
        """Stop calling the checks, because the services that they use are being closed."""
        self._services = None

    def checks(self, *, before: str | None) -> Iterator[Check]:
        """Yield a ``Check`` for each of the operator author's checks.

        As long as a check has no result, its ``Check`` reports ``before``: before ``begin``, after
        ``end``, and, for an async check, until its first call has returned.
        """
        for each in self._checks:
            yield Check(each.name, self._answer_of(each, before))

    def _answer_of(self, check: HealthCheck, before: str | None) -> Callable[[], str | None]:
        def answer() -> str | None:
            if self._services is None:
                return before
            if is_async(check.check):
                return self._last.get(check.name, before)
            return _problem_of(check.check(self._services))

        return answer

    async def _repeat(self, check: HealthCheck, services: Services) -> None:
        ask = cast("Callable[[Services], Any]", check.check)
        seconds = check.every_seconds
        while True:
            try:
                async with self._clock.timeout(seconds):
                    self._last[check.name] = _problem_of(await ask(services))
            except TimeoutError:
                self._last[check.name] = f"it did not return within {seconds:g} s"
            except AUTHOR_ERRORS as raised:
                error = failure_of(raised)
                self._last[check.name] = f"it raised {type(error).__name__}: {error}"
            await self._clock.sleep(seconds)


def _problem_of(answer: object) -> str | None:
    if answer is None or isinstance(answer, str):
        return answer
    return f"it returned {answer!r} instead of None or a reason"
