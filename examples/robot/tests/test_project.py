"""Tests of the manifests, the README, the demo and the program."""

import re
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import steersman as sm
import yaml
from steersman.client import connect, find_config, wait_for
from steersman.clock import SystemClock
from steersman.kinds import Codec
from steersman.manifests import as_document, crd_of, yaml_of
from steersman.observe import ignore
from steersman_cluster.demos import Demo, DemoContext, apply_file
from steersman_cluster.simulation import Cluster
from steersman_cluster.testing import running_embedded_control_plane

from robot_operator.robot import Robot, Spec

PROJECT = Path(__file__).parents[1]
ARTIFACTS = PROJECT / "artifacts/examples"


def test_the_crd_in_the_project_matches_the_class() -> None:
    expected = yaml_of([as_document(crd_of(Robot))])

    assert (ARTIFACTS / "crd.yaml").read_text() == expected, "run hack/generate_crd.py again"


def test_the_script_prints_the_crd() -> None:
    printed = subprocess.check_output([sys.executable, "hack/generate_crd.py"], cwd=PROJECT)

    assert printed == (ARTIFACTS / "crd.yaml").read_bytes()


def test_kubectl_shows_robots_with_their_name_and_age_only() -> None:
    (version,) = crd_of(Robot).spec.versions

    assert version.additional_printer_columns is None


def test_the_sample_is_a_robot_with_two_replicas() -> None:
    sample = yaml.safe_load((ARTIFACTS / "robotone.yaml").read_text())

    found = Codec().decode(Robot, Codec().encode(sample), wanted="the sample")

    assert found.name == "robot-one"
    assert found.spec == Spec(deployment_name="robot-one", replicas=2)


def test_the_readme_shows_code_of_the_operator() -> None:
    shown = re.findall(r"```python\n(.*?)```", (PROJECT / "README.md").read_text(), re.DOTALL)
    code = [each.read_text() for each in (PROJECT / "src/robot_operator").glob("*.py")]

    assert shown
    assert [block for block in shown if not any(block in text for text in code)] == []


async def test_the_demo_runs_all_of_its_steps(cluster: Cluster) -> None:
    demo: Demo = runpy.run_path(str(PROJECT / "demo.py"))["demo"]
    await cluster.install(Robot)
    await cluster.run_operator(runnables=demo.manager.runnables)
    printed: list[str] = []

    await demo.steps(
        DemoContext(
            cluster.client,
            directory=PROJECT,
            say=printed.append,
            note=printed.append,
            pause_seconds=0,
        )
    )

    assert len(printed) == 10


@contextmanager
def program(kubeconfig: Path, *flags: str) -> Iterator[subprocess.Popen[str]]:
    """Run the program on a cluster, and kill it after the block."""
    command = [sys.executable, "-m", "robot_operator", "--kubeconfig", str(kubeconfig), *flags]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        try:
            yield running
        finally:
            running.kill()


async def test_the_program_runs_until_sigterm() -> None:
    clock = SystemClock()
    with running_embedded_control_plane(clock=clock, nodes=1) as cluster:
        config = find_config(
            environ={}, home=cluster.directory, kubeconfig=cluster.kubeconfig, observe=ignore
        )
        async with connect(config, clock=clock, rng=Random(), observe=ignore) as client:
            with program(cluster.kubeconfig) as running:
                # The program starts before its CRD.
                await apply_file(client, ARTIFACTS / "crd.yaml")
                await apply_file(client, ARTIFACTS / "robotone.yaml")
                await wait_for(
                    client,
                    Robot,
                    "robot-one",
                    sm.is_ready,
                    namespace="default",
                    within_seconds=20.0,
                )
                running.send_signal(signal.SIGTERM)

                assert running.wait(timeout=60.0) == 0


def test_sigterm_stops_the_program_while_it_waits_for_its_crd() -> None:
    with (
        running_embedded_control_plane(clock=SystemClock()) as cluster,
        program(cluster.kubeconfig) as running,
    ):
        assert running.stderr is not None
        assert "CustomResourceDefinition is missing" in running.stderr.readline()

        running.send_signal(signal.SIGTERM)

        assert running.wait(timeout=60.0) == 0


def test_a_missing_kubeconfig_is_an_error(tmp_path: Path) -> None:
    with program(tmp_path / "none") as running:
        _, said = running.communicate()

    assert running.returncode == 1
    assert said.startswith("error: ")
    assert "none" in said


def test_the_master_flag_overrides_the_server_of_the_kubeconfig(tmp_path: Path) -> None:
    with running_embedded_control_plane(clock=SystemClock()) as cluster:
        config = yaml.safe_load(cluster.kubeconfig.read_text())
        inside = config["clusters"][0]["cluster"]
        master, inside["server"] = inside["server"], "https://127.0.0.1:1"
        elsewhere = tmp_path / "kubeconfig"
        elsewhere.write_text(yaml.safe_dump(config))
        elsewhere.chmod(0o600)

        with program(elsewhere, f"-master={master}") as running:
            assert running.stderr is not None
            # This is a response of the API server.
            assert "CustomResourceDefinition is missing" in running.stderr.readline()


def test_an_invalid_master_flag_is_an_error() -> None:
    command = [sys.executable, "-m", "robot_operator", "-master", "nowhere"]

    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert ended.stderr.startswith("error: -master: ")
