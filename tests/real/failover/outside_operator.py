"""An operator whose reconciles write to a system outside the cluster, which no fence holds back.

Run as ``python -m tests.real.failover.outside_operator NAME PORT`` with the settings of a manager
behind. What it asks of the store it does as an author would; with ``check_leadership`` where that
is there, so that older versions can be compared.
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
    telling = socket.create_connection(("127.0.0.1", port))

    async def write(target: core_v1.ConfigMap, ctx: sm.Context) -> sm.Outcome:
        # At once, without a wait: it tells that a reconcile has begun.
        telling.sendall(f"{name} begun {target.name}\n".encode())
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(f"{name} asked {target.name}\n".encode())
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
