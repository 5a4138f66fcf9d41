"""A backup of a cluster's data, restored after all clients have received later versions."""

import shutil
from contextlib import ExitStack
from pathlib import Path

from steersman_cluster.testing import Component, ControlPlane, RealControlPlane


def save(cluster: ControlPlane) -> None:
    """Copy the cluster's data, like a snapshot of its disk."""
    keeper, files = _kept_by(cluster)
    # A paused process changes nothing during the copy.
    with keeper.paused():
        for each in files:
            _copy(each, _saved(each))


def restore(cluster: ControlPlane, *, in_good_order: bool) -> None:
    """Stop the servers, gracefully if ``in_good_order``, restore the backup, and restart."""
    keeper, files = _kept_by(cluster)
    with ExitStack() as away:
        for each in dict.fromkeys((cluster.api_server, keeper)):
            away.enter_context(each.stopped() if in_good_order else each.crashed())
        for file in files:
            _remove(file)
            _copy(_saved(file), file)


def _kept_by(cluster: ControlPlane) -> tuple[Component, list[Path]]:
    """The component that stores the data, and its directory."""
    if isinstance(cluster, RealControlPlane):
        return cluster.etcd, [cluster.directory / "etcd"]
    return cluster.api_server, [cluster.directory / f"data{end}" for end in ("", "-wal", "-shm")]


def _saved(path: Path) -> Path:
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
