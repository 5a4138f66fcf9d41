"""Builds the programs of a control plane from Go modules, into the cache directory.

Each program appears in that directory by one rename, so it is never incomplete there. If a build is
interrupted, the programs that it has finished remain. A file lock ensures that only one build runs
at a time; the kernel releases the lock when the process that holds the lock ends.
"""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TypeAlias

from steersman.clock import Clock
from steersman_cluster.errors import ControlPlaneError
from steersman_cluster.testing.control_plane.programs import (
    ASSETS_VARIABLE,
    CACHE_VARIABLE,
    KUBERNETES_VERSION,
    Binaries,
    Program,
)
from steersman_cluster.testing.control_plane.sandbox import Sandbox, open_sandbox, tail

# The interval at which a build reports how long it has taken so far.
REPORT_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingForOtherBuild:
    """A progress event: this build waits for another process that builds in ``directory``."""

    directory: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Building:
    """A progress event: program ``number`` of ``total`` is being built, or has been built."""

    program: Program
    number: int
    total: int
    elapsed_seconds: float
    finished: bool = False


Progress: TypeAlias = Callable[[WaitingForOtherBuild | Building], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """The source of a program: a directory of this package with a go.mod, and a Go package."""

    module: str
    package: str
    link_flags: str = "-s -w"


def _kubernetes(command: str) -> _Source:
    major, minor, _ = KUBERNETES_VERSION.split(".")
    stamp = {"gitVersion": f"v{KUBERNETES_VERSION}", "gitMajor": major, "gitMinor": minor}
    stamps = (f"-X k8s.io/component-base/version.{key}={value}" for key, value in stamp.items())
    return _Source(
        module="kubernetes",
        package=f"k8s.io/kubernetes/cmd/{command}",
        link_flags=" ".join(("-s -w", *stamps)),
    )


SOURCES: Mapping[Program, _Source] = {
    Program.ETCD: _Source(module="etcd", package="go.etcd.io/etcd/server/v3"),
    Program.KUBE_APISERVER: _kubernetes("kube-apiserver"),
    Program.KUBE_CONTROLLER_MANAGER: _kubernetes("kube-controller-manager"),
    Program.KUBECTL: _kubernetes("kubectl"),
}


def build_missing(
    programs: Iterable[Program],
    binaries: Binaries,
    *,
    environ: Mapping[str, str],
    clock: Clock,
    progress: Progress,
) -> None:
    """Build each of ``programs`` that is missing in the directory of ``binaries``, in order.

    ``progress`` is called with each progress event. Raise ``ControlPlaneError`` if a build is
    necessary and Go is not on the PATH in ``environ``.
    """
    missing = binaries.missing(programs)
    if not missing:
        return
    go = shutil.which("go", path=environ.get("PATH"))
    if go is None:
        raise ControlPlaneError(
            problem="the control plane must be built, but `go` is not on the PATH",
            what_now=f"Install Go 1.26 or newer, or set {ASSETS_VARIABLE} to a directory with"
            f" {' and '.join(missing)}.",
        )
    with _sole_builder(binaries.directory, progress):
        # Another process may have built them meanwhile.
        missing = binaries.missing(missing)
        for number, program in enumerate(missing, start=1):
            step = Building(program=program, number=number, total=len(missing), elapsed_seconds=0.0)
            with open_sandbox(prefix=".building-", inside=binaries.directory) as sandbox:
                _build(go, step, sandbox, environ=environ, clock=clock, progress=progress)
                (sandbox.directory / program).replace(binaries.directory / program)


@contextmanager
def _sole_builder(directory: Path, progress: Progress) -> Iterator[None]:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = os.open(directory / ".lock", os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise ControlPlaneError(
            problem=f"the control plane cannot be built into {directory}: {error.strerror}",
            what_now=f"Make the directory writable, or set {CACHE_VARIABLE} to another.",
        ) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(WaitingForOtherBuild(directory=directory))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _build(
    go: str,
    step: Building,
    sandbox: Sandbox,
    *,
    environ: Mapping[str, str],
    clock: Clock,
    progress: Progress,
) -> None:
    source = SOURCES[step.program]
    modules = resources.files("steersman_cluster.testing") / "control_plane_modules" / source.module
    for name in ("go.mod", "go.sum"):
        (sandbox.directory / name).write_bytes((modules / name).read_bytes())
    flags = ["-mod=readonly", "-trimpath", "-ldflags", source.link_flags, "-o", step.program]
    log = sandbox.directory / "build.log"
    started_at = clock.monotonic()
    process = sandbox.start(
        [go, "build", *flags, source.package],
        log=log,
        # A go.work in a parent directory would replace modules.
        environ={**environ, "GOWORK": "off"},
    )
    while True:
        progress(replace(step, elapsed_seconds=clock.monotonic() - started_at))
        try:
            status = process.wait(timeout=REPORT_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        break
    if status != 0:
        raise ControlPlaneError(
            problem=f"{step.program} could not be built: `go build` exited with status {status}",
            what_now=f"Set {ASSETS_VARIABLE} to a directory with it, or see the output of Go:",
            log_tail=tail(log),
        )
    progress(replace(step, elapsed_seconds=clock.monotonic() - started_at, finished=True))
