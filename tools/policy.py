"""``python -m tools.policy``: write the initial roles and bindings of a real API server to a file.

It starts a control plane; ``make control-plane`` provides the programs.
"""

import json
import os
from pathlib import Path
from typing import Any

from steersman.clock import SystemClock
from steersman_cluster.testing import find_binaries, running_real_control_plane
from steersman_cluster.testing.calls import HttpCaller

POLICY = (
    Path(__file__).parents[1]
    / "packages/steersman-cluster/src/steersman_cluster/apiserver/registry/policy-1.36.json"
)
GROUP = "/apis/rbac.authorization.k8s.io/v1"
RESOURCES = ("clusterroles", "clusterrolebindings", "roles", "rolebindings")

# Fields that differ between servers and starts.
PASSING = ("uid", "resourceVersion", "creationTimestamp", "managedFields")


def policy_from(server: HttpCaller) -> list[dict[str, Any]]:
    """Every role and binding, without the fields that differ."""
    found: list[dict[str, Any]] = []
    for resource in RESOURCES:
        listing = server.call("GET", f"{GROUP}/{resource}").json()
        kind = listing["kind"].removesuffix("List")
        for item in listing["items"]:
            metadata = {
                key: item["metadata"][key] for key in item["metadata"] if key not in PASSING
            }
            head = {"apiVersion": listing["apiVersion"], "kind": kind}
            found.append(head | item | {"metadata": metadata})
    return found


def main() -> None:
    """Write the file."""
    binaries = find_binaries(environ=os.environ)
    with (
        running_real_control_plane(binaries, clock=SystemClock()) as plane,
        plane.caller() as server,
    ):
        policy = policy_from(server)
    text = json.dumps(policy, separators=(",", ":"), sort_keys=True)
    POLICY.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
