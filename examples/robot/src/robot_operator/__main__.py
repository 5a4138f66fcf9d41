"""``python -m robot_operator --kubeconfig FILE``: run the controller until SIGTERM or Ctrl-C."""

import asyncio
import os
import signal
import sys
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from random import Random

from steersman.client import ClusterConfig, connect, find_config
from steersman.clock import SystemClock
from steersman.errors import SteersmanError
from steersman.observe import Observer, log_to

from robot_operator.controller import run_robots


def config_from_flags(
    kubeconfig: Path | None, master: str | None, *, observe: Observer
) -> ClusterConfig:
    """As in client-go, ``-master`` replaces the server of ``-kubeconfig``.

    With ``-master`` only, the client has no credentials.
    """
    if master and kubeconfig is None:
        return ClusterConfig(server=master, source="-master")
    config = find_config(
        environ=os.environ, home=Path.home(), kubeconfig=kubeconfig, observe=observe
    )
    return replace(config, server=master) if master else config


async def operate(kubeconfig: Path | None, master: str | None) -> None:
    """Connect as kubectl would, and run the controller until a signal stops it."""
    # asyncio.run cancels this task at Ctrl-C, too. A second signal ends the program at once.
    if (task := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    clock = SystemClock()
    observe = log_to(sys.stderr, clock=clock)
    config = config_from_flags(kubeconfig, master, observe=observe)
    async with connect(config, clock=clock, rng=Random(), observe=observe) as client:
        await run_robots(client, observe=observe)


def main() -> None:
    """The program."""
    parser = ArgumentParser(prog="robot-operator", description=__doc__)
    parser.add_argument("-kubeconfig", "--kubeconfig", type=Path, help="as for kubectl")
    parser.add_argument(
        "-master", "--master", metavar="URL", help="the API server, in place of the kubeconfig's"
    )
    arguments = parser.parse_args()
    try:
        asyncio.run(operate(arguments.kubeconfig, arguments.master))
    except asyncio.CancelledError:
        pass  # SIGTERM has stopped the controller.
    except KeyboardInterrupt:
        sys.exit(130)
    except SteersmanError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
