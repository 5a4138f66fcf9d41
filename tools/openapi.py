"""``python -m tools.openapi``: write the OpenAPI documents of a real API server to files.

It starts a control plane; ``make control-plane`` provides the programs. ``python -m
steersman.kinds.generate`` then generates the kinds.
"""

import json
import os
import re
from typing import Any

from steersman.clock import SystemClock
from steersman.kinds.generate import facts_of
from steersman.openapi import DIRECTORY, Facts
from steersman_cluster.testing import find_binaries, running_real_control_plane
from steersman_cluster.testing.calls import HttpCaller

# api/v1, apis/apps/v1, apis/node.k8s.io/v1. Groups of custom resources may be deleted before their
# documents are read.
BUILT_IN = re.compile(r"apis?(/([a-z0-9]+|[a-z0-9.]+\.k8s\.io))?(/v[0-9]+)?")

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def version_of(server: HttpCaller) -> str:
    """The major and minor version: 1.36."""
    version = _read(server, "/version")
    return f"{version['major']}.{version['minor']}"


def facts_from(server: HttpCaller) -> dict[str, Facts]:
    """The facts about the server's kinds."""
    paths = _read(server, "/openapi/v3")["paths"]
    defined = {each["spec"]["group"] for each in _read(server, DEFINITIONS)["items"]}
    built_in = [
        path
        for path in paths
        if BUILT_IN.fullmatch(path) and not defined.intersection(path.split("/"))
    ]
    documents = [_read(server, f"/openapi/v3/{path}") for path in built_in]
    discovery = [_read(server, path, accept=AGGREGATED) for path in ("/api", "/apis")]
    return facts_of(documents, discovery)


def _read(server: HttpCaller, path: str, *, accept: str = "application/json") -> Any:
    answer = server.call("GET", path, accept=accept)
    if answer.status != 200:
        raise SystemExit(f"GET {path}: the server responded with {answer.status}")
    return answer.json()


def main() -> None:
    """Write one file for each group and version, and replace the existing ones."""
    binaries = find_binaries(environ=os.environ)
    with (
        running_real_control_plane(binaries, clock=SystemClock()) as plane,
        plane.caller() as server,
    ):
        directory = DIRECTORY.with_name(f"kubernetes-{version_of(server)}")
        facts = facts_from(server)
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("*.json"):
        old.unlink()
    for module, each in facts.items():
        text = json.dumps(each, indent=1, sort_keys=True)
        (directory / f"{module}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
