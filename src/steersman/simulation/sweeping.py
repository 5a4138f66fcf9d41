"""The sweep: one scenario, told again with each fault there is, must come to the same each time."""

from collections.abc import Iterable, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import msgspec

from steersman.apiserver import Key
from steersman.controller import Controller
from steersman.errors import DidNotSurvive, NotSettled
from steersman.manager import ManagerSettings, Runnable
from steersman.simulation.apart import run_apart
from steersman.simulation.comparing import State, as_lines, differences, state_of
from steersman.simulation.faults import Disturber, Fault, Trouble
from steersman.simulation.history import Asked
from steersman.simulation.scenario import Scenario
from steersman.simulation.simulated import (
    WORKLOADS,
    SimulatedOperator,
    SimulatedWorld,
    simulated_world,
)
from steersman.simulation.story import Noted, in_short, told
from steersman.simulation.ways import Calm
from steersman.simulation.world import Operator, World

# For so long an operator that was killed is gone: whatever else happens then, happens without it.
GONE_SECONDS: Final = 10.0

# Longer than a watch that was cut waits before it begins again, and than a late cache is late.
GRACE_SECONDS: Final = 30.0

# Whoever still writes after so long has been writing all the time.
SETTLED_WITHIN_SECONDS: Final = 2 * 3600.0

OPERATOR: Final = "operator"


async def survives_crashes(scenario: Scenario, *, seed: int = 0, only: str = "") -> None:
    """Fail unless the operator comes to the same, wherever it crashes.

    For each of its calls that change something: killed just before the call, killed just after it
    (so that it was made, and the operator never knew), and with the answer lost. A killed operator
    is started again. ``DidNotSurvive`` tells the story of the first failure, and which ``seed`` and
    ``only`` replay it.
    """
    troubles = (Trouble.BEFORE, Trouble.AFTER, Trouble.LOST)
    _Sweep("survives_crashes", scenario, seed).sweep(troubles, only)


async def survives_cut_watches(scenario: Scenario, *, seed: int = 0, only: str = "") -> None:
    """Fail unless the operator comes to the same, at whichever event a watch of its is cut."""
    _Sweep("survives_cut_watches", scenario, seed).sweep((Trouble.CUT,), only)


async def survives_late_caches(scenario: Scenario, *, seed: int = 0, only: str = "") -> None:
    """Fail unless it comes to the same, from whichever event on it hears of its children late."""
    _Sweep("survives_late_caches", scenario, seed).sweep((Trouble.LATE,), only)


@dataclass(slots=True, kw_only=True)
class _Run:
    """What became of one run."""

    states: list[State] = field(default_factory=list[State])  # at each rest of the story
    found: list[str] = field(default_factory=list[str])  # what should not be so
    story: tuple[str, ...] = ()
    numbers: dict[Trouble, int] = field(default_factory=dict[Trouble, int])


class _Sweep:
    """One scenario and seed, run as often as there are faults."""

    def __init__(self, name: str, scenario: Scenario, seed: int) -> None:
        self._name = name
        self._scenario = scenario
        self._seed = seed

    def sweep(self, troubles: Iterable[Trouble], only: str) -> None:
        """Run without faults, then with each, or only one."""
        calm = self._run(None, None)
        if only:
            self._run(Fault.named(only), calm)
            return
        self._run(None, calm)
        for trouble in troubles:
            for number in range(1, calm.numbers[trouble] + 1):
                self._run(Fault(trouble, number), calm)

    def _run(self, fault: Fault | None, calm: _Run | None) -> _Run:
        run = run_apart(_told(self._scenario, self._seed, fault, calm))
        if run.found:
            raise DidNotSurvive(
                sweep=self._name,
                fault=str(fault) if fault else "",
                seed=self._seed,
                story=run.story,
                found=as_lines(run.found),
            )
        return run


async def _told(scenario: Scenario, seed: int, fault: Fault | None, calm: _Run | None) -> _Run:
    """One run of the story."""
    async with simulated_world(seed=seed, settings=scenario.workloads) as world:
        stage = _Stage(world, scenario, fault, calm)
        await stage.play()
        return stage.run


class _Unlike(Exception):
    """The run need not go on: it is not as it should be."""


class _Stage(World):
    """The world of one run, as its story sees it: every rest in it is one to compare at."""

    def __init__(
        self,
        world: SimulatedWorld,
        scenario: Scenario,
        fault: Fault | None,
        calm: _Run | None,
    ) -> None:
        super().__init__(world.client, namespace=world.namespace)
        self.run = _Run()
        self.history = world.history
        self._world = world
        self._scenario = scenario
        self._fault = fault
        self._calm = calm
        self._noted: list[Noted] = []
        self._disturber = Disturber(
            fault,
            clock=world.clock,
            kill=self._kill,
            note=self._note,
            strike=partial(self._note, is_fault=True),
        )
        self._system: Any = scenario.outside() if scenario.outside is not None else None
        self._operator: SimulatedOperator | None = None
        self._was_killed = False
        self._was_patient = False
        # Told once more without a fault, each rest of a story is one at which all are content.
        self._is_thorough = fault is None and calm is not None
        self._log = world.server.store.log
        self._beginning = 0
        self._there: dict[Key, str] = {}

    async def play(self) -> None:
        """From the beginning to the end."""
        world, scenario = self._world, self._scenario
        await self.install(*scenario.kinds)
        self._beginning, begun = self._log.revision, self.moment()
        self._there = {each.key: " ".join(each.key) for each in self._log.standing()}
        world.disturbance = self._disturber
        controllers = scenario.controllers(self._disturber.reaching(self._system))
        self._disturber.child_watches = _child_watches(controllers)
        self._operator = await world.run_operator(
            *controllers, runnables=scenario.runnables, name=OPERATOR
        )
        try:
            await scenario.story(self)
            await self.settle()
            self._count()
            await self._look_twice()
        except _Unlike:
            pass
        except Exception as error:  # the story is somebody else's, and may fail of anything
            if self._fault is None:
                raise
            self.run.found.append(f"{type(error).__name__}: {error}")
        if self._fault is not None and not self._disturber.has_struck and not self.run.found:
            self.run.found.append(
                f"it never came to {self._fault}: something in the scenario is not the seed's to"
                " decide"
            )
        if self.run.found:
            self.run.story = told(
                world.history.asked,
                self._noted,
                since=begun,
                home=self.namespace,
                without=frozenset((WORKLOADS,)),
            )

    # What a story asks of its world

    async def settle(self) -> None:
        """Wait until nothing is left to do; then it must be as it is without faults."""
        await self._rest()
        has_just_struck = self._disturber.has_struck and not self._was_patient
        if has_just_struck:
            self._was_patient = True
            await self.clock.sleep(GRACE_SECONDS)
            await self._rest()
        self._compare()
        if (has_just_struck and self._was_killed) or self._is_thorough:
            await self._look_twice()

    async def advance(self, seconds: float) -> None:
        """Let so much time pass, and all happen that is due in it."""
        await self.clock.sleep(seconds)
        await self.settle()

    async def run_operator(
        self,
        *controllers: Controller[Any],
        name: str = "another operator",
        runnables: Sequence[Runnable] = (),
        settings: ManagerSettings | None = None,
    ) -> Operator:
        """Another operator, beside the one that is put to the test; nothing disturbs it."""
        self._world.disturbance = Calm()
        return await self._world.run_operator(
            *controllers, name=name, runnables=runnables, settings=settings
        )

    def moment(self) -> int:
        """Now, to be asked about later."""
        return self._world.moment()

    def writes_since(self, moment: int) -> list[Asked]:
        """What operators have changed since then, oldest first."""
        return self._world.writes_since(moment)

    async def look_again(self) -> None:
        """Start each operator anew, so that it looks at everything once more."""
        await self._world.look_again()
        for operator in self._world.operators:
            if operator.name == OPERATOR:
                self._operator = operator

    # Inside

    async def _rest(self) -> None:
        is_over = False
        try:
            async with self.clock.timeout(SETTLED_WITHIN_SECONDS):
                await self._world.settle()
        except (TimeoutError, NotSettled):
            is_over = True
        if is_over or self._disturber.is_endless:
            last = self._words(self.writes_since(0)[-3:])
            failing = [f"still tried again: {each}" for each in self._world.agenda.failing()]
            self._fail([f"it never comes to rest; it has last written {last}", *failing])

    def _count(self) -> None:
        """How many places there were for each trouble."""
        self.run.numbers = {
            Trouble.BEFORE: self._disturber.calls,
            Trouble.AFTER: self._disturber.calls,
            Trouble.LOST: self._disturber.calls,
            Trouble.CUT: self._disturber.events,
            Trouble.LATE: self._disturber.child_events,
        }

    def _note(self, what: str, *, is_fault: bool = False) -> None:
        words = " ".join(in_short(each, home=self.namespace) for each in what.split(" "))
        at = self.clock.monotonic()
        self._noted.append(Noted(self.moment(), at, OPERATOR, words, is_fault))

    def _kill(self) -> None:
        if self._operator is not None:
            self._operator.kill_now()
            if self._disturber.is_endless:
                return
            self._was_killed = True
            # In nobody's context: in that of the dead nothing happens any more.
            self._world.loop.call_later(GONE_SECONDS, self._rise, context=Context())

    def _rise(self) -> None:
        if self._operator is not None:
            self._note("starts again")
            self._operator = self._operator.again()

    async def _look_twice(self) -> None:
        before = self.moment()
        await self.look_again()
        await self._rest()
        writes = self.writes_since(before)
        if writes:
            words = self._words(writes)
            self._fail([f"a second pass over what is done should write nothing, and wrote {words}"])

    def _words(self, writes: Iterable[Asked]) -> str:
        home = self.namespace
        return ", ".join(f"{each.method} {in_short(each.target, home=home)}" for each in writes)

    def _compare(self) -> None:
        state = self._state()
        place = len(self.run.states)
        self.run.states.append(state)
        if self._calm is None:
            return
        if place >= len(self._calm.states):
            self._fail([f"the story rests more often than without a fault: {place + 1} times"])
        found = differences(self._calm.states[place], state)
        if found:
            self._fail(found)

    def _fail(self, found: Iterable[str]) -> None:
        self.run.found.extend(found)
        raise _Unlike

    def _state(self) -> State:
        changed: list[dict[str, Any]] = []
        unchanged: list[dict[str, Any]] = []
        for entry in self._log.standing():
            if entry.value is not None:
                (changed if entry.revision > self._beginning else unchanged).append(entry.value)
        lost = [ref for key, ref in self._there.items() if not _stands(self._log.latest(key))]
        return state_of(changed, unchanged=unchanged, lost=lost, outside=_plain(self._system))


def _child_watches(controllers: Sequence[Controller[Any]]) -> list[tuple[str, str]]:
    """The beginnings and ends of the paths at which these watch what they own, or else write."""
    watches: list[tuple[str, str]] = []
    for controller in controllers:
        owned = [each.kind for each in controller.owned]
        for kind in (*owned, *(each for each in controller.writes if each is not controller.kind)):
            of = kind.resource_type
            version = of.gvk.version
            start = f"/apis/{of.gvk.group}/{version}/" if of.gvk.group else f"/api/{version}/"
            watches.append((start, f"/{of.plural}"))
    return watches


def _plain(system: Any) -> Any:
    """What there is to see of a system beyond the cluster."""
    return msgspec.to_builtins(
        getattr(system, "__dict__", system),
        str_keys=True,
        order="deterministic",
        enc_hook=lambda each: type(each).__name__,
    )


def _stands(entry: Any) -> bool:
    return entry is not None and entry.value is not None
