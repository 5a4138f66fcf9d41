"""The control plane starts, is secure, can be paused and crashed, and is removed."""

import json
import os
import select
import socket
import ssl
import subprocess
import sys
from contextlib import closing, suppress
from http.client import HTTPSConnection
from pathlib import Path

import pytest

from steersman.clock import SystemClock
from steersman_cluster.errors import ControlPlaneError
from steersman_cluster.testing import (
    Program,
    RealControlPlane,
    find_binaries,
    fresh_namespace,
    running_real_control_plane,
)

# Starts a control plane, prints its directory and process ids, and waits.
STARTER_SCRIPT = """\
import os, sys
from steersman.clock import SystemClock
from steersman_cluster.testing import find_binaries, running_real_control_plane

with running_real_control_plane(find_binaries(environ=os.environ), clock=SystemClock()) as plane:
    print(plane.directory, plane.etcd.pid, plane.api_server.pid, flush=True)
    sys.stdin.read()
"""

AUTHORS_CONFTEST = 'pytest_plugins = ["steersman_cluster.testing.fixtures"]\n'

AUTHORS_TEST = """\
def test_mine(control_plane, namespace):
    assert namespace in control_plane.kubectl("get", "namespaces")
"""


linux_only = pytest.mark.skipif(
    sys.platform != "linux", reason="open sockets are read from /proc, which only Linux has"
)

LISTENING = "0A"  # a socket's state in /proc/net/tcp


def trust_of(plane: RealControlPlane) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=plane.credentials.ca_file)


def status(plane: RealControlPlane, trust: ssl.SSLContext, *, token: str) -> int:
    with closing(HTTPSConnection(*address(plane), context=trust)) as connection:
        connection.request("GET", "/version", headers={"Authorization": f"Bearer {token}"})
        return connection.getresponse().status


def address(plane: RealControlPlane) -> tuple[str, int]:
    host, _, port = plane.url.removeprefix("https://").partition(":")
    return host, int(port)


def watch_from(plane: RealControlPlane, version: str) -> str:
    path = f"/api/v1/configmaps?watch=1&timeoutSeconds=1&resourceVersion={version}"
    with plane.caller() as api:
        return api.call("GET", path).body.decode()


def every_command_line() -> str:
    lines: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):  # the process ended meanwhile
            lines.append((process / "cmdline").read_text(errors="replace"))
    return "\n".join(lines)


def listening_sockets(pid: int | None) -> list[str]:
    """Local addresses of a process's listening sockets, in hexadecimal as the kernel has them."""
    own: set[str] = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            own.add(str(descriptor.readlink()))
    tables = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    rows = [line.split() for line in tables.splitlines()]
    return [row[1] for row in rows if row[3] == LISTENING and f"socket:[{row[9]}]" in own]


def test_the_block_is_entered_once_the_api_server_is_ready(control_plane: RealControlPlane) -> None:
    with control_plane.caller() as api:
        assert api.call("GET", "/readyz").body == b"ok"


def test_clients_verify_the_certificate_of_the_api_server(control_plane: RealControlPlane) -> None:
    token = control_plane.credentials.admin_token

    with pytest.raises(ssl.SSLCertVerificationError):
        status(control_plane, ssl.create_default_context(), token=token)

    assert status(control_plane, trust_of(control_plane), token=token) == 200
    assert "insecure" not in control_plane.kubeconfig.read_text()


@pytest.mark.parametrize(
    ("context", "groups"),
    [
        ("admin", {"system:authenticated", "system:masters"}),
        ("certificate", {"system:authenticated", "system:masters"}),
        ("limited", {"system:authenticated"}),
    ],
)
def test_each_context_of_the_kubeconfig_is_a_user(
    control_plane: RealControlPlane, context: str, groups: set[str]
) -> None:
    response = control_plane.kubectl("auth", "whoami", "--output=json", context=context)

    user = json.loads(response)["status"]["userInfo"]
    assert (user["username"], set(user["groups"])) == (context, groups)


def test_the_limited_user_cannot_read_objects(control_plane: RealControlPlane) -> None:
    with pytest.raises(ControlPlaneError, match=r"context limited.*\n\n.*forbidden"):
        control_plane.kubectl("get", "secrets", context="limited")


def test_an_unknown_user_is_rejected(control_plane: RealControlPlane) -> None:
    assert status(control_plane, trust_of(control_plane), token="not-a-token") == 401


@linux_only
def test_only_the_api_server_listens_and_only_on_loopback(
    control_plane: RealControlPlane,
) -> None:
    _, port = address(control_plane)

    assert listening_sockets(control_plane.etcd.pid) == []
    assert listening_sockets(control_plane.api_server.pid) == [f"0100007F:{port:04X}"]


def test_a_namespace_and_all_its_objects_are_deleted_when_its_block_ends(
    control_plane: RealControlPlane,
) -> None:
    with fresh_namespace(control_plane) as name:
        control_plane.kubectl("create", "configmap", "settings", f"--namespace={name}")
        control_plane.kubectl("run", "web", "--image=web", f"--namespace={name}")

    left = control_plane.kubectl("get", "namespaces,configmaps,pods", "--all-namespaces")
    assert "kube-system" in left
    assert name not in left


def test_a_namespaces_end_deletes_objects_with_finalizers(control_plane: RealControlPlane) -> None:
    meta = {"name": "held", "finalizers": ["example.com/never-comes"]}
    manifest = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})

    with fresh_namespace(control_plane) as name:
        control_plane.kubectl("create", "--filename=-", f"--namespace={name}", stdin=manifest)

    left = control_plane.kubectl("get", "configmaps", "--all-namespaces")
    assert "held" not in left


def test_fresh_namespace_never_repeats_a_name(
    control_plane: RealControlPlane, namespace: str
) -> None:
    with fresh_namespace(control_plane) as other:
        assert other != namespace


def test_controllers_turn_a_deployment_into_pods(
    control_plane: RealControlPlane, controllers: None, namespace: str
) -> None:
    in_namespace = f"--namespace={namespace}"

    control_plane.kubectl("create", "deployment", "web", "--image=web", in_namespace)

    control_plane.kubectl("wait", "pods", "--selector=app=web", "--for=create", in_namespace)


def test_a_paused_api_server_keeps_its_connections_and_sends_nothing(
    control_plane: RealControlPlane,
) -> None:
    with control_plane.api_server.paused():
        with socket.create_connection(address(control_plane), timeout=1.0) as connection:
            connection.settimeout(0.1)
            with pytest.raises(TimeoutError):
                trust_of(control_plane).wrap_socket(connection, server_hostname="localhost")

    with control_plane.caller() as api:
        assert api.call("GET", "/readyz").status == 200


def test_a_stopped_api_server_restarts_at_the_same_address(
    control_plane: RealControlPlane, namespace: str
) -> None:
    before = control_plane.url

    with control_plane.api_server.stopped():
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address(control_plane))

    assert control_plane.url == before
    assert namespace in control_plane.kubectl("get", "namespaces")


def test_writes_survive_a_crash_of_etcd(control_plane: RealControlPlane, namespace: str) -> None:
    with control_plane.etcd.crashed():
        pass

    assert namespace in control_plane.kubectl("get", "namespaces")


def test_a_compacted_revision_is_answered_with_410(control_plane: RealControlPlane) -> None:
    with control_plane.caller() as api:
        page = api.call("GET", "/api/v1/configmaps?limit=1").json()["metadata"]
    assert '"code":410' not in watch_from(control_plane, page["resourceVersion"])

    control_plane.forget_history()

    assert '"code":410' in watch_from(control_plane, page["resourceVersion"])
    with control_plane.caller() as api:
        rest = f"/api/v1/configmaps?limit=1&continue={page['continue']}"
        assert api.call("GET", rest).status == 410


@linux_only
def test_the_block_cleans_up_after_an_error() -> None:
    binaries = find_binaries(environ=os.environ)
    started: list[RealControlPlane] = []

    with suppress(LookupError):
        with running_real_control_plane(binaries, clock=SystemClock(), controllers=True) as plane:
            started.append(plane)
            raise LookupError

    (plane,) = started
    assert (plane.api_server.pid, plane.etcd.pid) == (None, None)
    assert not plane.directory.exists()
    assert str(plane.directory) not in every_command_line()


@linux_only
def test_nothing_is_left_when_the_block_ends_or_the_process_is_killed() -> None:
    script = [sys.executable, "-c", STARTER_SCRIPT]
    with subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        directory, *processes = starter.stdout.readline().decode().split()
        waiting = [os.pidfd_open(int(process)) for process in processes]

        starter.kill()
        # The watchdog has this pipe open, too, until it has removed the directory.
        starter.communicate()

    for process in waiting:
        assert select.select([process], [], [], 10.0)[0] == [process]
        os.close(process)
    assert not Path(directory).exists()
    assert directory not in every_command_line()


def test_the_error_of_a_failed_start_has_the_components_log_tail() -> None:
    binaries = find_binaries(environ=os.environ)
    invalid_flags = {"authorization-mode": "Nonsense"}

    with pytest.raises(ControlPlaneError, match="kube-apiserver exited with status 1") as error:
        with running_real_control_plane(
            binaries, clock=SystemClock(), api_server_flags=invalid_flags
        ):
            pass

    assert "authorization-mode" in error.value.log_tail


def test_a_control_plane_needs_only_etcd_and_an_api_server(tmp_path: Path) -> None:
    found = find_binaries(environ=os.environ)
    for program in (Program.ETCD, Program.KUBE_APISERVER):
        (tmp_path / program).symlink_to(found.path(program))
    binaries = find_binaries(environ={"KUBEBUILDER_ASSETS": str(tmp_path)})

    with running_real_control_plane(binaries, clock=SystemClock()) as plane:
        with pytest.raises(ControlPlaneError, match="kube-controller-manager is missing"):
            with plane.running_controllers():
                pass


def test_the_fixtures_are_available_through_the_pytest_plugin(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(AUTHORS_CONFTEST)
    (tmp_path / "test_mine.py").write_text(AUTHORS_TEST)

    session = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", tmp_path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert session.stdout.splitlines()[-1].startswith("1 passed")
