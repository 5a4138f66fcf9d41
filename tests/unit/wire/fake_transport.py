"""A transport without a network, for tests of connections."""

import asyncio
from typing import Any


class FakeTransport(asyncio.Transport):
    """Records the data, whether it was aborted, and whether reading is paused."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = bytearray()
        self.is_aborted = False
        self.is_paused = False

    def write(self, data: Any) -> None:
        self.sent += data

    def is_closing(self) -> bool:
        return self.is_aborted

    def get_write_buffer_size(self) -> int:
        return 0

    def abort(self) -> None:
        self.is_aborted = True

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False
