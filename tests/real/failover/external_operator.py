"""An operator that writes to a system outside the cluster, where fencing does not apply.

Run as ``python -m tests.real.failover.external_operator NAME PORT``, followed by a manager's
settings. It calls ``check_leadership`` before a write where the version under test has it.
"""

import asyncio
import os
import socket
import sys
from pathlib import Path

import steersman as sm
from steersman.controller import Every
from steersman.kinds import core_v1
from steersman.manager import ManagerSettings
from tests.real.failover.operator import TICK_SECONDS, never


def main(name: str, port: int, arguments: list[str]) -> None:
    """Write as ``name``."""
    connection = socket.create_connection(("127.0.0.1", port))

    async def write(target: core_v1.ConfigMap, ctx: sm.Context) -> sm.Outcome:
        # Synchronously: the store receives the line before the first await.
        connection.sendall(f"{name} begun {target.name}\n".encode())
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(f"{name} read {target.name}\n".encode())
            await reader.readline()
            getattr(ctx, "check_leadership", int)()
            writer.write(f"{name} wrote {target.name}\n".encode())
            await reader.readline()
        finally:
            writer.transport.abort()
        return sm.Done()

    controller = sm.Controller(
        core_v1.ConfigMap, reconcile=write, sources=(Every(TICK_SECONDS),), when=never
    )
    settings = ManagerSettings.read(arguments, os.environ, prog=Path(__file__).name)
    sm.Manager(controllers=[controller], settings=settings).run()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
