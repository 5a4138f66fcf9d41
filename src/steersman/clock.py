"""Time, as a dependency.

Three kinds of number, three kinds of name:

- ``*_seconds: float`` is a length of time.
- ``*_at: float`` is a moment on the monotonic clock; only differences mean anything.
- ``*_time: datetime`` is a moment people and Kubernetes agree on, always in UTC.

Nothing else in steersman may import ``time``, or call ``datetime.now`` or ``asyncio.sleep``.
"""

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What time it is, and how to wait."""

    def monotonic(self) -> float:
        """Seconds since some moment in the past; never goes back."""
        ...

    def now(self) -> datetime:
        """The time that people and Kubernetes agree on, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for so long."""
        ...

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[object]:
        """Cancel the block after so long, and raise ``TimeoutError`` from it; ``None``: never."""
        ...


class SystemClock:
    """The clock of this machine."""

    def monotonic(self) -> float:
        """Seconds since some moment in the past; never goes back."""
        return time.monotonic()

    def now(self) -> datetime:
        """The time that people and Kubernetes agree on, in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Wait for so long."""
        await asyncio.sleep(seconds)

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[object]:
        """Cancel the block after so long, and raise ``TimeoutError`` from it; ``None``: never."""
        return asyncio.timeout(seconds)
