"""``steersman run`` as a process, with a reachable and an unreachable cluster."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.programs import OPERATOR, Running, running, steersman

pytestmark = pytest.mark.programs

# Other programs may use the default ports.
QUIET = ("--health-address=", "--metrics-address=")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "operator.py").write_text(OPERATOR, encoding="utf-8")
    return tmp_path


@pytest.fixture
def cluster_up(home: Path) -> Iterator[Running]:
    """A cluster whose kubeconfig is in the operator's directory."""
    with running("cluster", "up", "--kubeconfig=kubeconfig", directory=home) as up:
        up.until("kubectl get namespaces")
        yield up


def run(home: Path, *arguments: str) -> Any:
    return running(
        "run", "operator.py", "--kubeconfig=kubeconfig", *QUIET, *arguments, directory=home
    )


def kubeconfig(path: Path, server: str) -> None:
    document = {
        "clusters": [{"name": "a", "cluster": {"server": server}}],
        "users": [{"name": "a", "user": {"token": "x"}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "current-context": "a",
    }
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    path.chmod(0o600)


@pytest.mark.usefixtures("cluster_up")
def test_run_installs_crds_on_request_and_runs_until_it_is_stopped(
    home: Path,
) -> None:
    with run(home, "--install-crds") as started:
        started.until("installed settings.app.example.com")
        started.until("running, after")
        said = started.end()

    assert started.process.returncode == 0
    assert "received SIGINT" in said


@pytest.mark.usefixtures("cluster_up")
def test_the_error_for_an_unknown_kind_says_what_to_do(home: Path) -> None:
    finished = steersman("run", "operator.py", "--kubeconfig=kubeconfig", directory=home)

    assert finished.returncode == 1
    assert finished.stderr == (
        "steersman: the API server does not serve app.example.com/v1 Setting. Run it with"
        " --install-crds, or apply the output of `steersman generate crd`.\n"
        "see: steersman explain ManagerFailed\n"
    )


@pytest.mark.usefixtures("cluster_up")
def test_a_missing_foreign_kind_is_distinguished_from_the_operators_own(
    home: Path,
) -> None:
    anvils = """
from steersman.kinds import Unstructured

Anvil = Unstructured.of("acme.io/v1", "Anvil")
anvils = sm.Controller(Anvil, reconcile=reconcile, name="anvil")
manager = sm.Manager(controllers=[controller, anvils])
"""
    (home / "operator.py").write_text(OPERATOR + anvils, encoding="utf-8")

    finished = steersman("run", "operator.py", "--kubeconfig=kubeconfig", directory=home)

    assert finished.returncode == 1
    assert finished.stderr == (
        "steersman: the API server does not serve app.example.com/v1 Setting, acme.io/v1 Anvil."
        " First install the CRDs of acme.io/v1 Anvil, or correct group and version;"
        " --install-crds installs the others.\n"
        "see: steersman explain ManagerFailed\n"
    )


@pytest.mark.usefixtures("cluster_up")
def test_a_controller_whose_kind_is_missing_is_reported_and_the_others_run(home: Path) -> None:
    anvils = """
from steersman.kinds import Unstructured

Anvil = Unstructured.of("acme.io/v1", "Anvil")
anvils = sm.Controller(Anvil, reconcile=reconcile, name="anvil")
manager = sm.Manager(controllers=[anvils, controller])
"""
    (home / "operator.py").write_text(OPERATOR + anvils, encoding="utf-8")

    with run(home, "--install-crds") as started:
        started.until("the controller anvil starts once the API server serves acme.io/v1 Anvil")
        started.until("setting: started with")
        started.end()

    assert started.process.returncode == 0


def test_the_error_for_an_unreachable_cluster_says_what_to_do(home: Path) -> None:
    kubeconfig(home / "kubeconfig", "https://127.0.0.1:1")

    finished = steersman("run", "operator.py", "--kubeconfig=kubeconfig", directory=home)

    assert finished.returncode == 1
    assert finished.stderr.count("\n") == 2
    assert finished.stderr.startswith(
        "steersman: https://127.0.0.1:1, the API server of context a of"
    )
    assert finished.stderr.endswith(
        "`steersman cluster up` starts one.\nsee: steersman explain ManagerFailed\n"
    )


def test_invalid_settings_exit_with_status_2(home: Path) -> None:
    finished = steersman("run", "operator.py", "--lease-seconds=soon", directory=home)

    assert finished.returncode == 2
    assert "--lease-seconds: 'soon' is not a length of time" in finished.stderr


def test_command_line_options_override_the_settings_in_code(home: Path) -> None:
    path = home / "operator.py"
    more = (
        'manager = sm.Manager(controllers=[controller], settings=sm.ManagerSettings(context="b"))'
    )
    path.write_text(f"{OPERATOR}\n{more}\n", encoding="utf-8")
    kubeconfig(home / "kubeconfig", "https://127.0.0.1:1")

    with_theirs = steersman("run", "operator.py", "--kubeconfig=kubeconfig", directory=home)
    with_ours = steersman(
        "run", "operator.py", "--kubeconfig=kubeconfig", "--context=a", directory=home
    )

    assert "does not contain the context 'b'" in with_theirs.stderr
    assert "does not respond" in with_ours.stderr


def test_a_script_gets_the_address_of_a_cluster(home: Path) -> None:
    with running("cluster", "up", "--kubeconfig=kubeconfig", "-o", "json", directory=home) as up:
        line = up.until(r'^\{"url"')
        up.end()

    connection = json.loads(up.lines[line - 1])
    assert connection["url"].startswith("https://127.0.0.1:")
    assert connection["kubeconfig"] == str(home / "kubeconfig")


@pytest.mark.usefixtures("cluster_up")
def test_the_error_for_a_missing_definition_says_what_to_do(home: Path) -> None:
    asked = ("generate", "models", "--from-cluster=widgets", "--kubeconfig=kubeconfig")

    finished = steersman(*asked, directory=home)

    assert finished.returncode == 1
    assert finished.stderr == (
        "steersman: widgets is not a CustomResourceDefinition: the cluster contains no definition"
        " with this name. Use plural and group, as in `kubectl get crd`: widgets.example.com\n"
        "see: steersman explain BadDefinition\n"
    )


def test_generating_models_from_an_unreachable_cluster_reports_its_address(home: Path) -> None:
    kubeconfig(home / "kubeconfig", "https://127.0.0.1:1")
    asked = ("generate", "models", "--from-cluster=widgets.example.com", "--kubeconfig=kubeconfig")

    finished = steersman(*asked, directory=home)

    assert finished.returncode == 1
    assert finished.stderr.startswith("steersman: https://127.0.0.1:1, the API server")
