"""``python -m steersman_cluster.testing.binaries``: find or build a control plane.

The command prints the directory of the control plane's programs. If ``$KUBEBUILDER_ASSETS`` is set,
this is the directory, and nothing is built. Otherwise, it is the cache directory, into which
missing programs are built.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence

from steersman.clock import Clock, SystemClock
from steersman_cluster.errors import ControlPlaneError
from steersman_cluster.testing.control_plane.builder import (
    KUBERNETES,
    Building,
    WaitingForOtherBuild,
    build_missing,
)
from steersman_cluster.testing.control_plane.programs import Binaries, Program, find_binaries

# Without a terminal, a line every so often shows progress.
LOG_LINE_SECONDS = 30.0


class ProgressLines:
    """The progress of a build on stderr: one updated line on a terminal, otherwise a few lines."""

    def __init__(self) -> None:
        self._next_line_seconds = 0.0

    def __call__(self, event: WaitingForOtherBuild | Building) -> None:
        match event:
            case WaitingForOtherBuild(directory=directory):
                _write_line(f"waiting for another build into {directory}\n")
            case Building(finished=True):
                self._next_line_seconds = 0.0
                _write_line(f"built {_step(event)}\n")
            case Building() if sys.stderr.isatty():
                _write_line(f"building {_step(event)}")
            case Building(elapsed_seconds=elapsed_seconds):
                if elapsed_seconds >= self._next_line_seconds:
                    self._next_line_seconds += LOG_LINE_SECONDS
                    _write_line(f"building {_step(event)}\n")


def _write_line(text: str) -> None:
    start_over = "\r\x1b[K" if sys.stderr.isatty() else ""
    sys.stderr.write(start_over + text)
    sys.stderr.flush()


def _step(event: Building) -> str:
    minutes, seconds = divmod(int(event.elapsed_seconds), 60)
    return f"{event.program} ({event.number} of {event.total}), {minutes} min {seconds:02} s"


def find_or_build(*, environ: Mapping[str, str], clock: Clock) -> Binaries:
    """Return the directory in ``$KUBEBUILDER_ASSETS``, or a cache directory of programs.

    Programs that are missing in the cache directory are built. With ``$KUBEBUILDER_ASSETS``,
    nothing is built: raise ``ControlPlaneError`` if etcd or kube-apiserver is missing.
    """
    binaries = find_binaries(environ=environ)
    if binaries.from_assets:
        # The usual distributions of these programs have no kube-controller-manager; tests that need
        # controllers will ask for it.
        binaries.path(Program.ETCD)
        binaries.path(Program.KUBE_APISERVER)
    else:
        build_missing(
            Program,
            binaries,
            kubernetes=KUBERNETES,
            environ=environ,
            clock=clock,
            progress=ProgressLines(),
        )
    return binaries


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the directory of the control plane programs.

    Return the exit status of the command: 0, or 1 if the programs can be neither found nor built.
    """
    parser = argparse.ArgumentParser(
        prog="python -m steersman_cluster.testing.binaries",
        description="Find etcd, kube-apiserver, kube-controller-manager and kubectl, or build them"
        " with Go (ten minutes on two cores, the first time), and print their directory.",
    )
    parser.parse_args(arguments)
    try:
        binaries = find_or_build(environ=os.environ, clock=SystemClock())
    except ControlPlaneError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write(
            "\nstopped; finished programs are kept, and the next build continues from there\n"
        )
        return 1
    sys.stdout.write(f"{binaries.directory}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
