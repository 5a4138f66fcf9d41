"""The requests of a candidate."""

from datetime import UTC, datetime
from random import Random
from typing import Any

import msgspec

from steersman.client import Client
from steersman.manager.leader_election.election import LeaseSettings
from steersman.manager.leader_election.fence import Fence
from steersman.manager.leader_election.leadership import Leadership, Term
from tests.clocks import ManualClock
from tests.transports import ScriptedTransport, error_response, json_response

LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
NOW = "2026-01-01T00:00:00.000000Z"


def lease(version: str, **spec: Any) -> Any:
    metadata = {"name": "web", "namespace": "default", "resourceVersion": version}
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": metadata,
        "spec": spec,
    }


def held(version: str, **changes: Any) -> Any:
    spec = {
        "holderIdentity": "us",
        "leaseDurationSeconds": 15,
        "acquireTime": NOW,
        "renewTime": NOW,
        "leaseTransitions": 0,
    }
    return lease(version, **{**spec, **changes})


def leadership(transport: ScriptedTransport) -> Leadership:
    clock = ManualClock(now=datetime(2026, 1, 1, tzinfo=UTC))
    observed: list[object] = []
    return Leadership(
        Client(transport, clock=clock, rng=Random(0), observe=observed.append),
        settings=LeaseSettings(namespace="default", name="web", identity="us"),
        fence=Fence(clock),
        clock=clock,
        rng=Random(0),
        observe=observed.append,
    )


def bodies(transport: ScriptedTransport) -> list[Any]:
    return [msgspec.json.decode(each.body) for each in transport.requests if each.body is not None]


async def test_a_missing_lease_is_created_and_then_released_at_its_version() -> None:
    transport = ScriptedTransport(
        error_response(404, "NotFound"),
        json_response(held("1")),
        json_response(lease("2", holderIdentity="")),
    )

    async with leadership(transport).term():
        pass

    assert [each.split("?")[0] for each in transport.sent] == [
        f"GET {LEASES}/web",
        f"POST {LEASES}",
        f"PATCH {LEASES}/web",
    ]
    created, released = bodies(transport)
    assert created["spec"] == held("1")["spec"]
    assert released == {
        "metadata": {"resourceVersion": "1"},
        "spec": {**held("1")["spec"], "holderIdentity": "", "leaseDurationSeconds": 1},
    }


async def test_a_lease_without_a_holder_is_acquired_at_the_version_that_was_read() -> None:
    transport = ScriptedTransport(
        json_response(lease("7", leaseTransitions=3)),
        json_response(held("8", leaseTransitions=4)),
        json_response(lease("9", holderIdentity="")),
    )

    async with leadership(transport).term():
        pass

    taken = bodies(transport)[0]
    assert taken["metadata"] == {"resourceVersion": "7"}
    assert taken["spec"] == {**held("8")["spec"], "leaseTransitions": 4}


async def test_an_empty_lease_is_free() -> None:
    bare = lease("7")
    del bare["spec"]
    transport = ScriptedTransport(
        json_response(bare), json_response(held("8", leaseTransitions=1)), json_response(lease("9"))
    )

    async with leadership(transport).term():
        pass

    assert bodies(transport)[0]["spec"]["holderIdentity"] == "us"


def test_reprs_have_the_state() -> None:
    term = Term()
    assert repr(term) == "<Term going on>"
    term.lose("another replica holds the lease")
    assert repr(term) == "<Term lost: another replica holds the lease>"

    assert repr(leadership(ScriptedTransport())) == ("<Leadership us stands by, Lease default/web>")
