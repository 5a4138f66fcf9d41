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
from importlib.resources.abc import Traversable
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
class KubernetesModule:
    """A version of Kubernetes, and a directory with the go.mod and go.sum to build it."""

    version: str
    directory: Traversable


_MODULES = resources.files("steersman_cluster.testing") / "control_plane_modules"

# The version that the embedded API server behaves like.
KUBERNETES = KubernetesModule(version=KUBERNETES_VERSION, directory=_MODULES / "kubernetes")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """The source of a program: a directory with a go.mod, and a Go package."""

    directory: Traversable
    package: str
    link_flags: str = "-s -w"


def _source(program: Program, kubernetes: KubernetesModule) -> _Source:
    if program is Program.ETCD:
        return _Source(directory=_MODULES / "etcd", package="go.etcd.io/etcd/server/v3")
    major, minor, _ = kubernetes.version.split(".")
    stamp = {"gitVersion": f"v{kubernetes.version}", "gitMajor": major, "gitMinor": minor}
    stamps = (f"-X k8s.io/component-base/version.{key}={value}" for key, value in stamp.items())
    return _Source(
        directory=kubernetes.directory,
        package=f"k8s.io/kubernetes/cmd/{program}",
        link_flags=" ".join(("-s -w", *stamps)),
    )


def build_missing(
    programs: Iterable[Program],
    binaries: Binaries,
    *,
    kubernetes: KubernetesModule,
    environ: Mapping[str, str],
    clock: Clock,
    progress: Progress,
) -> None:
    """Build each of ``programs`` that is missing in the directory of ``binaries``, in order.

    Those of Kubernetes have the version of ``kubernetes``. ``progress`` is called with each
    progress event. Raise ``ControlPlaneError`` if a build is necessary and Go is not on the PATH in
    ``environ``.
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
                source = _source(program, kubernetes)
                _build(go, step, source, sandbox, environ=environ, clock=clock, progress=progress)
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
    source: _Source,
    sandbox: Sandbox,
    *,
    environ: Mapping[str, str],
    clock: Clock,
    progress: Progress,
) -> None:
    for name in ("go.mod", "go.sum"):
        (sandbox.directory / name).write_bytes((source.directory / name).read_bytes())
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
