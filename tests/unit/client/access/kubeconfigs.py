"""Kubeconfigs for tests, and what becomes of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steersman.client.access.cluster_config import ClusterConfig
from steersman.client.access.kubeconfig import Kubeconfig
from steersman.client.access.trust import Trust
from steersman.observe import Observer, ignore

SERVER = "https://kube.example.com:6443"

# What must appear in no message, repr or log.
CANARY = "c4n4ry-s3cr3t"


def document(
    *, cluster: Mapping[str, Any] | None = None, user: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A kubeconfig with one of each; what is given is added to the cluster and the user."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "there", "cluster": {"server": SERVER, **(cluster or {})}}],
        "users": [{"name": "me", "user": dict(user or {})}],
        "contexts": [
            {"name": "here", "context": {"cluster": "there", "user": "me", "namespace": "apps"}}
        ],
        "current-context": "here",
    }


def written(directory: Path, content: Mapping[str, Any], *, name: str = "config") -> Path:
    """The path of a file with this kubeconfig, which only its owner may read."""
    path = directory / name
    # With a comment, as JSON has none: what people have is YAML.
    path.write_text(f"# Config\n{json.dumps(content)}")
    path.chmod(0o600)
    return path


def chosen(
    path: Path,
    context: str | None = None,
    *,
    trust: Trust = Trust(),
    environ: Mapping[str, str] | None = None,
    observe: Observer = ignore,
) -> ClusterConfig:
    """What the kubeconfig at ``path`` means."""
    kubeconfig = Kubeconfig.read(path)
    return kubeconfig.choose(context, trust=trust, environ=environ or {}, observe=observe)
