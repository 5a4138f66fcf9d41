"""A real cluster: changes are derived from responses, and time cannot be controlled."""

import asyncio
from contextlib import nullcontext
from random import Random

import pytest

from steersman.client import Client
from steersman.errors import Unreachable
from steersman.observe import ignore
from steersman.wire import Request
from steersman_cluster.errors import TimeCannotBeSkipped
from steersman_cluster.simulation import History
from steersman_cluster.testing.real_cluster import RealCluster
from steersman_cluster.testing.recording_transport import RecordingTransport
from tests.clocks import FakeClock
from tests.transports import FakeResponse, ScriptedTransport, error_response, json_response

PATCH = Request(method="PATCH", path="/api/v1/namespaces/here/configmaps/one")
DELETE = Request(method="DELETE", path=PATCH.path)
STORE = json_response({"metadata": {"resourceVersion": "10"}})


async def recorded(request: Request, answer: FakeResponse) -> History:
    """Return the history of one request to a store at revision 10."""
    history = History()
    transport = RecordingTransport(
        ScriptedTransport(STORE, answer), actor="operator", history=history, clock=FakeClock()
    )
    async with transport.open(request) as response:
        assert await response.read(limit_bytes=1000) == answer.body
    return history


def object_at(version: str) -> FakeResponse:
    return json_response({"kind": "ConfigMap", "metadata": {"resourceVersion": version}})


async def test_a_write_with_a_newer_resource_version_changed_the_object() -> None:
    history = await recorded(PATCH, object_at("11"))

    assert [each.target for each in history.writes()] == [PATCH.path]


async def test_a_write_with_an_old_resource_version_changed_nothing() -> None:
    history = await recorded(PATCH, object_at("10"))

    assert len(history) == 1
    assert history.writes() == []


async def test_a_rejected_write_changed_nothing() -> None:
    history = await recorded(PATCH, error_response(409, "Conflict"))

    assert history.writes() == []


async def test_a_deletion_counts_as_a_change() -> None:
    history = await recorded(DELETE, json_response({"kind": "Status", "status": "Success"}))

    assert len(history.writes()) == 1


async def test_a_disconnected_transport_sends_no_request() -> None:
    inner = ScriptedTransport()
    transport = RecordingTransport(inner, actor="operator", history=History(), clock=FakeClock())
    transport.is_cut = True

    with pytest.raises(Unreachable, match="operator is dead"):
        async with transport.open(PATCH):
            pass

    assert inner.sent == []


async def test_the_time_of_a_real_cluster_cannot_be_skipped() -> None:
    clock, inner = FakeClock(), ScriptedTransport()
    async with asyncio.TaskGroup() as group:
        cluster = RealCluster(
            Client(inner, clock=clock, rng=Random(0), observe=ignore),
            namespace="here",
            connect=lambda: nullcontext(inner),
            history=History(),
            group=group,
            rng=Random(0),
        )

        with pytest.raises(TimeCannotBeSkipped, match="could not advance time by 60 s"):
            await cluster.advance(60)
