"""Kubeconfigs for tests, and functions that read them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steersman.client.access.cluster_config import ClusterConfig
from steersman.client.access.kubeconfig import Kubeconfig
from steersman.client.access.trust import Trust
from steersman.observe import Observer, ignore

SERVER = "https://kube.example.com:6443"

# A secret that must not appear in any message, repr or log.
CANARY = "c4n4ry-s3cr3t"


def document(
    *, cluster: Mapping[str, Any] | None = None, user: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A kubeconfig with one cluster and one user, which the arguments extend, and one context."""
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


def write_kubeconfig(directory: Path, content: Mapping[str, Any], *, name: str = "config") -> Path:
    """Write a kubeconfig that only its owner may read, and return its path."""
    path = directory / name
    # The comment makes it YAML: JSON has no comments.
    path.write_text(f"# Config\n{json.dumps(content)}")
    path.chmod(0o600)
    return path


def read_config(
    path: Path,
    context: str | None = None,
    *,
    trust: Trust = Trust(),
    environ: Mapping[str, str] | None = None,
    observe: Observer = ignore,
) -> ClusterConfig:
    """The configuration from the kubeconfig at ``path``."""
    kubeconfig = Kubeconfig.read(path)
    return kubeconfig.choose(context, trust=trust, environ=environ or {}, observe=observe)
