"""Implements ``steersman cluster envtest``: writes programs for test suites."""

import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from steersman_cluster.commands.launchers.starter import VARIABLE
from steersman_cluster.errors import ClusterError

LAUNCHERS = {
    "etcd": "steersman_cluster.commands.launchers.etcd",
    "kube-apiserver": "steersman_cluster.commands.launchers.kube_apiserver",
}
KUBECTL = "kubectl"
MARK = "# Written by steersman cluster envtest."


@dataclass(frozen=True, slots=True, kw_only=True)
class Assets:
    """A directory for ``KUBEBUILDER_ASSETS``; ``kubectl`` is the target of its link, if any."""

    directory: Path
    kubectl: Path | None


def write_assets(directory: Path, *, search_path: str | None) -> Assets:
    """Write the launchers and a link to kubectl to ``directory``; leave other files as is.

    ``search_path`` is the PATH on which to look for the kubectl program. A kubectl that is already
    in ``directory`` is not replaced. Launchers of an earlier call are overwritten, because they may
    start a different Python. Raise ``ClusterError`` if a file with the name of a launcher was not
    written by steersman.
    """
    directory = directory.absolute()
    for name in LAUNCHERS:
        if not _may_write(directory / name):
            raise ClusterError(
                problem=f"{directory / name} exists, and was not written by steersman",
                what_now="Name another directory.",
            )
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, module in LAUNCHERS.items():
            _write(directory / name, module)
        kubectl = _linked_kubectl(directory / KUBECTL, search_path)
    except OSError as error:
        raise ClusterError(
            problem=f"{directory} cannot be written: {error.strerror}",
            what_now="Name a writable directory.",
        ) from error
    return Assets(directory=directory, kubectl=kubectl)


def _may_write(path: Path) -> bool:
    if not path.exists() and not path.is_symlink():
        return True
    try:
        return not path.is_symlink() and MARK in path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def _write(path: Path, module: str) -> None:
    # -P: the current directory is not searched for steersman's modules.
    command = f"exec {shlex.quote(sys.executable)} -P -m {module}"
    # The script records the starter's id, because it runs first: later the starter may have ended,
    # and another process may have its id.
    starter = f"{VARIABLE}=$PPID\nexport {VARIABLE}"
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_text(f'#!/bin/sh\n{MARK}\n{starter}\n{command} "$@"\n', encoding="utf-8")
    unfinished.chmod(0o755)
    unfinished.replace(path)


def _linked_kubectl(path: Path, search_path: str | None) -> Path | None:
    if path.exists():
        return path.resolve()
    found = shutil.which(KUBECTL, path=search_path)
    if found is None:
        return None
    path.unlink(missing_ok=True)  # a broken link
    path.symlink_to(Path(found).absolute())
    return Path(found)
