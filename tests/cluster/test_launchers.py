"""The kube-apiserver and etcd launchers: processes, flags, files and termination."""

import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPSConnection
from pathlib import Path
from select import select

import pytest

from steersman.clock import SystemClock
from steersman_cluster.commands.launchers.assets import write_assets
from steersman_cluster.testing import Binaries, RealControlPlane, running_real_control_plane
from steersman_cluster.testing.calls import HttpCaller, UnixConnection
from steersman_cluster.testing.control_plane.control_plane import reserved_port
from tests.certificates import Authority
from tests.processes import is_running

pytestmark = pytest.mark.programs

MAPS = "/api/v1/namespaces/default/configmaps"
SETTING = {"metadata": {"name": "setting"}, "data": {"is": "kept"}}
# Much longer than a stop takes, and much shorter than the watches of a real server delay it.
AT_ONCE_SECONDS = 10.0


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory for KUBEBUILDER_ASSETS."""
    return write_assets(tmp_path_factory.mktemp("assets"), search_path="").directory


@pytest.fixture(scope="module")
def plane(assets: Path) -> Iterator[RealControlPlane]:
    """A control plane with the launchers in place of the real programs."""
    binaries = Binaries(directory=assets, from_assets=True)
    with running_real_control_plane(binaries, clock=SystemClock()) as plane:
        yield plane


@contextmanager
def started(program: Path, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [program, *map(str, arguments)], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def started_etcd(assets: Path, directory: Path) -> Iterator[str]:
    """Start an etcd, and wait for its first response; its address."""
    at = directory / "etcd.sock"
    with started(
        assets / "etcd", f"--data-dir={directory / 'data'}", f"--listen-client-urls=unix://{at}"
    ):
        while not HttpCaller(UnixConnection(at), headers={}).finds("/health"):
            pass
        yield f"unix://{at}"


def account_flags(directory: Path) -> list[str]:
    pair = Authority().client("signer")
    key, certificate = directory / "sa.key", directory / "sa.crt"
    key.write_bytes(pair.key)
    certificate.write_bytes(pair.certificate)
    return [
        "--service-account-issuer=https://issuer.example",
        f"--service-account-key-file={certificate}",
        f"--service-account-signing-key-file={key}",
    ]


def test_a_test_suite_that_starts_a_control_plane_gets_the_embedded_one(
    plane: RealControlPlane,
) -> None:
    with plane.caller() as admin:
        kubernetes = admin.call("GET", "/api/v1/namespaces/default/services/kubernetes").json()
        version = admin.call("GET", "/version").json()

    assert kubernetes["spec"]["clusterIP"] == "10.0.0.1"
    assert version["minor"] == "36"
    assert "embedded" not in str(version)


def test_a_restarted_kube_apiserver_still_has_its_objects(
    plane: RealControlPlane,
) -> None:
    with plane.caller() as admin:
        kept = admin.call("POST", MAPS, SETTING).json()

    plane.api_server.restart()
    with plane.api_server.crashed():
        pass

    with plane.caller() as admin:
        assert admin.call("GET", f"{MAPS}/setting").json() == kept


def test_etcd_responds_only_to_the_supported_requests(plane: RealControlPlane) -> None:
    with HttpCaller(UnixConnection(plane.directory / "etcd.sock"), headers={}) as etcd:
        assert etcd.call("GET", "/health").json() == {"health": "true", "reason": ""}
        assert etcd.call("GET", "/version").json()["etcdserver"].startswith("3.")
        assert etcd.call("GET", "/v3/kv/range").status == 404


def test_service_account_tokens_use_the_keys_in_the_flags(assets: Path, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.csv"
    tokens.write_text('secret,admin,admin,"system:masters"\n')
    with started_etcd(assets, tmp_path) as etcd, reserved_port() as port:
        flags = [
            f"--etcd-servers={etcd}",
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            "--permit-port-sharing",
            f"--cert-dir={tmp_path / 'certs'}",
            f"--token-auth-file={tokens}",
            *account_flags(tmp_path),
        ]
        with started(assets / "kube-apiserver", *flags) as process:
            assert process.stderr is not None
            while "API at" not in (said := process.stderr.readline()):
                assert said
            # The server's own certificate is in the configured directory, with its CA.
            tls = ssl.create_default_context(cafile=str(tmp_path / "certs" / "apiserver.crt"))
            connection = HTTPSConnection("127.0.0.1", port, context=tls)
            with HttpCaller(connection, headers={"Authorization": "Bearer secret"}) as admin:
                accounts = "/api/v1/namespaces/default/serviceaccounts"
                admin.call("POST", accounts, {"metadata": {"name": "robot"}})
                made = admin.call("POST", f"{accounts}/robot/token", {}).json()
                review = {"spec": {"token": made["status"]["token"]}}
                reviewed = admin.call(
                    "POST", "/apis/authentication.k8s.io/v1/tokenreviews", review
                ).json()
                document = admin.call("GET", "/.well-known/openid-configuration").json()

    assert made["spec"]["audiences"] == ["https://issuer.example"]
    assert reviewed["status"]["authenticated"]
    assert document["issuer"] == "https://issuer.example"
    assert document["id_token_signing_alg_values_supported"] == ["ES256"]


def test_a_signal_ends_the_programs_immediately(assets: Path, tmp_path: Path) -> None:
    at = tmp_path / "etcd.sock"
    etcd_flags = (f"--data-dir={tmp_path / 'data'}", f"--listen-client-urls=unix://{at}")
    with reserved_port() as port, started(assets / "etcd", *etcd_flags) as etcd:
        flags = [
            f"--etcd-servers=unix://{at}",
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            "--permit-port-sharing",
            f"--cert-dir={tmp_path / 'certs'}",
            *account_flags(tmp_path),
        ]
        with started(assets / "kube-apiserver", *flags) as server:
            assert server.stderr is not None
            while "API at" not in (said := server.stderr.readline()):
                assert said

            server.send_signal(signal.SIGTERM)
            assert server.wait(AT_ONCE_SECONDS) == 0
        etcd.send_signal(signal.SIGINT)
        assert etcd.wait(AT_ONCE_SECONDS) == 0


def test_an_apiserver_that_waits_for_etcd_can_be_terminated(assets: Path, tmp_path: Path) -> None:
    flags = ["--etcd-servers=http://127.0.0.1:1", "--audit-log-path=-", *account_flags(tmp_path)]
    with started(assets / "kube-apiserver", *flags) as server:
        assert server.stderr is not None
        said = server.stderr.readline()
        server.send_signal(signal.SIGINT)

        assert server.wait(AT_ONCE_SECONDS) == 0
    assert said == "kube-apiserver: accepted, but ignored: --audit-log-path\n"


def test_a_real_etcd_is_rejected(assets: Path, tmp_path: Path) -> None:
    at = tmp_path / "etcd.sock"
    # An etcd that does not support the requests of these launchers.
    script = (
        "import socketserver, sys, http.server as h\n"
        "class H(h.BaseHTTPRequestHandler):\n"
        "    def do_GET(self): self.send_error(404)\n"
        "    def log_message(self, *a): pass\n"
        "socketserver.UnixStreamServer(sys.argv[1], H).serve_forever()\n"
    )
    with started(Path(sys.executable), "-c", script, at):
        flags = [f"--etcd-servers=unix://{at}", *account_flags(tmp_path)]
        with started(assets / "kube-apiserver", *flags) as server:
            _, said = server.communicate()

    assert server.returncode == 1
    assert "is a real etcd" in said


def test_the_command_prints_the_directory_for_a_shell_variable(tmp_path: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "steersman", "cluster", "envtest", "assets"],
        cwd=tmp_path,
        env={**os.environ, "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )

    assert finished.stdout == f"{tmp_path / 'assets'}\n"
    assert finished.stderr == (
        "kube-apiserver and etcd were written, kubectl is not linked: it is not on the PATH\n"
    )


# Starts both programs as a test suite does, prints their process ids, and waits to be killed.
SUITE = """
import subprocess, sys
from steersman_cluster.testing.calls import HttpCaller, UnixConnection
from pathlib import Path
assets, directory, port = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
at = directory / "etcd.sock"
etcd = subprocess.Popen(
    [assets / "etcd", f"--data-dir={directory / 'data'}", f"--listen-client-urls=unix://{at}"],
    process_group=0,
)
while not HttpCaller(UnixConnection(at), headers={}).finds("/health"):
    pass
server = subprocess.Popen(
    [assets / "kube-apiserver", f"--etcd-servers=unix://{at}", f"--secure-port={port}",
     "--bind-address=127.0.0.1", "--permit-port-sharing", f"--cert-dir={directory}", *sys.argv[4:]],
    stderr=subprocess.PIPE,
    process_group=0,
)
while b"API at" not in server.stderr.readline():
    pass
print(etcd.pid, server.pid, flush=True)
sys.stdin.read()
"""


@contextmanager
def killed_suite(
    assets: Path, directory: Path, *, under: tuple[str, ...] = ()
) -> Iterator[tuple[list[int], subprocess.Popen[str]]]:
    """A killed suite, and the programs that it has started."""
    with reserved_port() as port:
        command = [*under, sys.executable, "-c", SUITE, str(assets), str(directory), str(port)]
        with subprocess.Popen(
            [*command, *account_flags(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as suite:
            assert suite.stdout is not None
            programs = [int(each) for each in suite.stdout.readline().split()]
            try:
                yield programs, suite
            finally:
                suite.kill()
                for each in programs:
                    with suppress(ProcessLookupError):
                        os.kill(each, signal.SIGKILL)


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_a_suite_that_is_killed_leaves_no_process_behind(
    by: signal.Signals, assets: Path, tmp_path: Path
) -> None:
    with killed_suite(assets, tmp_path) as (programs, suite):
        handles = [os.pidfd_open(each) for each in programs]
        suite.send_signal(by)
        suite.wait()

        ended = [each for each in handles if select([each], [], [], AT_ONCE_SECONDS)[0]]

        for each in handles:
            os.close(each)
    assert len(programs) == 2
    assert ended == handles


def test_detached_programs_outlive_their_starter(assets: Path, tmp_path: Path) -> None:
    with killed_suite(assets, tmp_path, under=("nohup",)) as (programs, suite):
        suite.kill()
        suite.wait()
        etcd = HttpCaller(UnixConnection(tmp_path / "etcd.sock"), headers={})
        responses = [etcd.finds("/health") for _ in range(20)]

        still = [is_running(each) for each in programs]

    assert responses == [True] * 20
    assert still == [True, True]
