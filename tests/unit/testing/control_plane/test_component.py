"""A component of the control plane; a shell script stands in for the program."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from steersman.clock import SystemClock
from steersman_cluster.errors import ControlPlaneError
from steersman_cluster.testing import Component
from steersman_cluster.testing.control_plane.sandbox import Sandbox, open_sandbox

WORKING = "touch ready; exec sleep 600"
IGNORES_SIGTERM = f"trap '' TERM; {WORKING}"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Sandbox]:
    with open_sandbox(prefix="component-", inside=tmp_path) as place:
        yield place


def component(
    place: Sandbox, script: str, *, start_seconds: float = 10.0, grace_seconds: float = 10.0
) -> Component:
    return Component(
        ["/bin/sh", "-c", script],
        sandbox=place,
        ready=(place.directory / "ready").exists,
        clock=SystemClock(),
        start_seconds=start_seconds,
        grace_seconds=grace_seconds,
    )


def state(pid: int | None) -> str:
    """Return the kernel's state letter of a process: T for stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_component_runs_until_its_block_exits(place: Sandbox) -> None:
    with component(place, WORKING).running() as running:
        pid_inside = running.pid

    assert pid_inside is not None
    assert running.pid is None


def test_a_component_is_stopped_when_its_block_raises(place: Sandbox) -> None:
    running = component(place, WORKING)

    with pytest.raises(LookupError), running.running():
        raise LookupError

    assert running.pid is None


def test_a_component_that_ignores_sigterm_is_killed_after_a_grace_period(place: Sandbox) -> None:
    with component(place, IGNORES_SIGTERM, grace_seconds=0.01).running() as running:
        with running.stopped():
            assert running.pid is None


def test_a_crashed_component_is_restarted_after_the_block(place: Sandbox) -> None:
    with component(place, WORKING).running() as running:
        before = running.pid

        with running.crashed():
            inside = running.pid

        assert inside is None
        assert running.pid not in (None, before)


@pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="the state of a process is read from /proc"
)
def test_a_paused_component_is_frozen_until_the_block_ends(place: Sandbox) -> None:
    with component(place, WORKING).running() as running:
        with running.paused():
            inside = state(running.pid)

        assert inside == "T"
        assert state(running.pid) != "T"


def test_a_component_can_be_stopped_while_it_is_paused(place: Sandbox) -> None:
    with component(place, WORKING).running() as running:
        with running.paused():
            running.restart()

        assert running.pid is not None


def test_a_component_that_exits_immediately_is_an_error_with_its_log_tail(
    place: Sandbox,
) -> None:
    failing = component(place, "for n in $(seq 100); do echo line $n; done; exit 4")

    with pytest.raises(ControlPlaneError, match="sh exited with status 4") as error:
        with failing.running():
            pass

    assert error.value.log_tail.splitlines() == [f"line {n}" for n in range(81, 101)]


def test_a_component_that_does_not_become_ready_is_an_error_and_is_stopped(
    place: Sandbox,
) -> None:
    idle = component(place, "exec sleep 600", start_seconds=0.05)

    with pytest.raises(ControlPlaneError, match=r"sh was not ready after 0\.05 s"):
        with idle.running():
            pass

    assert idle.pid is None


def test_a_component_inherits_nothing_from_the_environment(
    place: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ETCD_LOG_LEVEL", "debug")

    with component(place, f"env; {WORKING}").running() as running:
        log = running.log_file.read_text()

    assert "ETCD_LOG_LEVEL" not in log
    assert f"HOME={place.directory}" in log
