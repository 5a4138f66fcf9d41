"""``steersman cluster up`` as a process: its output, its files and its end."""

import base64
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPSConnection, IncompleteRead
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from steersman_cluster.testing.calls import HttpCaller, HttpResponse
from tests.certificates import Authority
from tests.cluster.programs import END_SECONDS

pytestmark = pytest.mark.programs

MAPS = "/api/v1/namespaces/default/configmaps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Up:
    """A running cluster: its process, its output and its files."""

    process: subprocess.Popen[str]
    said: str
    kubeconfig: Path
    temporary: Path

    @property
    def config(self) -> Any:
        return yaml.safe_load(self.kubeconfig.read_text(encoding="utf-8"))

    @property
    def cluster(self) -> Any:
        return self.config["clusters"][0]["cluster"]

    @property
    def token(self) -> str:
        return str(self.config["users"][0]["user"]["token"])

    def connection(
        self, *, tls: ssl.SSLContext | None = None, ca: bytes | None = None
    ) -> HTTPSConnection:
        """A connection that trusts the CA of the kubeconfig by default."""
        trusted = ca or base64.b64decode(self.cluster["certificate-authority-data"])
        context = tls or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=trusted.decode())
        at = urlsplit(self.cluster["server"])
        return HTTPSConnection(at.hostname or "", at.port, timeout=10, context=context)

    def caller(self, *, token: str | None = None, **how: Any) -> HttpCaller:
        """Plain requests, by default as the user of the kubeconfig."""
        token = self.token if token is None else token
        return HttpCaller(self.connection(**how), headers=bearing(token) if token else {})

    def ask(self, method: str, path: str, body: object = None, **how: Any) -> HttpResponse:
        with self.caller(**how) as caller:
            return caller.call(method, path, body)

    def end(self, by: signal.Signals = signal.SIGINT) -> str:
        """Stop it; return its further output."""
        self.process.send_signal(by)
        _, said = self.process.communicate(timeout=END_SECONDS)
        return said


def bearing(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "steersman", "cluster", "up", *map(str, arguments)]


def environment(temporary: Path, **more: str) -> Mapping[str, str]:
    environ = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
    return {**environ, "TMPDIR": str(temporary), **more}


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """The directory for temporary files of the process."""
    place = tmp_path / "temporary"
    place.mkdir()
    return place


@contextmanager
def running(temporary: Path, *arguments: str | Path, under: tuple[str, ...] = ()) -> Iterator[Up]:
    """A cluster that has reported that it is ready; it is killed at the end if it still runs."""
    process = subprocess.Popen(
        [*under, *command(*arguments)],
        env=environment(temporary),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    with process:
        try:
            said = ""
            while "kubectl get namespaces" not in said:
                line = process.stderr.readline()
                assert line, said
                said += line
            path = re.search(r"export KUBECONFIG=(.*)", said)
            assert path is not None
            yield Up(process=process, said=said, kubeconfig=Path(path[1]), temporary=temporary)
        finally:
            process.kill()


def failing(temporary: Path, *arguments: str | Path, **environ: str) -> tuple[int, str]:
    """The exit status and the output of a failed start."""
    finished = subprocess.run(
        command(*arguments),
        env=environment(temporary, **environ),
        capture_output=True,
        text=True,
        timeout=END_SECONDS,
        check=False,
    )
    assert finished.stdout == ""
    return finished.returncode, finished.stderr


def test_a_ready_cluster_prints_its_address_and_a_command_to_paste(temporary: Path) -> None:
    with running(temporary) as up:
        version = up.ask("GET", "/version")

    first, *rest = up.said.splitlines()
    assert re.fullmatch(
        r"Kubernetes 1\.36 cluster with 1 node at https://127\.0\.0\.1:\d+, in memory\."
        r" Stop it with Ctrl-C\.",
        first,
    )
    assert [line.strip() for line in rest if line] == [
        f"export KUBECONFIG={up.kubeconfig}",
        "kubectl get namespaces",
    ]
    assert version.json()["minor"] == "36"


def test_the_kubeconfig_is_private_and_complete(temporary: Path, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"

    with running(temporary, "--kubeconfig", path) as up:
        mode = path.stat().st_mode & 0o777
        config = up.config
        found = up.ask("GET", "/api/v1/namespaces/default")

    assert mode == 0o600
    assert config["current-context"] == "steersman"
    trusted = config["clusters"][0]["cluster"]["certificate-authority-data"]
    assert base64.b64decode(trusted).startswith(b"-----BEGIN CERTIFICATE-----")
    assert found.status == 200


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_leaves_nothing_behind(by: signal.Signals, temporary: Path, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"

    with running(temporary, "--kubeconfig", path) as up, up.caller() as caller:
        caller.call("POST", MAPS, {"metadata": {"name": "a"}})
        before = list(temporary.iterdir())
        last_words = up.end(by)

    assert before != []
    assert up.process.returncode == 0
    assert last_words.strip() == "The cluster stopped."
    assert list(temporary.iterdir()) == []
    assert not path.exists()


def test_a_hangup_that_was_ignored_at_the_start_stays_ignored(temporary: Path) -> None:
    with running(temporary, under=("nohup",)) as up:
        up.process.send_signal(signal.SIGHUP)
        answer = up.ask("GET", MAPS)
        dispositions = Path(f"/proc/{up.process.pid}/status").read_text(encoding="utf-8")
        last_words = up.end(signal.SIGTERM)

    ignored = re.search(r"SigIgn:\s*([0-9a-f]+)", dispositions)
    assert ignored is not None
    assert int(ignored[1], 16) & 1 << signal.SIGHUP - 1
    assert answer.status == 200
    assert last_words.strip() == "The cluster stopped."


def test_ctrl_c_does_not_wait_for_open_watches(temporary: Path) -> None:
    with running(temporary) as up, closing(up.connection()) as connection:
        connection.request("GET", f"{MAPS}?watch=1", headers=bearing(up.token))
        response = connection.getresponse()
        last_words = up.end()

        with pytest.raises(IncompleteRead):
            response.read()

    assert up.process.returncode == 0
    assert last_words.strip() == "The cluster stopped."


REFUSED: dict[str, tuple[tuple[str, ...], dict[str, str], str, str]] = {
    "inside a cluster": (
        (),
        {"KUBERNETES_SERVICE_HOST": "10.0.0.1"},
        "this process runs inside a Kubernetes cluster",
        "Use --force to start one anyway.",
    ),
    "a port in use": (
        ("--port", "{taken}"),
        {},
        "cannot listen on 127.0.0.1 port {taken}: address already in use",
        "Choose another --port, 0 for any free port, or another --bind-address.",
    ),
    "another cluster's kubeconfig": (
        ("--kubeconfig", "{foreign}"),
        {},
        "{foreign} exists and does not belong to an embedded cluster",
        "Set another --kubeconfig; KUBECONFIG=a:b merges two files.",
    ),
    "a kubeconfig that is nowhere": (
        ("--kubeconfig", "{nowhere}/kubeconfig"),
        {},
        "{nowhere}/kubeconfig cannot be written: No such file or directory",
        "Set --kubeconfig to a path in an existing directory that you may write to.",
    ),
    "data in a file": (
        ("--data", "{foreign}/data"),
        {},
        "the data in {foreign}/data cannot be used",
        "Stop the cluster that is using it, or name another directory.",
    ),
    "an address that is none": (
        ("--bind-address", "nonsense"),
        {},
        "nonsense is not an IP address",
        "Set --bind-address to an IP address of this machine, such as 127.0.0.1.",
    ),
    "a certificate without its key": (
        ("--tls-cert-file", "{foreign}"),
        {},
        "only one of the certificate and its private key is given",
        "Give both --tls-cert-file and --tls-private-key-file, or neither.",
    ),
    "a file of tokens that is none": (
        ("--token-auth-file", "{foreign}"),
        {},
        "line 1 of {foreign} is not TOKEN,USER,UID",
        "Correct the line, or omit --token-auth-file.",
    ),
    "a file of tokens that is no text": (
        ("--token-auth-file", "{binary}"),
        {},
        "{binary} is not text in UTF-8: invalid start byte at byte 0",
        "Check the path, or save the file in UTF-8.",
    ),
    "a kubeconfig that is nested too deeply": (
        ("--kubeconfig", "{deep}"),
        {},
        "{deep} exists and does not belong to an embedded cluster",
        "Set another --kubeconfig; KUBECONFIG=a:b merges two files.",
    ),
    "a file that is not there": (
        ("--client-ca-file", "{nowhere}"),
        {},
        "cannot be used",
        "Check that the files exist, are PEM, and belong together.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_error_says_what_to_do_and_where_it_is_explained(
    case: str, temporary: Path, tmp_path: Path
) -> None:
    arguments, environ, problem, what_now = REFUSED[case]
    foreign = tmp_path / "foreign"
    foreign.write_text("clusters: []\n", encoding="utf-8")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "deep").write_text("[" * 5_000 + "]" * 5_000, encoding="utf-8")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        names = {
            "taken": taken.getsockname()[1],
            "foreign": foreign,
            "binary": tmp_path / "binary",
            "deep": tmp_path / "deep",
            "nowhere": tmp_path / "nowhere",
        }

        status, said = failing(temporary, *(each.format(**names) for each in arguments), **environ)

    message, explanation = said.splitlines()
    assert status == 1
    assert message.startswith("steersman: ")
    assert problem.format(**names) in message
    assert message.endswith(what_now)
    assert explanation.startswith("see: steersman explain ")
    assert foreign.read_text(encoding="utf-8") == "clusters: []\n"
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("wrong", ["--prot=80", "--port=many", "--port=70000"])
def test_wrong_usage_ends_with_status_2(wrong: str, temporary: Path) -> None:
    status, said = failing(temporary, wrong)

    assert status == 2
    assert "Usage: steersman cluster up" in said


def test_the_error_for_truncated_data_says_what_to_do(temporary: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(temporary, "--data", data) as up:
        up.ask("POST", MAPS, {"metadata": {"name": "a"}})
        up.end(signal.SIGKILL)
    log = data / "steersman.db-wal"
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size // 2)

    status, said = failing(temporary, "--data", data)

    assert status == 1
    assert said.startswith(f"steersman: the data in {data} is incomplete: it ends at revision ")
    message, explanation = said.splitlines()
    assert message.endswith(f"echo accept > {data}/steersman.head")
    assert explanation == "see: steersman explain ClusterError"


def test_a_kubeconfig_that_a_killed_cluster_left_is_replaced(
    temporary: Path, tmp_path: Path
) -> None:
    path = tmp_path / "kubeconfig"
    with running(temporary, "--kubeconfig", path) as killed:
        first = killed.token
        killed.end(signal.SIGKILL)

    with running(temporary, "--kubeconfig", path) as up:
        assert up.token != first
        assert up.ask("GET", "/api").status == 200
        assert up.ask("GET", "/api", token=first).status == 401


def test_after_kill_9_every_acknowledged_write_exists_and_versions_keep_increasing(
    temporary: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    acknowledged: list[Any] = []
    with running(temporary, "--data", data) as up, up.caller() as caller:
        for number in range(50):
            answer = caller.call("POST", MAPS, {"metadata": {"name": f"cm-{number:02}"}})
            assert answer.status == 201
            acknowledged.append(answer.json())
        caller.call("DELETE", f"{MAPS}/cm-00")
        gone, *kept = acknowledged
        up.end(signal.SIGKILL)

    with running(temporary, "--data", data) as again:
        listed = again.ask("GET", MAPS).json()
        created = again.ask("POST", MAPS, {"metadata": {"name": gone["metadata"]["name"]}}).json()

    found = {each["metadata"]["name"]: each["metadata"] for each in listed["items"]}
    found.pop("kube-root-ca.crt", None)  # created by the cluster, perhaps after the count
    assert found == {each["metadata"]["name"]: each["metadata"] for each in kept}
    versions = [int(each["metadata"]["resourceVersion"]) for each in (*acknowledged, created)]
    assert versions == sorted(set(versions))
    assert int(listed["metadata"]["resourceVersion"]) > versions[-2]
    assert f"kept in {data}" in again.said


def test_two_clusters_cannot_share_a_data_directory(temporary: Path, tmp_path: Path) -> None:
    with running(temporary, "--data", tmp_path / "data") as up:
        status, said = failing(temporary, "--data", tmp_path / "data")
        still = up.ask("GET", "/readyz").status

    assert (status, still) == (1, 200)
    assert "Stop the cluster that is using it, or name another directory." in said


def test_users_authenticate_with_a_token_file_or_certificates(
    temporary: Path, tmp_path: Path
) -> None:
    clients = Authority("of clients")
    (tmp_path / "tokens").write_text('secret,jane,1,"editors,readers"\n', encoding="utf-8")
    (tmp_path / "ca").write_bytes(clients.certificate)
    pair = clients.client("joe", "system:masters")
    (tmp_path / "joe").write_bytes(pair.certificate + pair.key)
    tls = ssl.create_default_context()
    tls.load_cert_chain(tmp_path / "joe")
    whoami = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}

    with running(
        temporary, "--token-auth-file", tmp_path / "tokens", "--client-ca-file", tmp_path / "ca"
    ) as up:
        jane = up.ask("POST", whoami, review, token="secret").json()["status"]["userInfo"]
        joe = up.ask("POST", whoami, review, token="", tls=tls).json()["status"]["userInfo"]
        may = {
            "jane": up.ask("GET", MAPS, token="secret").status,
            "joe": up.ask("GET", MAPS, token="", tls=tls).status,
        }

    assert (jane["username"], jane["groups"][:2]) == ("jane", ["editors", "readers"])
    assert (joe["username"], joe["groups"][:1]) == ("joe", ["system:masters"])
    assert may == {"jane": 403, "joe": 200}


def test_the_kubeconfig_trusts_a_given_server_certificate(temporary: Path, tmp_path: Path) -> None:
    authority = Authority()
    pair = authority.server("127.0.0.1")
    (tmp_path / "crt").write_bytes(pair.certificate)
    (tmp_path / "key").write_bytes(pair.key)

    with running(
        temporary, "--tls-cert-file", tmp_path / "crt", "--tls-private-key-file", tmp_path / "key"
    ) as up:
        answer = up.ask("GET", "/readyz", ca=authority.certificate)
        shown = base64.b64decode(up.cluster["certificate-authority-data"])

    assert answer.status == 200
    assert shown == pair.certificate


DEPLOYMENT = {
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": "nginx"}]},
        },
    },
}
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
LOOKS = 200
PAUSE = threading.Event()


def test_a_cluster_runs_pods_on_as_many_nodes_as_configured(temporary: Path) -> None:
    with running(temporary, "--nodes=2") as up:
        up.ask("POST", DEPLOYMENTS, DEPLOYMENT)
        for _ in range(LOOKS):
            status = up.ask("GET", f"{DEPLOYMENTS}/web").json()["status"]
            if status.get("availableReplicas") == 2:
                break
            PAUSE.wait(0.05)
        nodes = up.ask("GET", "/api/v1/nodes").json()["items"]
        pods = up.ask("GET", "/api/v1/namespaces/default/pods").json()["items"]
        root_ca = up.ask("GET", "/api/v1/namespaces/default/configmaps/kube-root-ca.crt").json()
        said = up.said + up.end()

    assert [each["metadata"]["name"] for each in nodes] == ["node-1", "node-2"]
    assert [each["status"]["phase"] for each in pods] == ["Running", "Running"]
    assert root_ca["data"]["ca.crt"].startswith("-----BEGIN CERTIFICATE-----")
    assert "cluster with 2 nodes at https" in said
    assert "WARNING" not in said
    assert "ERROR" not in said


def test_a_cluster_is_ready_before_its_controllers_are_imported() -> None:
    program = "import sys, steersman_cluster.commands.embedded_cluster; print(*sys.modules)"
    said = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout

    assert "steersman_cluster.apiserver.server.running_cluster" in said.split()
    assert {"steersman.cache", "steersman.controller", "steersman.manager"}.isdisjoint(said.split())


def test_without_workloads_no_controller_acts_on_objects(temporary: Path) -> None:
    with running(temporary, "--no-workloads") as up:
        up.ask("POST", DEPLOYMENTS, DEPLOYMENT)
        accounts = up.ask("GET", "/api/v1/namespaces/default/serviceaccounts").json()["items"]
        nodes = up.ask("GET", "/api/v1/nodes").json()["items"]

        assert "Kubernetes 1.36 API at https" in up.said

    assert (accounts, nodes) == ([], [])


def test_an_excluded_part_does_not_act(temporary: Path) -> None:
    with running(temporary, "--without=scheduler", "--without", "garbagecollector") as up:
        up.ask("POST", DEPLOYMENTS, DEPLOYMENT)
        for _ in range(LOOKS):
            status = up.ask("GET", f"{DEPLOYMENTS}/web").json().get("status") or {}
            if status.get("replicas") == 2:
                break
            PAUSE.wait(0.05)
        pods = up.ask("GET", "/api/v1/namespaces/default/pods").json()["items"]

    assert [each["status"]["phase"] for each in pods] == ["Pending", "Pending"]
    assert [each["spec"].get("nodeName") for each in pods] == [None, None]


def test_the_error_for_an_unknown_part_suggests_a_name(temporary: Path) -> None:
    status, said = failing(temporary, "--without", "Schedular")

    assert status == 2
    assert "there is no part 'Schedular' of a cluster. Did you mean 'scheduler'? Choose" in said
