"""The machine, and the versions of all programs and libraries."""

import os
import platform
import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bench.harness.go_programs import go_version_in
from bench.harness.operators import PEER
from bench.harness.provenance import output_of, python_build
from steersman_cluster.testing import find_binaries

PACKAGES = (
    "steersman",
    "httptools",
    "msgspec",
    "prometheus-client",
    "uvloop",
    # The reference of the measure `client`.
    "aiohttp",
    "kopf",
    "kr8s",
    "kubernetes",
    "kubernetes_asyncio",
    "lightkube",
)
GO_MODULES = {
    "controller-runtime": "sigs.k8s.io/controller-runtime",
    "client-go": "k8s.io/client-go",
}

# Patterns for the output of --version.
SERVERS = {
    "kube-apiserver": re.compile(r"Kubernetes v(\S+)"),
    "etcd": re.compile(r"etcd Version: (\S+)"),
}


def machine() -> Mapping[str, str]:
    """The size of the machine, and its system."""
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cores": str(os.cpu_count()),
        "memory": f"{memory_gib:.0f} GiB",
        "processor": _processor(Path("/proc/cpuinfo").read_text()),
        "system": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
    }


def versions() -> Mapping[str, str]:
    """The versions of the installed packages and programs, by name."""
    found = {"Python": f"{platform.python_version()} ({python_build()})"}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    go_mod = (PEER.sources / "go.mod").read_text()
    for name, module in GO_MODULES.items():
        if required := re.search(rf"\b{re.escape(module)} v(\S+)", go_mod):
            found[name] = required[1]
    if go_version := _go_version():
        found["Go"] = go_version
    return {**found, **_servers(find_binaries(environ=os.environ).directory)}


def _go_version() -> str | None:
    """The version of Go that built the programs, or the installed one if they are not built yet."""
    if PEER.path.exists():
        return go_version_in(PEER.path.read_bytes())
    version = _output_of("go", "env", "GOVERSION")
    return version.strip().removeprefix("go") if version else None


@cache
def _servers(directory: Path) -> Mapping[str, str]:
    """The versions of the servers; each program runs once."""
    found = {}
    for name, words in SERVERS.items():
        if match := words.search(_output_of(directory / name, "--version") or ""):
            found[name] = match[1]
    return found


def _output_of(*command: str | Path) -> str | None:
    # The go.mod in this directory can select the version of Go.
    return output_of(*command, cwd=PEER.sources)


def load_average() -> float:
    """The load average of the last 15 minutes."""
    return os.getloadavg()[2]


def _processor(cpuinfo: str) -> str:
    model = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, flags=re.MULTILINE)
    return model[1].strip() if model else platform.machine()
