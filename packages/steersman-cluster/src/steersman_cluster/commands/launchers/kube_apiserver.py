"""A program that has the flags of ``kube-apiserver``, and runs the embedded API server."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from random import Random

from steersman.clock import Clock
from steersman.errors import SteersmanError
from steersman_cluster.commands.launchers import BadFlag, ParsedFlags, parsed
from steersman_cluster.commands.launchers.apiserver_flags import API_SERVER_FLAGS, SHORTHANDS
from steersman_cluster.commands.launchers.starter import following_starter
from steersman_cluster.commands.signals import on_end_signals

NAME = "kube-apiserver"
VERSION = "Kubernetes v1.36.3"


def main(arguments: Sequence[str], *, clock: Clock, rng: Random, environ: Mapping[str, str]) -> int:
    """Serve until a signal arrives, and return the exit status of the program."""
    try:
        # Everything after an equals sign asks for the version too.
        given = parsed(
            ["--version" if each.startswith("--version=") else each for each in arguments],
            API_SERVER_FLAGS,
            shorthands=SHORTHANDS,
            program=NAME,
        )
        if given.yes("help"):
            sys.stdout.write(_help())
        elif given.yes("version"):
            sys.stdout.write(f"{VERSION}\n")
        else:
            asyncio.run(_serve(given, clock=clock, rng=rng, environ=environ))
    except BadFlag as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    except SteersmanError as error:
        sys.stderr.write(f"{NAME}: {error}\n")
        return 1
    return 0


async def _serve(
    given: ParsedFlags, *, clock: Clock, rng: Random, environ: Mapping[str, str]
) -> None:
    ended = asyncio.Event()
    on_end_signals(ended.set)
    with following_starter(ended, environ=environ):
        await _serve_until(ended, given, clock=clock, rng=rng, environ=environ)


async def _serve_until(
    ended: asyncio.Event,
    given: ParsedFlags,
    *,
    clock: Clock,
    rng: Random,
    environ: Mapping[str, str],
) -> None:
    # Imported here, so that help is quick.
    from dataclasses import replace

    from steersman.observe import log_to
    from steersman_cluster.apiserver import running_cluster
    from steersman_cluster.commands.launchers.apiserver_settings import parse_settings
    from steersman_cluster.commands.launchers.data_directory import find_data_directory

    settings, notes = parse_settings(given)
    for note in notes:
        sys.stderr.write(f"{NAME}: {note}\n")
    sys.stderr.flush()
    data = await find_data_directory(
        given.listed("etcd-servers"),
        prefix=given.one("etcd-prefix", "/registry"),
        ended=ended,
        clock=clock,
    )
    if data is None:
        return
    observe = log_to(sys.stderr, clock=clock)
    async with running_cluster(
        replace(settings, data=data), clock=clock, rng=rng, observe=observe, environ=environ
    ) as cluster:
        sys.stderr.write(f"{NAME}: Kubernetes 1.36 API at {cluster.url}, kept in {data}\n")
        sys.stderr.flush()
        await ended.wait()


def _help() -> str:
    flags = (f"      --{name} {kind}" for name, kind in sorted(API_SERVER_FLAGS.items()))
    lines = (
        "The embedded Kubernetes API server of steersman, with the flags of kube-apiserver.",
        f"\nUsage:\n  {NAME} [flags]\n\nFlags:\n",
        *flags,
    )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    import os
    from random import SystemRandom

    from steersman.clock import SystemClock

    sys.exit(main(sys.argv[1:], clock=SystemClock(), rng=SystemRandom(), environ=os.environ))
