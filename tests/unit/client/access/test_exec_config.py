"""The exec section of a kubeconfig: the program, whether it may run, and its input."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from steersman.client.access.cluster_config import ExecPlugin
from steersman.client.access.kubeconfig import Kubeconfig
from steersman.client.access.trust import ExecPolicy, Trust
from steersman.errors import CredentialPluginFailed
from steersman.observe import ignore
from tests.unit.client.access.kubeconfigs import (
    CANARY,
    SERVER,
    document,
    read_config,
    write_kubeconfig,
)

V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"


def program(directory: Path, name: str = "plugin") -> Path:
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.touch(mode=0o700)
    return path


def plugin_of(
    directory: Path,
    exec_: Mapping[str, Any],
    *,
    cluster: Mapping[str, Any] | None = None,
    policy: ExecPolicy = ExecPolicy(),
    environ: Mapping[str, str] | None = None,
) -> ExecPlugin:
    section = {"apiVersion": V1, "command": "plugin", **exec_}
    path = write_kubeconfig(directory, document(cluster=cluster, user={"exec": section}))
    login = read_config(path, trust=Trust(plugins=policy), environ=environ).login
    assert isinstance(login, ExecPlugin)
    return login


def exec_info(plugin: ExecPlugin) -> Any:
    return json.loads(plugin.environment["KUBERNETES_EXEC_INFO"])


def test_a_bare_command_is_looked_up_once_in_path(tmp_path: Path) -> None:
    found = program(tmp_path / "bin")
    program(tmp_path)

    plugin = plugin_of(tmp_path, {}, environ={"PATH": f"/nowhere:{tmp_path}/bin"})

    assert plugin.command == found


@pytest.mark.parametrize("command", ["./bin/plugin", "bin/plugin"])
def test_a_relative_command_is_resolved_from_the_kubeconfig(command: str, tmp_path: Path) -> None:
    found = program(tmp_path / "bin")

    plugin = plugin_of(tmp_path, {"command": command})

    assert plugin.command.samefile(found)
    assert plugin.command.is_absolute()


def test_a_relative_command_without_a_kubeconfig_file_is_rejected() -> None:
    section = {"apiVersion": V1, "command": "bin/sh"}
    content = json.dumps(document(user={"exec": section})).encode()
    kubeconfig = Kubeconfig.parse(content, source="Secret default/remote")

    with pytest.raises(CredentialPluginFailed, match="'bin/sh' does not exist"):
        kubeconfig.choose(trust=Trust(), environ={}, observe=ignore)


@pytest.mark.parametrize("path", [".", "", "bin", "/nowhere"])
def test_a_command_is_never_found_in_the_working_directory(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path)
    program(tmp_path / "bin")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(CredentialPluginFailed, match=r"does not exist.*brew install plugin"):
        plugin_of(tmp_path, {"installHint": "brew install plugin"}, environ={"PATH": path})


def test_a_plugin_gets_the_environment_and_the_kubeconfigs_variables(tmp_path: Path) -> None:
    program(tmp_path)
    environ = {"PATH": str(tmp_path), "HOME": "/a/home", "REGION": "one"}
    exec_ = {
        "args": ["get-token", "--cluster", "x"],
        "env": [
            {"name": "REGION", "value": "two"},
            {"name": "KUBERNETES_EXEC_INFO", "value": "no"},
        ],
    }

    plugin = plugin_of(tmp_path, exec_, environ=environ)

    assert plugin.args == ("get-token", "--cluster", "x")
    assert plugin.environment["HOME"] == "/a/home"
    assert plugin.environment["REGION"] == "two"
    assert exec_info(plugin) == {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "spec": {"interactive": False},
    }


def test_a_plugin_with_provide_cluster_info_gets_the_cluster(tmp_path: Path) -> None:
    program(tmp_path)
    (tmp_path / "ca.crt").write_text("ca")
    cluster = {
        "certificate-authority": "ca.crt",
        "tls-server-name": "kube",
        "extensions": [
            {"name": "another", "extension": {"a": "b"}},
            {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}},
        ],
    }

    plugin = plugin_of(
        tmp_path,
        {"apiVersion": V1BETA1, "command": "./plugin", "provideClusterInfo": True},
        cluster=cluster,
    )

    assert exec_info(plugin) == {
        "apiVersion": V1BETA1,
        "kind": "ExecCredential",
        "spec": {
            "interactive": False,
            "cluster": {
                "server": SERVER,
                "tls-server-name": "kube",
                "certificate-authority-data": "Y2E=",
                "config": {"audience": "x"},
            },
        },
    }


@pytest.mark.parametrize("version", ["", "v1", "client.authentication.k8s.io/v1alpha1"])
def test_only_supported_api_versions_are_accepted(version: str, tmp_path: Path) -> None:
    program(tmp_path)

    with pytest.raises(CredentialPluginFailed, match="exec section is not supported"):
        plugin_of(tmp_path, {"apiVersion": version, "command": "./plugin"})


def test_an_interactive_plugin_is_rejected_without_a_terminal(tmp_path: Path) -> None:
    program(tmp_path)
    exec_ = {"command": "./plugin", "interactiveMode": "Always"}

    with pytest.raises(CredentialPluginFailed, match="there is no terminal"):
        plugin_of(tmp_path, exec_)

    assert plugin_of(tmp_path, exec_, policy=ExecPolicy(terminal=True)).terminal


@pytest.mark.parametrize(("mode", "asks"), [("Never", False), ("IfAvailable", True), (None, True)])
def test_a_plugin_may_use_the_terminal_unless_its_interactive_mode_is_never(
    mode: str | None, asks: bool, tmp_path: Path
) -> None:
    program(tmp_path)

    plugin = plugin_of(
        tmp_path,
        {"command": "./plugin", "interactiveMode": mode},
        policy=ExecPolicy(terminal=True),
    )

    assert plugin.terminal is asks
    assert exec_info(plugin)["spec"]["interactive"] is asks


def test_inside_a_cluster_no_plugin_is_started_unless_that_is_allowed(tmp_path: Path) -> None:
    found = program(tmp_path)
    environ = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "PATH": str(tmp_path)}

    with pytest.raises(CredentialPluginFailed, match=r"ExecPolicy\(in_cluster=True\)"):
        plugin_of(tmp_path, {}, environ=environ)

    allowed = plugin_of(tmp_path, {}, environ=environ, policy=ExecPolicy(in_cluster=True))
    assert allowed.command == found


def test_an_allowlist_has_command_names_or_absolute_paths(tmp_path: Path) -> None:
    found = program(tmp_path / "bin")
    impostor = program(tmp_path / "impostor")
    environ = {"PATH": str(tmp_path / "bin")}

    def is_allowed(command: str | Path, *allowed: str | Path) -> bool:
        policy = ExecPolicy(allowed=frozenset(map(str, allowed)))
        try:
            plugin_of(tmp_path, {"command": str(command)}, environ=environ, policy=policy)
        except CredentialPluginFailed:
            return False
        return True

    assert is_allowed("plugin", "plugin")
    assert is_allowed("plugin", found)
    assert is_allowed(found, found)
    assert not is_allowed("plugin", "another")
    assert not is_allowed("plugin")
    assert not is_allowed(impostor, "plugin", found)
    assert not is_allowed("./impostor/plugin", "plugin")


def test_the_error_for_a_command_that_is_not_allowed_has_its_whole_path(tmp_path: Path) -> None:
    policy = ExecPolicy(allowed=frozenset({"aws"}))

    with pytest.raises(
        CredentialPluginFailed, match=r"user me in .*config: it uses the credential plugin /.*/sh"
    ):
        plugin_of(
            tmp_path,
            {"command": "sh", "args": ["-c", CANARY]},
            environ={"PATH": "/usr/bin:/bin"},
            policy=policy,
        )
