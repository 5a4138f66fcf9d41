"""Cluster administrators of a control plane, each with its own kubeconfig."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from steersman_cluster.testing import RealControlPlane

RBAC = "rbac.authorization.k8s.io"
BINDINGS = f"/apis/{RBAC}/v1/clusterrolebindings"


def create(plane: RealControlPlane, path: str, body: Mapping[str, Any]) -> Any:
    """Create ``body`` in the collection at ``path``, and return the object."""
    with plane.caller() as api:
        response = api.call("POST", path, body)
    if response.status != HTTPStatus.CREATED:
        raise AssertionError(f"POST {path}: status {response.status}: {response.body!r}")
    return response.json()


def allow_everything(plane: RealControlPlane, name: str, *, to: Mapping[str, str]) -> None:
    """Bind a subject to the role cluster-admin, with a binding of the given name."""
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"}
    create(plane, BINDINGS, {"metadata": {"name": name}, "roleRef": role, "subjects": [to]})


def write_kubeconfig(plane: RealControlPlane, file: Path, *, user: str, token: str) -> Path:
    """Write a kubeconfig with one user, and return its path."""
    config = json.loads(plane.kubeconfig.read_text())
    context = {"cluster": config["clusters"][0]["name"], "user": user}
    # Some programs ignore the context, and use the first user and cluster.
    config |= {
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": user, "context": context}],
        "current-context": user,
    }
    file.touch(mode=0o600)
    file.write_text(json.dumps(config))
    return file
