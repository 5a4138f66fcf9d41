"""The programs of a control plane, and the directory that contains them."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from steersman_cluster.errors import ControlPlaneError

KUBERNETES_VERSION = "1.36.3"
ETCD_VERSION = "3.6.8"

ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"
CACHE_VARIABLE = "XDG_CACHE_HOME"
BUILD_COMMAND = "python -m steersman_cluster.testing.binaries"


class Program(StrEnum):
    """A program of a control plane, by its file name; members are in the order of a build."""

    ETCD = "etcd"
    KUBE_APISERVER = "kube-apiserver"
    KUBE_CONTROLLER_MANAGER = "kube-controller-manager"
    KUBECTL = "kubectl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binaries:
    """A directory of programs; a missing program is an error only when its path is needed.

    ``from_assets`` is true if the directory is that of ``$KUBEBUILDER_ASSETS``.
    """

    directory: Path
    from_assets: bool

    def missing(self, programs: Iterable[Program]) -> tuple[Program, ...]:
        """Return those of ``programs`` that do not exist in the directory or are not executable."""
        return tuple(p for p in programs if not os.access(self.directory / p, os.X_OK))

    def path(self, program: Program) -> Path:
        """Return the path of ``program``; raise ``ControlPlaneError`` if the program is missing."""
        if not self.missing([program]):
            return self.directory / program
        if self.from_assets:
            raise ControlPlaneError(
                problem=f"{program} is missing in {ASSETS_VARIABLE}={self.directory}",
                what_now=f"Put it there, or unset {ASSETS_VARIABLE} and run `{BUILD_COMMAND}`.",
            )
        raise ControlPlaneError(
            problem=f"{program} is missing in {self.directory}",
            what_now=f"Run `{BUILD_COMMAND}`, or set {ASSETS_VARIABLE} to a directory with it.",
        )


def find_binaries(*, environ: Mapping[str, str]) -> Binaries:
    """Return the directory in ``$KUBEBUILDER_ASSETS`` if set, otherwise a cache directory.

    The programs in the directory are not checked.
    """
    if assets := environ.get(ASSETS_VARIABLE):
        return Binaries(directory=Path(assets).absolute(), from_assets=True)
    return cached_binaries(f"{KUBERNETES_VERSION}-{ETCD_VERSION}", environ=environ)


def cached_binaries(version: str, *, environ: Mapping[str, str]) -> Binaries:
    """Return the cache directory for the programs of ``version``, built or not."""
    directory = cache_directory(environ) / "control-plane" / version
    return Binaries(directory=directory, from_assets=False)


def cache_directory(environ: Mapping[str, str]) -> Path:
    """Return steersman's cache directory, which contains the results of long builds."""
    # The XDG specification says to ignore relative paths: they would create a cache per directory.
    configured = Path(environ.get(CACHE_VARIABLE, ""))
    if configured.is_absolute():
        return configured / "steersman"
    return Path(environ.get("HOME") or Path.home()) / ".cache" / "steersman"
