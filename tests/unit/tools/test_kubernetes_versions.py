"""Supported versions of Kubernetes: their modules, their programs, and their tests."""

import json
import os
import re
from pathlib import Path

import pytest

from steersman.clock import SystemClock
from steersman_cluster.testing import Program
from steersman_cluster.testing.control_plane.builder import KUBERNETES, KubernetesModule
from tools.kubernetes_versions.__main__ import ONE_VERSION, RECORD, TESTS
from tools.kubernetes_versions.versions import provide, supported
from tools.results import ROOT

# Writes its Go package and its module into the file after "-o".
GO = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
{ echo "$3"; head -n 1 go.mod; } > "$2"
chmod +x "$2"
"""

BUNDLED = KUBERNETES.version.rpartition(".")[0]
OTHERS = [each for each in supported().values() if each != KUBERNETES]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "bin").mkdir()
    go = tmp_path / "bin" / "go"
    go.write_text(GO)
    go.chmod(0o755)
    return {
        "PATH": f"{tmp_path / 'bin'}:{os.defpath}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "KUBEBUILDER_ASSETS": str(tmp_path / "assets"),
    }


def provided(kubernetes: KubernetesModule, directory: Path, environ: dict[str, str]) -> list[str]:
    directory.mkdir()
    provide(
        kubernetes,
        directory,
        environ=environ,
        clock=SystemClock(),
        progress=lambda _: None,
    )
    return sorted(each.name for each in directory.iterdir())


def test_every_supported_version_has_a_record_and_no_other_has_one() -> None:
    assert [*json.loads(RECORD.read_text(encoding="utf-8"))] == [*supported()]


def test_each_module_runs_on_all_versions_or_is_listed_for_one() -> None:
    for_one = [f"tests/real/test_{name}.py" for name in ONE_VERSION]
    modules = (ROOT / "tests" / "real").glob("test_*.py")

    assert sorted([*TESTS, *for_one]) == sorted(str(each.relative_to(ROOT)) for each in modules)


def test_versions_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for version in ("1.100.0", "1.9.7"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "go.mod").write_text(f"require (\n\tk8s.io/kubernetes v{version}\n)")

    found = supported(tmp_path)

    assert [*found] == ["1.9", BUNDLED, "1.100"]
    assert found["1.9"] == KubernetesModule(version="1.9.7", directory=tmp_path / "1.9.7")


@pytest.mark.parametrize("kubernetes", OTHERS, ids=lambda each: each.version)
def test_a_module_is_named_after_its_version_and_replaces_all_staging_modules_by_it(
    kubernetes: KubernetesModule,
) -> None:
    module = (kubernetes.directory / "go.mod").read_text(encoding="utf-8")
    required, _, replaced = module.partition("\nreplace (\n")

    minor = kubernetes.version.rpartition(".")[0]
    assert kubernetes.directory.name == minor
    assert required.startswith(f"module steersman.invalid/control-plane/kubernetes-{minor}\n")
    staging = kubernetes.version.replace("1.", "0.", 1)
    lines = replaced.removesuffix("\n)\n").splitlines()
    assert len(lines) > 30
    for line in lines:
        name = line.split()[0]
        assert line == f"\t{name} => {name} v{staging}"
    # The version that kube-apiserver's own module has in the same line.
    assert re.search(r"^godebug default=go1\.\d\d$", required, re.MULTILINE)


def test_a_directory_has_the_kube_apiserver_of_its_version_and_the_usual_etcd_and_kubectl(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    kubernetes = OTHERS[0]

    names = provided(kubernetes, tmp_path / "programs", environ)

    assert names == [Program.ETCD, Program.KUBE_APISERVER, Program.KUBECTL]
    api_server = (tmp_path / "programs" / Program.KUBE_APISERVER).read_text()
    kubectl = (tmp_path / "programs" / Program.KUBECTL).read_text()
    minor = kubernetes.version.rpartition(".")[0]
    module = "module steersman.invalid/control-plane/kubernetes"
    assert api_server == f"k8s.io/kubernetes/cmd/kube-apiserver\n{module}-{minor}\n"
    assert kubectl == f"k8s.io/kubernetes/cmd/kubectl\n{module}\n"


def test_programs_are_built_once_for_all_runs(tmp_path: Path, environ: dict[str, str]) -> None:
    provided(OTHERS[0], tmp_path / "first", environ)
    provided(KUBERNETES, tmp_path / "second", environ)
    (tmp_path / "bin" / "go").write_text("#!/bin/sh\nexit 1\n")

    again = provided(OTHERS[0], tmp_path / "third", environ)

    assert again == [Program.ETCD, Program.KUBE_APISERVER, Program.KUBECTL]
    links = [
        (tmp_path / name / Program.KUBE_APISERVER).readlink()
        for name in ("first", "second", "third")
    ]
    assert links[0] == links[2] != links[1]
