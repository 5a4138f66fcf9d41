"""Deprecated labels of nodes."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

NEWER_NAMES: Final = {
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}


_SINCE: Final = {"kubernetes.io/arch": "v1.14", "kubernetes.io/os": "v1.14"}
OLD_LABELS: Final[Mapping[str, str]] = {
    **{
        old: f'deprecated since {_SINCE.get(new, "v1.17")}; use "{new}" instead'
        for old, new in NEWER_NAMES.items()
    },
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": (
        "deprecated since v1.22; use Taints and Tolerations instead"
    ),
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}


def label_warning(key: str) -> str:
    """Return the warning about the deprecated label ``key``; "" for any other label."""
    return OLD_LABELS.get(key, "")


def expression_warnings(expressions: list[Mapping[str, Any]], path: str) -> Iterator[str]:
    """Yield a warning for each of ``expressions`` whose key is a deprecated label."""
    for index, expression in enumerate(expressions):
        key = expression.get("key", "")
        if warning := label_warning(key):
            yield f"{path}[{index}].key: {key} is {warning}"
