"""The directory of launchers: installed, overwritten and foreign files."""

import os
from pathlib import Path

import pytest

from steersman_cluster.commands.launchers.assets import write_assets
from steersman_cluster.errors import ClusterError


def test_the_launchers_are_installed_and_executable(tmp_path: Path) -> None:
    assets = write_assets(tmp_path / "new" / "assets", search_path="")

    names = sorted(path.name for path in assets.directory.iterdir())
    assert names == ["etcd", "kube-apiserver"]
    assert all(os.access(assets.directory / name, os.X_OK) for name in names)


def test_kubectl_is_linked_if_available(tmp_path: Path) -> None:
    assert write_assets(tmp_path / "none", search_path="").kubectl is None

    kubectl = tmp_path / "bin" / "kubectl"
    kubectl.parent.mkdir()
    kubectl.touch(mode=0o755)
    assets = write_assets(tmp_path / "some", search_path=str(kubectl.parent))

    assert (assets.directory / "kubectl").resolve() == kubectl
    assert assets.kubectl == kubectl


def test_existing_launchers_of_steersman_are_overwritten(tmp_path: Path) -> None:
    launcher = write_assets(tmp_path, search_path="").directory / "etcd"
    written = launcher.read_text()
    launcher.write_text(written.replace("python", "another"))

    write_assets(tmp_path, search_path="")

    assert launcher.read_text() == written


@pytest.mark.parametrize("content", [b"#!/bin/sh\nexec real-etcd\n", b"\x7fELF\xff\xfe"])
def test_a_foreign_file_of_the_same_name_is_never_overwritten(
    tmp_path: Path, content: bytes
) -> None:
    foreign = tmp_path / "etcd"
    foreign.write_bytes(content)

    with pytest.raises(ClusterError, match="exists, and was not written by steersman"):
        write_assets(tmp_path, search_path="")

    assert foreign.read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["etcd"]


def test_a_directory_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ClusterError, match="cannot be written"):
        write_assets(tmp_path / "file" / "assets", search_path="")
