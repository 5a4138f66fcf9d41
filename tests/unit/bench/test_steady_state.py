"""The usage of idle operators, and the check of resyncs."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.harness.fixtures import app_name
from bench.harness.requests import PREFIX
from bench.harness.steady_state import OperatorSetup, check_resync, usage

REQUESTS = {"leases": 2, "watches": 30, "writes": 400, "reads": 5_000, "discovery": 60_000}


def reconciles(*numbers: int) -> Sequence[str]:
    """The lines that an operator writes when it reconciles these AppServices."""
    return [f"{at}.250000 {app_name(number)} 1\n" for at, number in enumerate(numbers)]


class Server:
    """A control plane whose metrics count the operator's requests."""

    def caller(self) -> Any:
        return nullcontext(self)

    def call(self, method: str, path: str, *, accept: str) -> Any:
        lines = (
            f'apiserver_flowcontrol_dispatched_requests_total{{flow_schema="{PREFIX}{name}"}} {n}\n'
            for name, n in REQUESTS.items()
        )
        return SimpleNamespace(body="".join(lines).encode())


def test_requests_are_counted_except_watches_and_leases() -> None:
    plane: Any = Server()
    operator: Any = SimpleNamespace(cpu_seconds=lambda: 1.5)

    found = usage(
        OperatorSetup(command=["operator"], plane=plane, kubeconfig=Path("none")), operator
    )

    assert found == {"cpu": 1.5, "requests": 65_400, "watches": 30}


def test_each_appservice_has_to_be_reconciled_again() -> None:
    check_resync("kopf", reconciles(2, 0, 1, 0), [], count=3)

    with pytest.raises(AssertionError, match=r"kopf did not reconcile 1 of 3 .*: app-00001$"):
        check_resync("kopf", reconciles(2, 0, 2, 0), [], count=3)


def test_after_a_resync_every_object_must_be_correct() -> None:
    wrong = ["Service app-00000: is not there", "Deployment app-00001: is not there"]

    with pytest.raises(AssertionError, match=f"kopf did not correct: {'; '.join(wrong)}"):
        check_resync("kopf", reconciles(0, 1), wrong, count=2)
