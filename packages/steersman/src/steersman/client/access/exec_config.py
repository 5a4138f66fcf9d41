"""The ``exec`` section of a kubeconfig's user: the program, its permission and its input."""

import base64
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from steersman.client.access.cluster_config import ExecPlugin
from steersman.client.access.files import read_small_file
from steersman.client.access.kubeconfig_files import Entry, Exec, KubeconfigCluster, KubeconfigUser
from steersman.client.access.trust import ExecPolicy
from steersman.errors import CredentialPluginFailed

API_VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")

# The extension of a cluster that has the settings for its plugins.
CLUSTER_SETTINGS: Final = "client.authentication.k8s.io/exec"


def resolved_plugin(
    content: Exec,
    *,
    user: Entry[KubeconfigUser],
    cluster: KubeconfigCluster,
    ca: bytes | Path | None,
    policy: ExecPolicy,
    environ: Mapping[str, str],
) -> ExecPlugin:
    """Return the credential plugin that ``content`` configures, ready to start.

    Raise ``CredentialPluginFailed`` if ``policy`` does not permit the program.
    """
    if "KUBERNETES_SERVICE_HOST" in environ and not policy.in_cluster:
        raise CredentialPluginFailed(
            source=user.place,
            problem="it uses a credential plugin, which is not allowed inside a cluster",
            what_now="Use the Pod's service account, or set ExecPolicy(in_cluster=True).",
        )
    command = _resolved(content, user=user, environ=environ)
    if not policy.allows(command=content.command or "", resolved=str(command)):
        raise CredentialPluginFailed(
            source=user.place,
            problem=f"it uses the credential plugin {command}, which is not allowed",
            what_now="If this is the correct plugin, allow it with ExecPolicy(allowed=…).",
        )
    api_version = content.api_version or ""
    if api_version not in API_VERSIONS:
        raise CredentialPluginFailed(
            source=user.place,
            problem="the apiVersion of its exec section is not supported",
            what_now=f"Use a plugin that supports {' or '.join(API_VERSIONS)}.",
        )
    if content.interactive_mode == "Always" and not policy.terminal:
        raise CredentialPluginFailed(
            source=user.place,
            problem=f"{command} needs user input, but there is no terminal",
            what_now="Use a plugin without prompts, or allow it with ExecPolicy(terminal=True).",
        )
    interactive = policy.terminal and content.interactive_mode != "Never"
    spec: dict[str, object] = {"interactive": interactive}
    if content.provide_cluster_info:
        spec["cluster"] = _cluster_info(cluster, ca)
    info = {"apiVersion": api_version, "kind": "ExecCredential", "spec": spec}
    return ExecPlugin(
        command=command,
        args=content.args or (),
        environment={
            **environ,
            **{variable.name: variable.value or "" for variable in content.env or ()},
            "KUBERNETES_EXEC_INFO": json.dumps(info),
        },
        api_version=api_version,
        terminal=interactive,
        timeout_seconds=policy.timeout_seconds,
    )


def _resolved(content: Exec, *, user: Entry[KubeconfigUser], environ: Mapping[str, str]) -> Path:
    """Return the absolute path of the program.

    A name without a slash is looked up in PATH. A path is relative to the kubeconfig.
    """
    # Imported here: it imports many modules, and most kubeconfigs name no plugin.
    import shutil

    command = content.command or ""
    if os.sep not in command:
        found = shutil.which(command, path=environ.get("PATH", os.defpath))
    else:
        directory = user.origin.path.parent if user.origin.path else Path()
        found = shutil.which(directory / command)
    # A relative result depends on the working directory of this process. It comes from a relative
    # entry in PATH, or from a relative path in a kubeconfig that is not a file.
    if not command or found is None or not Path(found).is_absolute():
        hint = f" {content.install_hint}" if content.install_hint else ""
        raise CredentialPluginFailed(
            source=user.place,
            problem=f"its credential plugin {command!r} does not exist, or is not executable",
            what_now=f"Install it, or add its directory to PATH.{hint}",
        )
    return Path(found)


def _cluster_info(cluster: KubeconfigCluster, ca: bytes | Path | None) -> dict[str, object]:
    ca_data = read_small_file(ca) if isinstance(ca, Path) else ca
    settings = next(
        (each.extension for each in cluster.extensions or () if each.name == CLUSTER_SETTINGS), None
    )
    info: dict[str, object] = {
        "server": cluster.server,
        "tls-server-name": cluster.tls_server_name,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
        "certificate-authority-data": base64.b64encode(ca_data).decode() if ca_data else None,
        "proxy-url": cluster.proxy_url,
        "config": settings,
    }
    return {name: value for name, value in info.items() if value}
