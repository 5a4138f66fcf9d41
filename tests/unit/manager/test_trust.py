"""What a kubeconfig may make an operator do: both the author and the settings must allow it."""

import subprocess
import sys
from pathlib import Path

import pytest

from steersman.client import Trust, find_config
from steersman.errors import ConfigError
from steersman.manager import Manager, ManagerSettings, trust_of
from steersman.observe import ignore
from tests.unit.client.access.kubeconfigs import document, write_kubeconfig

PROGRAM = """\
import steersman as sm
sm.Manager().run()
"""
OFF = ("--health-address=", "--metrics-address=", "--lease-name=x")


def error_for(path: Path) -> str:
    with pytest.raises(ConfigError) as raised:
        find_config(environ={}, home=path.parent, observe=ignore, kubeconfig=path)
    return str(raised.value)


@pytest.fixture
def unverified(tmp_path: Path) -> Path:
    # Nothing listens there: an allowed configuration fails with its first request.
    cluster = {"insecure-skip-tls-verify": True, "server": "https://127.0.0.1:9"}
    return write_kubeconfig(tmp_path, document(cluster=cluster))


def prints(words: str, kubeconfig: Path, *arguments: str) -> bool:
    """Whether a program with a manager prints this text before it ends or is killed."""
    command = [sys.executable, "-c", PROGRAM, "--kubeconfig", str(kubeconfig), *OFF, *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            return any(words in line for line in process.stderr or ())
        finally:
            process.kill()


def test_the_error_about_an_unverified_server_names_the_settings_that_allow_it(
    unverified: Path,
) -> None:
    error = error_for(unverified)

    assert "--insecure-skip-tls-verify" in error
    assert "STEERSMAN_INSECURE_SKIP_TLS_VERIFY=true" in error
    assert "Manager(trust=Trust(unverified_servers=True))" in error


def test_the_settings_in_the_error_exist() -> None:
    by_flag = ManagerSettings.read(["--insecure-skip-tls-verify"], {}, prog="operator")
    by_variable = ManagerSettings.read(
        [], {"STEERSMAN_INSECURE_SKIP_TLS_VERIFY": "true"}, prog="operator"
    )
    by_code = Manager(trust=Trust(unverified_servers=True))

    assert trust_of(Trust(), by_flag).unverified_servers
    assert trust_of(Trust(), by_variable).unverified_servers
    assert trust_of(by_code.trust, ManagerSettings()).unverified_servers
    assert not trust_of(Trust(), ManagerSettings()).unverified_servers


def test_an_operator_uses_an_insecure_kubeconfig_allowed_by_author_and_settings(
    unverified: Path,
) -> None:
    assert prints("it sets insecure-skip-tls-verify", unverified)
    allowed = "the server's certificate is not verified"
    assert prints(allowed, unverified, "--insecure-skip-tls-verify")
