"""Where figures come from: the machine, and the versions of everything that takes part."""

import os
import platform
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from steersman.testing.programs import ETCD_VERSION, KUBERNETES_VERSION

PACKAGES = (
    "steersman",
    "aiohttp",
    "msgspec",
    "uvloop",
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
GO_MOD = Path(__file__).parents[1] / "peers" / "controller_runtime" / "go.mod"


def machine() -> Mapping[str, str]:
    """How large it is, and what runs on it."""
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cores": str(os.cpu_count()),
        "memory": f"{memory_gib:.0f} GiB",
        "processor": _processor(Path("/proc/cpuinfo").read_text()),
        "system": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
    }


def versions() -> Mapping[str, str]:
    """By name; only of what is installed."""
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    go_mod = GO_MOD.read_text()
    for name, module in GO_MODULES.items():
        if required := re.search(rf"\b{re.escape(module)} v(\S+)", go_mod):
            found[name] = required[1]
    return {**found, "kube-apiserver": KUBERNETES_VERSION, "etcd": ETCD_VERSION}


def load_average() -> float:
    """Of the last quarter of an hour."""
    return os.getloadavg()[2]


def _processor(cpuinfo: str) -> str:
    model = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, flags=re.MULTILINE)
    return model[1].strip() if model else platform.machine()
