"""Saves and restores a cluster's data."""

import shutil
from contextlib import ExitStack
from pathlib import Path

from steersman_cluster.testing import Component, ControlPlane, RealControlPlane


def save(cluster: ControlPlane) -> None:
    """Copy the cluster's data, as a snapshot of its disk does."""
    storage, files = _storage_of(cluster)
    # A paused process changes nothing during the copy.
    with storage.paused():
        for each in files:
            _copy(each, _backup_path(each))


def restore(cluster: ControlPlane, *, gracefully: bool) -> None:
    """Stop or kill the servers, restore the backup, and restart them."""
    storage, files = _storage_of(cluster)
    with ExitStack() as stopped:
        for each in dict.fromkeys((cluster.api_server, storage)):
            stopped.enter_context(each.stopped() if gracefully else each.crashed())
        for file in files:
            _remove(file)
            _copy(_backup_path(file), file)


def _storage_of(cluster: ControlPlane) -> tuple[Component, list[Path]]:
    """The component that stores the data, and its files."""
    if isinstance(cluster, RealControlPlane):
        return cluster.etcd, [cluster.directory / "etcd"]
    return cluster.api_server, [cluster.directory / f"data{end}" for end in ("", "-wal", "-shm")]


def _backup_path(path: Path) -> Path:
    return path.with_name(f"saved-{path.name}")


def _copy(source: Path, target: Path) -> None:
    _remove(target)
    if source.is_dir():
        shutil.copytree(source, target)
    elif source.exists():
        shutil.copyfile(source, target)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
