"""The places where a cluster's configuration is searched, and their order."""

from pathlib import Path

import pytest

from steersman.client.access.cluster_config import ClusterConfig
from steersman.client.access.config_lookup import find_config
from steersman.errors import ConfigError
from steersman.observe import ignore
from tests.unit.client.access.kubeconfigs import document, write_kubeconfig

POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


class Machine:
    """A home directory, a place for a service account, and kubeconfigs."""

    def __init__(self, directory: Path) -> None:
        self.home = directory / "home"
        self.service_account = directory / "serviceaccount"
        self.explicit = self._kubeconfig(directory / "explicit")
        self.named = self._kubeconfig(directory / "named")
        self.environ: dict[str, str] = {}

    def _kubeconfig(self, directory: Path) -> Path:
        directory.mkdir(parents=True)
        server = f"https://{directory.name.strip('.')}"
        return write_kubeconfig(directory, document(cluster={"server": server}))

    def become_a_pod(self) -> None:
        self.service_account.mkdir()
        for name in ("token", "ca.crt", "namespace"):
            (self.service_account / name).write_text("x")
        self.environ |= POD

    def add_default_kubeconfig(self) -> None:
        self._kubeconfig(self.home / ".kube")

    def find(self, *, kubeconfig: Path | None = None, context: str | None = None) -> ClusterConfig:
        return find_config(
            environ=self.environ,
            home=self.home,
            observe=ignore,
            kubeconfig=kubeconfig,
            context=context,
            service_account=self.service_account,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_arguments_take_precedence_over_variables_and_defaults(machine: Machine) -> None:
    machine.add_default_kubeconfig()
    assert machine.find().server == "https://kube"

    machine.become_a_pod()
    assert machine.find().server == "https://10.0.0.1:443"

    machine.environ["KUBECONFIG"] = str(machine.named)
    assert machine.find().server == "https://named"

    assert machine.find(kubeconfig=machine.explicit).server == "https://explicit"


def test_several_kubeconfigs_are_merged(machine: Machine, tmp_path: Path) -> None:
    machine.environ["KUBECONFIG"] = f"{tmp_path}/missing::{machine.named}:{machine.explicit}"

    assert machine.find().server == "https://named"


def test_an_empty_variable_counts_as_unset(machine: Machine) -> None:
    machine.environ["KUBECONFIG"] = ""
    machine.add_default_kubeconfig()

    assert machine.find().server == "https://kube"


def test_a_context_is_looked_up_only_in_kubeconfigs(machine: Machine) -> None:
    machine.become_a_pod()
    machine.add_default_kubeconfig()

    assert machine.find(context="here").server == "https://kube"


def test_a_pod_without_a_service_account_can_use_a_kubeconfig(machine: Machine) -> None:
    machine.environ |= POD
    machine.add_default_kubeconfig()

    assert machine.find().server == "https://kube"


def test_a_named_but_missing_kubeconfig_is_an_error(machine: Machine, tmp_path: Path) -> None:
    machine.become_a_pod()
    machine.add_default_kubeconfig()

    with pytest.raises(ConfigError, match=f"{tmp_path}/gone: the file does not exist"):
        machine.find(kubeconfig=tmp_path / "gone")

    machine.environ["KUBECONFIG"] = f"{tmp_path}/gone"
    with pytest.raises(ConfigError, match=f"{tmp_path}/gone: the file does not exist"):
        machine.find()


def test_an_error_lists_every_place_that_was_searched(machine: Machine) -> None:
    with pytest.raises(ConfigError) as nothing:
        machine.find()

    for place in ("$KUBECONFIG", machine.service_account, machine.home / ".kube" / "config"):
        assert str(place) in str(nothing.value)
