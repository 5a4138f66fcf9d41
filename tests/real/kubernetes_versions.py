"""The version of the server, and tests that need a newer one."""

from collections.abc import Iterable

import pytest

from steersman_cluster.testing import ControlPlane

# pyproject.toml has a description.
MARKER = "needs_kubernetes"


def needs_kubernetes(minor: str, reason: str) -> pytest.MarkDecorator:
    """Skip a test on servers older than a minor version, such as 1.35, for this reason."""
    return pytest.mark.needs_kubernetes(minor, reason)


def numbers(minor: str) -> tuple[int, ...]:
    """A version as numbers, which have an order."""
    return tuple(map(int, minor.split(".")))


def minor_version(plane: ControlPlane) -> str:
    """The minor version of the running API server."""
    with plane.caller() as api:
        version = api.call("GET", "/version").json()
    return f"{version['major']}.{version['minor']}"


def reason_to_skip(marks: Iterable[pytest.Mark], *, served: str) -> str | None:
    """Why a server of the version ``served`` cannot pass a test with these marks, if it cannot."""
    for mark in marks:
        minor, reason = mark.args
        if numbers(served) < numbers(minor):
            return f"needs Kubernetes {minor}: {reason}"
    return None
