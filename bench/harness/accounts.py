"""Users of a control plane who may do everything, each with a kubeconfig of its own."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from steersman_cluster.testing import RealControlPlane

RBAC = "rbac.authorization.k8s.io"
BINDINGS = f"/apis/{RBAC}/v1/clusterrolebindings"


def create(plane: RealControlPlane, path: str, body: Mapping[str, Any]) -> Any:
    """What the server has made of ``body``, in the collection at ``path``."""
    with plane.caller() as api:
        answer = api.call("POST", path, body)
    if answer.status != HTTPStatus.CREATED:
        raise AssertionError(f"POST {path} was answered {answer.status}: {answer.body!r}")
    return answer.json()


def allow_everything(plane: RealControlPlane, name: str, *, to: Mapping[str, str]) -> None:
    """Bind a subject to the role that may do everything; the binding has this name."""
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"}
    create(plane, BINDINGS, {"metadata": {"name": name}, "roleRef": role, "subjects": [to]})


def write_kubeconfig(plane: RealControlPlane, file: Path, *, user: str, token: str) -> Path:
    """A kubeconfig at ``file`` that has only ``user``."""
    config = json.loads(plane.kubeconfig.read_text())
    context = {"cluster": config["clusters"][0]["name"], "user": user}
    # Some programs take the first of everything, whatever the context says.
    config |= {
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": user, "context": context}],
        "current-context": user,
    }
    file.touch(mode=0o600)
    file.write_text(json.dumps(config))
    return file
