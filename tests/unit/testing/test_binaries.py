"""Programs of the control plane: lookup and builds.

A shell script stands in for Go; nothing is compiled.
"""

import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import pytest

from steersman.clock import SystemClock
from steersman_cluster.errors import ControlPlaneError
from steersman_cluster.testing import Binaries, Program, find_binaries
from steersman_cluster.testing.control_plane.builder import (
    KUBERNETES,
    Building,
    KubernetesModule,
    WaitingForOtherBuild,
    build_missing,
)
from steersman_cluster.testing.control_plane.programs import (
    ETCD_VERSION,
    KUBERNETES_VERSION,
    cached_binaries,
)

COMMAND = [sys.executable, "-m", "steersman_cluster.testing.binaries"]

# Writes the last element of the package path into the file after "-o", and records the file.
WORKING_GO = """\
while [ "$1" != -o ]; do shift; done
echo "$2" >> "$GO_NOTES"
echo "a whole $(basename "$3")" > "$2"
chmod +x "$2"
"""

FAILING_GO = WORKING_GO + '[ "$2" != kube-apiserver ] || { echo "no space left" >&2; exit 3; }\n'

# Writes half a program, reports it, and waits forever.
HANGING_GO = """\
while [ "$1" != -o ]; do shift; done
printf half > "$2"
chmod +x "$2"
echo half done > "$GO_NOTES"
exec sleep 600
"""

# The first build waits until the gate is opened.
GATED_GO = '[ -e "$GO_GATE.open" ] || cat "$GO_GATE" > /dev/null\n' + WORKING_GO


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine with a cache, and a fake ``go`` on the PATH."""

    root: Path
    seen: list[Building | WaitingForOtherBuild] = field(default_factory=list)

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": f"{self.root / 'bin'}:{os.defpath}",
            "XDG_CACHE_HOME": str(self.root / "cache"),
            "GO_NOTES": str(self.notes),
            "GO_GATE": str(self.gate),
        }

    @property
    def notes(self) -> Path:
        return self.root / "notes"

    @property
    def gate(self) -> Path:
        return self.root / "gate"

    @property
    def binaries(self) -> Binaries:
        return find_binaries(environ=self.environ)

    def install_go(self, script: str) -> None:
        program(self.root / "bin" / "go", script)

    def build(self, *programs: Program) -> None:
        build_missing(
            programs or tuple(Program),
            self.binaries,
            kubernetes=KUBERNETES,
            environ=self.environ,
            clock=SystemClock(),
            progress=self.seen.append,
        )

    def cached(self) -> list[str]:
        """Return the names of the files in the cache."""
        directory = self.binaries.directory
        return sorted(p.name for p in directory.iterdir()) if directory.exists() else []

    def command(self, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            COMMAND,
            env={**self.environ, **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def program(path: Path, script: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(root=tmp_path)


def test_the_assets_variable_takes_precedence_over_the_cache(tmp_path: Path) -> None:
    environ = {"KUBEBUILDER_ASSETS": str(tmp_path / "assets"), "XDG_CACHE_HOME": str(tmp_path)}
    etcd = program(tmp_path / "assets" / "etcd")

    binaries = find_binaries(environ=environ)

    assert binaries.path(Program.ETCD) == etcd


@pytest.mark.parametrize(
    "environ",
    [
        pytest.param({"HOME": "/ann"}, id="no variable"),
        pytest.param({"HOME": "/ann", "XDG_CACHE_HOME": ""}, id="empty"),
        pytest.param({"HOME": "/ann", "XDG_CACHE_HOME": "cache"}, id="relative"),
        pytest.param({"XDG_CACHE_HOME": "/ann/.cache"}, id="absolute"),
        pytest.param({"HOME": "/ann", "KUBEBUILDER_ASSETS": ""}, id="empty assets"),
    ],
)
def test_the_cache_directory_is_below_the_users_cache_and_named_after_the_versions(
    environ: dict[str, str],
) -> None:
    binaries = find_binaries(environ=environ)

    versions = f"{KUBERNETES_VERSION}-{ETCD_VERSION}"
    assert binaries.directory == Path("/ann/.cache/steersman/control-plane") / versions


def test_the_versions_are_those_of_the_go_modules() -> None:
    modules = resources.files("steersman_cluster.testing") / "control_plane_modules"
    kubernetes = (modules / "kubernetes" / "go.mod").read_text()
    etcd = (modules / "etcd" / "go.mod").read_text()

    assert re.search(rf"^\s*k8s.io/kubernetes v{KUBERNETES_VERSION}\b", kubernetes, re.M)
    assert re.search(rf"^\s*go.etcd.io/etcd/server/v3 v{ETCD_VERSION}\b", etcd, re.M)


def test_only_requested_programs_must_exist(tmp_path: Path) -> None:
    program(tmp_path / "etcd")
    binaries = find_binaries(environ={"KUBEBUILDER_ASSETS": str(tmp_path)})

    assert binaries.path(Program.ETCD).parent == tmp_path
    with pytest.raises(ControlPlaneError, match=r"kubectl is missing.*unset KUBEBUILDER_ASSETS"):
        binaries.path(Program.KUBECTL)


def test_the_error_for_a_missing_program_contains_the_build_command(
    machine: Machine,
) -> None:
    with pytest.raises(
        ControlPlaneError, match=r"Run `python -m steersman_cluster\.testing\.binaries`"
    ):
        machine.binaries.path(Program.ETCD)


def test_a_file_that_is_not_executable_is_missing(machine: Machine) -> None:
    machine.binaries.directory.mkdir(parents=True)
    (machine.binaries.directory / "etcd").touch(mode=0o644)

    assert machine.binaries.missing([Program.ETCD]) == (Program.ETCD,)


def test_the_error_without_go_names_what_to_install_or_set(machine: Machine) -> None:
    environ = {**machine.environ, "PATH": str(machine.root)}

    with pytest.raises(ControlPlaneError, match=r"Install Go .* or set KUBEBUILDER_ASSETS"):
        build_missing(
            [Program.ETCD],
            machine.binaries,
            kubernetes=KUBERNETES,
            environ=environ,
            clock=SystemClock(),
            progress=machine.seen.append,
        )


def test_missing_programs_are_built_and_no_other_files_remain_in_the_cache(
    machine: Machine,
) -> None:
    machine.install_go(WORKING_GO)

    machine.build()

    assert machine.cached() == [".lock", *sorted(Program)]
    assert machine.binaries.path(Program.ETCD).read_text() == "a whole v3\n"
    assert machine.binaries.path(Program.KUBECTL).read_text() == "a whole kubectl\n"


def test_another_version_of_kubernetes_is_built_from_its_own_module(
    machine: Machine, tmp_path: Path
) -> None:
    machine.install_go(f'echo "$@" >> "$GO_NOTES"\n{WORKING_GO}cat go.mod go.sum > "$2"\n')
    (tmp_path / "go.mod").write_text("a module\n")
    (tmp_path / "go.sum").write_text("and sums\n")
    older = KubernetesModule(version="1.9.12", directory=tmp_path)
    binaries = cached_binaries("1.9.12", environ=machine.environ)

    build_missing(
        [Program.KUBE_APISERVER],
        binaries,
        kubernetes=older,
        environ=machine.environ,
        clock=SystemClock(),
        progress=machine.seen.append,
    )

    assert binaries.path(Program.KUBE_APISERVER).read_text() == "a module\nand sums\n"
    stamp = "-X k8s.io/component-base/version."
    flags = f"{stamp}gitVersion=v1.9.12 {stamp}gitMajor=1 {stamp}gitMinor=9 "
    assert flags in machine.notes.read_text()
    assert binaries.directory.parent == machine.binaries.directory.parent
    assert machine.cached() == []


def test_existing_programs_are_not_rebuilt(machine: Machine) -> None:
    machine.install_go(WORKING_GO)
    machine.build(Program.ETCD)

    machine.build()
    machine.build()

    assert machine.notes.read_text().split() == [
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kubectl",
    ]


def test_progress_contains_the_program_being_built(machine: Machine) -> None:
    machine.install_go(WORKING_GO)

    machine.build(Program.ETCD, Program.KUBECTL)

    finished = [event for event in machine.seen if isinstance(event, Building) and event.finished]
    assert [(e.program, e.number, e.total) for e in finished] == [
        (Program.ETCD, 1, 2),
        (Program.KUBECTL, 2, 2),
    ]


def test_a_failed_build_keeps_finished_programs_and_shows_gos_output(machine: Machine) -> None:
    machine.install_go(FAILING_GO)

    with pytest.raises(ControlPlaneError, match="kube-apiserver could not be built") as failure:
        machine.build()

    assert failure.value.log_tail == "no space left"
    assert machine.cached() == [".lock", "etcd"]


def test_an_unwritable_cache_is_reported(machine: Machine) -> None:
    machine.install_go(WORKING_GO)
    (machine.root / "cache").touch()

    with pytest.raises(ControlPlaneError, match="set XDG_CACHE_HOME to another"):
        machine.build()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_program_in_the_cache_is_complete_even_if_a_build_was_killed(
    machine: Machine, number: signal.Signals
) -> None:
    machine.install_go(HANGING_GO)
    os.mkfifo(machine.notes)
    with machine.command() as build:
        half_done = machine.notes.read_text()

        build.send_signal(number)
        # The watchdog has the pipes open too: they end after its cleanup.
        build.communicate()

    assert half_done == "half done\n"
    assert machine.cached() == [".lock"]


def test_concurrent_builds_wait_and_build_each_program_once(machine: Machine) -> None:
    machine.install_go(GATED_GO)
    os.mkfifo(machine.gate)
    with machine.command() as first:
        assert first.stderr is not None
        assert "building etcd" in first.stderr.readline()
        with machine.command() as second:
            assert second.stderr is not None
            waiting = second.stderr.readline()

            Path(f"{machine.gate}.open").touch()
            machine.gate.write_text("")

            answers = {first.communicate()[0], second.communicate()[0]}

    assert waiting == f"waiting for another build into {machine.binaries.directory}\n"
    assert answers == {f"{machine.binaries.directory}\n"}
    assert machine.notes.read_text().split() == [str(each) for each in Program]


def test_the_command_prints_only_the_directory_to_stdout(
    machine: Machine,
) -> None:
    machine.install_go(WORKING_GO)

    with machine.command() as command:
        stdout, stderr = command.communicate()

    assert command.returncode == 0
    assert stdout == f"{machine.binaries.directory}\n"
    (first, *_, last) = stderr.splitlines()
    assert re.fullmatch(r"building etcd \(1 of 4\), 0 min \d\d s", first)
    assert re.fullmatch(r"built kubectl \(4 of 4\), 0 min \d\d s", last)


def test_the_command_accepts_assets_without_a_controller_manager(machine: Machine) -> None:
    program(machine.root / "assets" / "etcd")
    program(machine.root / "assets" / "kube-apiserver")

    with machine.command(KUBEBUILDER_ASSETS=str(machine.root / "assets")) as command:
        stdout, stderr = command.communicate()

    assert (command.returncode, stdout, stderr) == (0, f"{machine.root / 'assets'}\n", "")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        pytest.param([], 1, "error: etcd is missing", id="failed"),
        pytest.param(["--fast"], 2, "unrecognized arguments: --fast", id="wrong usage"),
    ],
)
def test_the_command_exits_with_1_on_failure_and_2_on_a_usage_error(
    machine: Machine, arguments: list[str], status: int, message: str
) -> None:
    environ = {**machine.environ, "KUBEBUILDER_ASSETS": str(machine.root / "empty")}

    command = subprocess.run(
        [*COMMAND, *arguments], env=environ, capture_output=True, text=True, check=False
    )

    assert (command.returncode, command.stdout) == (status, "")
    assert message in command.stderr
