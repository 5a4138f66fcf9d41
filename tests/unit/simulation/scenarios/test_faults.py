"""A fault is injected once, at the call or event in its name."""

import asyncio
from typing import Any

import pytest

from steersman.errors import Unreachable
from steersman.wire import Request
from steersman_cluster.simulation.actors import Actor
from steersman_cluster.simulation.scenarios.faults import (
    DELAY_SECONDS,
    Fault,
    FaultKind,
    SingleFault,
)
from tests.clocks import FakeClock

ACTOR = Actor("operator")
WRITE = Request(method="PATCH", path="/apis/apps/v1/namespaces/default/deployments/web")
EVENT = Request(method="POST", path="/api/v1/namespaces/default/events")
READ = Request(method="GET", path="/api/v1/namespaces/default/pods")
WATCH = Request(method="GET", path="/apis/apps/v1/deployments", query=(("watch", "true"),))


class FaultRun:
    """A fault injector, and its effects on an operator."""

    def __init__(self, words: str = "") -> None:
        self.clock = FakeClock()
        self.trace: list[str] = []
        self.kills = 0
        self.released = asyncio.Event()
        self.fault_injector = SingleFault(
            Fault.named(words) if words else None,
            clock=self.clock,
            kill=self._kill,
            hold=self._hold,
            note=self.trace.append,
            on_injection=self.trace.append,
        )
        self.fault_injector.child_watches = [("/apis/apps/v1/", "/deployments")]

    def _kill(self) -> None:
        self.kills += 1

    async def _hold(self) -> None:
        await self.released.wait()

    async def call(self, request: Request = WRITE) -> None:
        await self.fault_injector.before_request(ACTOR, request)
        await self.fault_injector.before_response(ACTOR, request)


async def finishes(work: Any) -> bool:
    """Report whether a coroutine finishes within a few turns of the event loop."""
    task = asyncio.get_running_loop().create_task(work)
    for _ in range(5):
        await asyncio.sleep(0)  # noqa: TID251 - it yields one turn
    is_done = task.done()
    task.cancel()
    return is_done


@pytest.mark.parametrize("fault_kind", FaultKind)
def test_a_fault_is_parsed_from_its_name(fault_kind: FaultKind) -> None:
    fault = Fault(fault_kind, 7)

    assert Fault.named(str(fault)) == fault


@pytest.mark.parametrize("words", ["", "after call", "after call 0", "after call x", "sometime 3"])
def test_an_unknown_fault_name_is_rejected(words: str) -> None:
    with pytest.raises(ValueError, match="is not a fault"):
        Fault.named(words)


async def test_without_a_fault_calls_and_events_are_counted() -> None:
    run = FaultRun()

    for request in (WRITE, EVENT, READ, WRITE):
        await run.call(request)
    await run.fault_injector.before_watch_event(ACTOR, WATCH, b'{"type":"ADDED"}')
    await run.fault_injector.before_watch_event(ACTOR, WATCH, b'{"type":"BOOKMARK"}')
    await run.fault_injector.before_watch_event(ACTOR, READ, b'{"type":"ADDED"}')

    seen = run.fault_injector
    assert (seen.calls, seen.events, seen.child_events) == (2, 2, 1)
    assert run.trace == []


async def test_an_operator_killed_before_a_call_does_not_send_it() -> None:
    run = FaultRun("before call 2")
    await run.call()

    assert not await finishes(run.fault_injector.before_request(ACTOR, WRITE))
    assert run.kills == 1
    assert run.trace == [f"is killed before PATCH {WRITE.path}"]


async def test_an_operator_killed_after_a_call_gets_no_response() -> None:
    run = FaultRun("after call 1")
    await run.fault_injector.before_request(ACTOR, WRITE)

    assert not await finishes(run.fault_injector.before_response(ACTOR, WRITE))
    assert run.kills == 1


async def test_a_response_is_lost_for_its_own_call_only() -> None:
    run = FaultRun("response lost after call 1")
    other = Request(method="POST", path="/api/v1/namespaces/default/configmaps")
    await run.fault_injector.before_request(ACTOR, WRITE)
    await run.call(other)

    with pytest.raises(Unreachable) as caught:
        await run.fault_injector.before_response(ACTOR, WRITE)

    assert caught.value.may_have_happened
    assert run.kills == 0


async def test_a_fault_is_injected_once() -> None:
    run = FaultRun("watch cut at event 1")
    with pytest.raises(Unreachable):
        await run.fault_injector.before_watch_event(ACTOR, WATCH, b'{"type":"ADDED"}')

    await run.fault_injector.before_watch_event(ACTOR, WATCH, b'{"type":"ADDED"}')

    assert run.trace == [f"loses its watch of {WATCH.path}"]


async def test_only_events_of_children_are_delayed() -> None:
    run = FaultRun("children late from event 1")
    began_at = run.clock.monotonic()

    await run.fault_injector.before_watch_event(ACTOR, READ, b'{"type":"ADDED"}')
    in_time_at = run.clock.monotonic()
    await run.fault_injector.before_watch_event(ACTOR, WATCH, b'{"type":"ADDED"}')

    assert in_time_at == began_at
    assert run.clock.monotonic() == began_at + DELAY_SECONDS


class Gate:
    """A system outside the cluster."""

    def __init__(self) -> None:
        self.opened = 0

    async def open(self) -> str:
        """Open the gate."""
        self.opened += 1
        return "ding"


async def test_a_call_outside_the_cluster_is_counted_like_any_other() -> None:
    run, gate = FaultRun("response lost after call 2"), Gate()
    reached = run.fault_injector.wrap(gate)

    assert await reached.open() == "ding"
    with pytest.raises(Unreachable):
        await reached.open()

    assert reached.opened == gate.opened == 2
    assert run.trace == ["Gate.open", "Gate.open", "gets no response to Gate.open"]


async def test_an_attribute_of_a_wrapped_system_is_set_on_the_system() -> None:
    gate = Gate()

    FaultRun("response lost after call 1").fault_injector.wrap(gate).opened = 7

    assert gate.opened == 7


async def test_an_overtaken_call_is_sent_after_the_users_write() -> None:
    run = FaultRun("users overtake call 1")

    assert not await finishes(run.call())
    run.released.set()

    assert await finishes(run.call())
    assert "users write first" in run.trace[0]


@pytest.mark.parametrize(
    "words", ["users write after a crash before call 1", "users write after a crash after call 1"]
)
async def test_an_operator_killed_while_users_write_does_not_continue(words: str) -> None:
    run = FaultRun(words)

    assert not await finishes(run.call())
    assert run.kills == 1


async def test_a_lost_answer_with_late_caches_delays_every_event() -> None:
    run = FaultRun("caches late and response lost after call 1")
    began_at = run.clock.monotonic()

    with pytest.raises(Unreachable):
        await run.call()
    await run.fault_injector.before_watch_event(ACTOR, WATCH, b'{"type":"ADDED"}')

    assert run.clock.monotonic() == began_at + DELAY_SECONDS
