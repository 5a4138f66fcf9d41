"""The supported versions of Kubernetes, and the programs of each."""

import re
from collections.abc import Mapping
from pathlib import Path

from steersman.clock import Clock
from steersman_cluster.testing import Binaries, Program, find_binaries
from steersman_cluster.testing.control_plane.builder import (
    KUBERNETES,
    KubernetesModule,
    Progress,
    build_missing,
)
from steersman_cluster.testing.control_plane.programs import ASSETS_VARIABLE, cached_binaries

MODULES = Path(__file__).with_name("modules")

_REQUIRED = re.compile(r"^\s*k8s\.io/kubernetes v(\S+)", re.MULTILINE)

# etcd stores what each kube-apiserver sends, and kubectl only creates a few objects, so those of
# one version serve all.
_SHARED = (Program.ETCD, Program.KUBECTL)


def supported(modules: Path = MODULES) -> dict[str, KubernetesModule]:
    """Each supported version, by its minor version, in order."""
    found = [KUBERNETES]
    for directory in modules.iterdir():
        required = _REQUIRED.search((directory / "go.mod").read_text(encoding="utf-8"))
        if required is None:
            raise ValueError(f"{directory}/go.mod does not require k8s.io/kubernetes")
        found.append(KubernetesModule(version=required[1], directory=directory))
    by_number = sorted(found, key=lambda each: [*map(int, each.version.split("."))])
    return {each.version.rpartition(".")[0]: each for each in by_number}


def provide(
    kubernetes: KubernetesModule,
    directory: Path,
    *,
    environ: Mapping[str, str],
    clock: Clock,
    progress: Progress,
) -> None:
    """Link etcd, kubectl and the kube-apiserver of this version into a directory.

    Programs that are missing in the cache are built; ``ControlPlaneError`` is raised where this is
    not possible.
    """
    # Other programs would have another version than the one that is recorded.
    environ = {name: value for name, value in environ.items() if name != ASSETS_VARIABLE}
    usual = find_binaries(environ=environ)
    own = (
        usual if kubernetes == KUBERNETES else cached_binaries(kubernetes.version, environ=environ)
    )

    def build(module: KubernetesModule, binaries: Binaries, *programs: Program) -> None:
        build_missing(
            programs, binaries, kubernetes=module, environ=environ, clock=clock, progress=progress
        )
        for each in programs:
            (directory / each).symlink_to(binaries.path(each))

    build(KUBERNETES, usual, *_SHARED)
    build(kubernetes, own, Program.KUBE_APISERVER)
