"""An observer whose observations a test can read and wait for."""

import asyncio
from typing import TypeVar

from steersman.observe import Observation, RequestFinished

T = TypeVar("T", bound=Observation)


class RecordingObserver:
    """Keeps all observations, in order."""

    def __init__(self) -> None:
        self._observations: list[Observation] = []
        self._more = asyncio.Event()

    def __call__(self, observation: Observation) -> None:
        self._observations.append(observation)
        self._more.set()

    def of(self, kind: type[T]) -> list[T]:
        """The observations of one kind."""
        return [each for each in self._observations if isinstance(each, kind)]

    async def first(self, kind: type[T]) -> T:
        """Wait for the first observation of a kind."""
        while not (found := self.of(kind)):
            await self.more()
        return found[0]

    async def more(self) -> None:
        """Wait for the next observation."""
        self._more.clear()
        await self._more.wait()

    @property
    def last_attempts(self) -> int:
        """The number of attempts of the last finished request."""
        return self.of(RequestFinished)[-1].attempts

    def __repr__(self) -> str:
        return repr(self._observations)
