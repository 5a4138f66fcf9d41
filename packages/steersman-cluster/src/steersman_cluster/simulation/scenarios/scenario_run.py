"""One execution of a scenario: its steps on a simulated cluster, with at most one fault."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from steersman.controller import Controller
from steersman.errors import WaitTimeout
from steersman.manager import Manager, ManagerSettings, Runnable
from steersman.names import GroupResource
from steersman.wire import Request
from steersman_cluster.apiserver import Key
from steersman_cluster.simulation.actors import Actor
from steersman_cluster.simulation.cluster import Cluster, Operator
from steersman_cluster.simulation.factory import Factory
from steersman_cluster.simulation.history import MUTATING, RecordedRequest, is_bookkeeping
from steersman_cluster.simulation.scenarios.faults import Fault, FaultKind, SingleFault
from steersman_cluster.simulation.scenarios.redaction import IgnoredFields, Secrets, secrets_of
from steersman_cluster.simulation.scenarios.scenario import Scenario
from steersman_cluster.simulation.scenarios.state import ClusterState, differences, state_of
from steersman_cluster.simulation.scenarios.trace import TraceEntry, fault_trace, short_path
from steersman_cluster.simulation.simulated_cluster import (
    WORKLOADS,
    SimulatedCluster,
    SimulatedOperator,
    running_simulated_cluster,
)
from steersman_cluster.simulation.transport import NoFaults
from steersman_cluster.workloads import SINGLE_REPLICA_SETTINGS

# How long a killed operator is down. Meanwhile everything else goes on.
GONE_SECONDS: Final = 10.0

# Longer than the backoff of a watch that was cut, and than the delay of a late cache.
GRACE_SECONDS: Final = 30.0

# An operator that still writes after this long never settles.
SETTLED_WITHIN_SECONDS: Final = 2 * 3600.0

OPERATOR: Final = "operator"

_SECRETS: Final = GroupResource("", "secrets")


@dataclass(slots=True, kw_only=True)
class RunOutcome:
    """The result of one run."""

    states: dict[int, ClusterState] = field(
        default_factory=dict[int, ClusterState]
    )  # at each settle of the steps
    found: list[str] = field(default_factory=list[str])  # the problems
    trace: tuple[str, ...] = ()
    numbers: dict[FaultKind, Sequence[int]] = field(default_factory=dict[FaultKind, Sequence[int]])
    # The settle that users did not wait for, because of the fault.
    skipped: int | None = None
    is_void: bool = False  # the steps failed at a point where users had not waited


async def outcome_of(
    scenario: Scenario,
    *,
    seed: int,
    fault: Fault | None = None,
    absent_at: int | None = None,
    expected: Sequence[RunOutcome] = (),
    is_thorough: bool = False,
) -> RunOutcome:
    """Execute ``scenario`` once, with ``fault`` if given, and return the outcome.

    If ``expected`` is not empty, the outcome should equal one of its elements. ``absent_at`` is the
    index of a call of ``settle`` in the steps. Before that call, the operator is stopped. At the
    call, users continue without waiting. After that, the operator is restarted. If ``is_thorough``,
    a second pass after each call of ``settle`` must write nothing.
    """
    async with running_simulated_cluster(seed=seed, settings=scenario.workloads) as cluster:
        run = _ScenarioRun(cluster, scenario, fault, absent_at, expected, is_thorough=is_thorough)
        await run.play()
        return run.outcome


class _RunFailed(Exception):
    """Raised to end a run whose state is not as expected."""


class _ScenarioRun(Cluster):
    """The cluster of one run, as its steps use it; states are compared at every settle."""

    def __init__(
        self,
        cluster: SimulatedCluster,
        scenario: Scenario,
        fault: Fault | None,
        absent_at: int | None,
        expected: Sequence[RunOutcome],
        *,
        is_thorough: bool,
    ) -> None:
        super().__init__(cluster.client, namespace=cluster.namespace)
        self.outcome = RunOutcome()
        self.history = cluster.history
        self._cluster = cluster
        self._scenario = scenario
        self._ignored = IgnoredFields(scenario.ignore)
        self._fault = fault
        self._absent_at = absent_at
        self._expected = expected
        self._is_thorough = is_thorough
        self._noted: list[TraceEntry] = []
        self._fault_injector = SingleFault(
            fault,
            clock=cluster.clock,
            kill=self._kill,
            hold=self._hold,
            note=self._note,
            on_injection=self._on_injection,
        )
        self._system: Any = scenario.outside() if scenario.outside is not None else None
        self._operator: SimulatedOperator | None = None
        self._was_killed = False
        self._grace_given = False
        self._log = cluster.server.store.log
        # Everything that was ever in a Secret: another object may still have it when the Secret is
        # gone.
        self._secrets: set[str] = set()
        for each in self._log.current_entries():
            if each.value is not None:
                self._keep_secrets(each.value)
        cluster.server.store.listen(_SECRETS, self._keep_secrets)
        self._beginning = 0
        self._existing: dict[Key, str] = {}
        # The position of the steps: the number of settles so far.
        self._place = 0
        # For a fault that lasts until users write something: whether it has begun, whether it is
        # over, and whether the steps have reached a settle that was put off because of it.
        self._fault_begun: asyncio.Future[None] = cluster.loop.create_future()
        self._fault_ended: asyncio.Future[None] = cluster.loop.create_future()
        self._settle_pending = False
        self._is_ahead = False

    async def play(self) -> None:
        """Run the scenario."""
        cluster, scenario = self._cluster, self._scenario
        await self.install(*scenario.kinds)
        self._beginning, begun = self._log.revision, self.history_position()
        self._existing = {each.key: " ".join(each.key) for each in self._log.current_entries()}
        build = scenario.factory(self._fault_injector.wrap(self._system))

        def built() -> Manager:
            manager = build()
            self._fault_injector.child_watches = _child_watches(manager.controllers)
            return manager

        self._operator = cluster.operate(
            built, OPERATOR, ManagerSettings(**SINGLE_REPLICA_SETTINGS), self._fault_injector
        )
        cluster.user_transport.inject(_Users(self))
        try:
            await self._leave_if_absent()
            await scenario.steps(self)
            await self.settle()
            await self._settle_if_skipped()
            self._count()
            await self._check_second_pass()
        except _RunFailed:
            pass
        except Exception as error:  # the steps are the author's, and may raise anything
            if self._is_ahead:
                self.outcome.is_void = True
            elif self._fault is None:
                raise
            else:
                self.outcome.found.append(self._redacted(f"{type(error).__name__}: {error}"))
        if (
            self._fault is not None
            and not self._fault_injector.has_injected
            and not self.outcome.found
        ):
            self.outcome.found.append(
                f"the fault {self._fault} was not injected: the scenario does not depend on the"
                " seed alone"
            )
        if self.outcome.found:
            self.outcome.trace = fault_trace(
                cluster.history.requests,
                self._noted,
                since=begun,
                home=self.namespace,
                without=frozenset((WORKLOADS,)),
            )

    # The steps' interface to the cluster

    async def settle(self) -> None:
        """Wait until nothing is left to do; the state must then be the same as without faults."""
        await self._settle_if_skipped()
        if (
            self._users_continue_during
            and not self._fault_ended.done()
            and not await self._settles_before()
        ):
            self._settle_pending = True
            # A write to an object that is being deleted is lost with it, so users wait for the
            # deletion.
            if self._is_anything_being_deleted():
                await self._settle_if_skipped()
            return
        await self._settle_and_compare()

    async def advance(self, seconds: float) -> None:
        """Advance the time by exactly ``seconds``, and run everything that is due in that time."""
        await self._settle_if_skipped()
        await self.clock.sleep(seconds)

    async def run_operator(
        self,
        *operator: Controller[Any] | Factory,
        name: str = "another operator",
        runnables: Sequence[Runnable] = (),
        settings: ManagerSettings | None = None,
    ) -> Operator:
        """Start another operator in addition to the one under test; no fault affects it."""
        await self._settle_if_skipped()
        self._cluster.fault_injector = NoFaults()
        return await self._cluster.run_operator(
            *operator, name=name, runnables=runnables, settings=settings
        )

    def history_position(self) -> int:
        """Return the current length of the history, as the argument of ``writes_since``."""
        return self._cluster.history_position()

    def writes_since(self, position: int) -> list[RecordedRequest]:
        """Return the operators' changes since ``position``, oldest first."""
        return self._cluster.writes_since(position)

    async def second_pass(self) -> list[RecordedRequest]:
        """Reconcile every object once more and return the writes; there should be none."""
        await self.settle()
        await self._settle_if_skipped()
        return await super().second_pass()

    async def restart_operators(self) -> None:
        """Restart each operator, so that it reconciles every object once more."""
        await self._settle_if_skipped()
        await self._cluster.restart_operators()
        for operator in self._cluster.operators:
            if operator.name == OPERATOR:
                self._operator = operator

    # Requests of users while the operator is down or slow

    @property
    def _users_continue_during(self) -> bool:
        if self._absent_at is not None:
            return self._place == self._absent_at
        return self._fault is not None and self._fault.kind.waits_for_users

    async def users_read(self) -> None:
        """Perform the ``settle`` that users have skipped, because they are about to read its
        result.
        """
        await self._settle_if_skipped()

    def users_wrote(self) -> None:
        """Count a write of users, and end a fault that waits for such a write."""
        self._fault_injector.user_writes += 1
        if not self._fault_begun.done() or self._fault_ended.done():
            return
        if self._settle_pending:
            self._settle_pending, self._is_ahead = False, True
            self.outcome.skipped = self._place
            self._place += 1
        elif self._absent_at is not None:
            return  # it is absent until users go on from the settle
        self._end_of_fault()

    async def _settles_before(self) -> bool:
        """Wait until nothing is left to do or the fault occurs; return false if the fault occurs
        first.
        """
        settling = self._cluster.loop.create_task(self._settle_once(), name="settle")
        await asyncio.wait([settling, self._fault_begun], return_when=asyncio.FIRST_COMPLETED)
        if not self._fault_begun.done():
            await settling
            return True
        settling.cancel()
        await asyncio.wait([settling])
        if not settling.cancelled():
            settling.exception()
        return False

    def _is_anything_being_deleted(self) -> bool:
        return any(
            "deletionTimestamp" in each.value.get("metadata", {})
            for each in self._log.current_entries()
            if each.value is not None
        )

    async def _settle_if_skipped(self) -> None:
        """Perform the ``settle`` that users have skipped, because the next step depends on its
        result.
        """
        if self._settle_pending:
            self._settle_pending = False
            self._end_of_fault()
            await self._settle_and_compare()

    def _end_of_fault(self) -> None:
        if self._fault_ended.done():
            return
        self._fault_ended.set_result(None)
        if self._absent_at is not None:
            self._restart()
        elif self._was_killed:
            self._restart_later()

    async def _hold(self) -> None:
        await asyncio.wait([self._fault_ended])

    async def _leave_if_absent(self) -> None:
        if self._place == self._absent_at and self._operator is not None:
            await self._operator.stop()
            self._fault_begun.set_result(None)

    # Settles

    async def _settle_and_compare(self) -> None:
        await self._settle_once()
        has_just_injected = self._fault_injector.has_injected and not self._grace_given
        if has_just_injected:
            self._grace_given = True
            await self.clock.sleep(GRACE_SECONDS)
            await self._settle_once()
        self._compare()
        if (has_just_injected and self._was_killed) or self._is_thorough:
            await self._check_second_pass()
        await self._leave_if_absent()

    async def _settle_once(self) -> None:
        has_timed_out = False
        try:
            async with self.clock.timeout(SETTLED_WITHIN_SECONDS):
                await self._cluster.settle()
        except (TimeoutError, WaitTimeout):
            has_timed_out = True
        if has_timed_out or self._fault_injector.is_endless:
            last = self._described(self.writes_since(0)[-3:]) or "nothing"
            failing = [f"still retrying: {each}" for each in self._cluster.pending.failing()]
            self._fail([f"the operator does not settle; its last writes are {last}", *failing])

    def _count(self) -> None:
        """Store, for each kind of fault, the numbers of the calls or events at which the fault is
        possible.
        """
        fault_injector = self._fault_injector
        calls = range(1, fault_injector.calls + 1)
        # After the users' last write, no write of theirs can come between.
        early = [
            number
            for number, written in zip(calls, fault_injector.written_before, strict=True)
            if written < fault_injector.user_writes
        ]
        self.outcome.numbers = {
            FaultKind.BEFORE: calls,
            FaultKind.AFTER: calls,
            FaultKind.LOST: calls,
            FaultKind.CUT: range(1, fault_injector.events + 1),
            FaultKind.LATE: range(1, fault_injector.child_events + 1),
            FaultKind.STALE: calls,
            FaultKind.OVERTAKEN: early,
            FaultKind.DOWN_BEFORE: early,
            FaultKind.DOWN_AFTER: early,
        }

    def _on_injection(self, what: str) -> None:
        self._note(what, is_fault=True)
        if not self._fault_begun.done():
            self._fault_begun.set_result(None)

    def _note(self, what: str, *, is_fault: bool = False) -> None:
        words = " ".join(short_path(each, home=self.namespace) for each in what.split(" "))
        at = self.clock.monotonic()
        self._noted.append(TraceEntry(self.history_position(), at, OPERATOR, words, is_fault))

    def _kill(self) -> None:
        if self._operator is not None:
            self._operator.kill_now()
            if self._fault_injector.is_endless:
                return
            self._was_killed = True
            if self._fault is None or not self._fault.kind.waits_for_users:
                self._restart_later()

    def _restart_later(self) -> None:
        # In an empty context: nothing runs in that of a killed actor.
        self._cluster.loop.call_later(GONE_SECONDS, self._restart, context=Context())

    def _restart(self) -> None:
        if self._operator is not None:
            self._note("starts again")
            self._operator = self._operator.again()

    async def _check_second_pass(self) -> None:
        before, state = self.history_position(), self._state()
        await self.restart_operators()
        await self._settle_once()
        writes = self.writes_since(before)
        if writes:
            words = self._described(writes)
            self._fail([f"a second pass should write nothing, but wrote {words}"])
        changed = differences(state, self._state())
        self._fail_if(f"a second pass should change nothing: {each}" for each in changed)

    def _described(self, writes: Iterable[RecordedRequest]) -> str:
        home = self.namespace
        return ", ".join(f"{each.method} {short_path(each.target, home=home)}" for each in writes)

    def _compare(self) -> None:
        place, state = self._place, self._state()
        self._place += 1
        self._is_ahead = False
        self.outcome.states[place] = state
        if not self._expected:
            return
        known = [each for each in self._expected if place in each.states]
        if not known:
            self._fail([f"the steps settle more often than without a fault: {place + 1} times"])
        alike = [each for each in known if not differences(each.states[place], state)]
        if not alike:
            self._fail(differences(known[0].states[place], state))
        self._expected = alike

    def _fail_if(self, found: Iterable[str]) -> None:
        if listed := [*found]:
            self._fail(listed)

    def _fail(self, found: Iterable[str]) -> None:
        self.outcome.found.extend(map(self._redacted, found))
        raise _RunFailed

    def _redacted(self, text: str) -> str:
        """Return the text without any value that is or was in a Secret."""
        return Secrets(self._secrets).hidden(text)

    def _keep_secrets(self, obj: Mapping[str, Any]) -> None:
        self._secrets.update(secrets_of(obj))

    def _state(self) -> ClusterState:
        changed: list[dict[str, Any]] = []
        unchanged: list[dict[str, Any]] = []
        for entry in self._log.current_entries():
            if entry.value is not None:
                (changed if entry.revision > self._beginning else unchanged).append(entry.value)
        lost = [ref for key, ref in self._existing.items() if not _exists(self._log.latest(key))]
        return state_of(
            changed,
            unchanged=unchanged,
            lost=lost,
            outside=_plain(self._system),
            ignored=self._ignored,
            tokens=self._cluster.tokens(),
            secrets=self._secrets,
        )


class _Users(NoFaults):
    """The fault injector of users: reports their requests to the run."""

    def __init__(self, run: _ScenarioRun) -> None:
        self._run = run

    async def before_request(self, actor: Actor, request: Request) -> None:  # noqa: ARG002 - of the protocol
        """Report a read before the server receives the request."""
        if not _is_user_write(request):
            await self._run.users_read()

    async def before_response(self, actor: Actor, request: Request) -> None:  # noqa: ARG002
        """Report a write after the server has handled the request."""
        if _is_user_write(request):
            self._run.users_wrote()


def _is_user_write(request: Request) -> bool:
    return request.method in MUTATING and not is_bookkeeping(request.path)


def _child_watches(controllers: Sequence[Controller[Any]]) -> list[tuple[str, str]]:
    """Return the beginning and end of each path at which these controllers watch child objects.

    Child objects are of the kinds that the controllers own, or write in addition to their own kind.
    """
    watches: list[tuple[str, str]] = []
    for controller in controllers:
        owned = [each.kind for each in controller.owned]
        written = [each.kind for each in controller.written if each.kind is not controller.kind]
        for kind in dict.fromkeys((*owned, *written)):
            of = kind.resource_type
            version = of.gvk.version
            start = f"/apis/{of.gvk.group}/{version}/" if of.gvk.group else f"/api/{version}/"
            watches.append((start, f"/{of.plural}"))
    return watches


def _plain(system: Any) -> Any:
    """Return a system outside the cluster as plain data."""
    return msgspec.to_builtins(
        getattr(system, "__dict__", system),
        str_keys=True,
        order="deterministic",
        enc_hook=lambda each: type(each).__name__,
    )


def _exists(entry: Any) -> bool:
    return entry is not None and entry.value is not None
