"""Enters and leaves ``lifespan``, an async context manager of the operator's author.

The context is entered before the controllers start, and left after the last one has ended.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from msgspec.structs import replace

from steersman.errors import AUTHOR_ERRORS, ManagerFailed, failure_of
from steersman.manager.options import Lifespan
from steersman.manager.runnables import Services
from steersman.observe import StopOverdue


@asynccontextmanager
async def entered(
    lifespan: Lifespan | None, services: Services, *, grace_seconds: float
) -> AsyncIterator[Services]:
    """Enter ``lifespan``, and yield ``services`` with the value that ``lifespan`` yields.

    The context is always left as if its block had raised no error, so that the code after its
    ``yield`` always runs. Therefore ``lifespan`` cannot suppress the error that has ended the
    operator.
    """
    if lifespan is None:
        yield services
        return
    try:
        opened = _checked(lifespan(services))
        value = await opened.__aenter__()
    except AUTHOR_ERRORS as raised:
        raise _failed("entered", raised) from raised
    try:
        yield replace(services, lifespan_value=value)
    finally:
        await _leave(opened, services, grace_seconds)


async def _leave(
    opened: AbstractAsyncContextManager[Any], services: Services, grace_seconds: float
) -> None:
    try:
        async with services.clock.timeout(grace_seconds):
            await opened.__aexit__(None, None, None)
    except TimeoutError:
        services.observe(StopOverdue(what="the lifespan", seconds=grace_seconds))
    except AUTHOR_ERRORS as raised:
        raise _failed("left", raised) from raised


def _checked(opened: object) -> AbstractAsyncContextManager[Any]:
    if isinstance(opened, AbstractAsyncContextManager):
        return opened
    raise TypeError(
        f"it returned an object of {type(opened).__name__}, not an async context manager; put"
        " @contextlib.asynccontextmanager above it"
    )


def _failed(when: str, raised: BaseException) -> ManagerFailed:
    error = failure_of(raised)
    return ManagerFailed(
        problem=f"the lifespan raised {type(error).__name__} when it was {when}: {error}",
        what_now="Handle this exception in the lifespan; the manager cannot.",
    )
