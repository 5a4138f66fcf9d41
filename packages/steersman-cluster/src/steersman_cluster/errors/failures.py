"""The errors of tests, simulations and clusters for development."""

from collections.abc import Sequence

from steersman.errors import BadValue, SteersmanError


class Deadlock(SteersmanError):
    """Every task of a simulation waits, and no timer is pending."""

    def __init__(self, *, waiting: Sequence[str], after_seconds: float) -> None:
        self.waiting = tuple(waiting)
        self.after_seconds = after_seconds
        lines = "".join(f"\n  {each}" for each in waiting)
        super().__init__(
            f"after {after_seconds:g} s every task waits, and no timer is pending."
            f" Find out what should have resumed the first of these tasks:{lines}"
        )


class CrashSweepFailed(SteersmanError):
    """An operator reached a different state because of a fault that a sweep injected.

    ``found`` lists the differences to the state without the fault, and ``trace`` the events before
    them. Pass ``fault`` (as ``only``) and ``seed`` to the function named ``sweep`` to replay the
    failure.
    """

    def __init__(
        self, *, sweep: str, fault: str, seed: int, trace: Sequence[str], found: Sequence[str]
    ) -> None:
        self.sweep, self.fault, self.seed = sweep, fault, seed
        self.trace, self.found = tuple(trace), tuple(found)
        what, only = (f"the fault {fault!r}", f', only="{fault}"') if fault else ("no fault", "")
        lines = "".join(f"{line}\n" for line in (*trace, *(f"  {each}" for each in found)))
        replay = f"replay: await {sweep}(scenario, seed={seed}{only})"
        super().__init__(f"with {what} and seed {seed} the state differs:\n\n{lines}\n{replay}")


class NotDeterministic(SteersmanError):
    """A scenario, executed twice with the same seed and without faults, reached two states.

    ``found`` lists the differences between the states.
    """

    def __init__(self, *, seed: int, found: Sequence[str]) -> None:
        self.seed, self.found = seed, tuple(found)
        lines = "".join(f"\n  {each}" for each in found)
        super().__init__(
            f"two runs of the scenario with seed {seed} and without faults differ, so a sweep"
            f" cannot attribute differences to faults:{lines}\nThe operator uses randomness or time"
            " from outside the cluster, or state that both runs share. Use the context (ctx.rng,"
            " ctx.token(), ctx.now) instead of random, secrets, uuid or datetime, and keep no state"
            " in a module or closure; or ignore the fields with Scenario(ignore=[…])."
        )


class BadScenario(SteersmanError, TypeError):
    """A scenario is invalid: no sweep can execute it, or its operator would survive a crash.

    An operator survives a crash if a later instance uses objects of an earlier instance.
    """

    def __init__(self, *, problem: str, what_now: str) -> None:
        self.problem = problem
        super().__init__(f"{problem}. {what_now}")


class TimeCannotBeSkipped(SteersmanError):
    """A test on a real cluster tried to advance time, which only a simulation can do."""

    def __init__(self, *, wanted: str) -> None:
        self.wanted = wanted
        what_now = "Mark the test with pytest.mark.embedded_only, or wait with settle()."
        super().__init__(f"could not {wanted}: a real cluster runs in real time. {what_now}")


class ControlPlaneError(SteersmanError):
    """A control plane for tests could not be found, built, started or used.

    ``log_tail`` contains the last lines that the failed program has written.
    """

    def __init__(self, *, problem: str, what_now: str, log_tail: str = "") -> None:
        self.problem = problem
        self.log_tail = log_tail
        tail = f"\n\n{log_tail}" if log_tail else ""
        super().__init__(f"{problem}. {what_now}{tail}")


class ClusterError(SteersmanError):
    """The embedded cluster could not be started with the given settings."""

    def __init__(self, *, problem: str, what_now: str) -> None:
        self.problem = problem
        super().__init__(f"{problem}. {what_now}")


class NamespaceDeletionFailed(SteersmanError):
    """Objects in a namespace that is being deleted could not be listed or deleted.

    ``problems`` describes each failure.
    """

    def __init__(self, *, namespace: str, problems: Sequence[str]) -> None:
        self.namespace = namespace
        self.problems = tuple(problems)
        super().__init__(
            f"the contents of namespace {namespace} could not be deleted: {'; '.join(problems)}."
            " The namespace's conditions have the details; the controller retries."
        )


class UnknownExample(BadValue):
    """There is no example called ``name``.

    ``known`` are the names of all examples, and ``like`` is the most similar one, if any.
    """

    def __init__(self, *, name: str, known: Sequence[str], like: str | None) -> None:
        self.name = name
        self.known = tuple(known)
        self.like = like
        meant = f"; the most similar name is {like}" if like is not None else ""
        rule = f"Choose one of {', '.join(known)}" if known else "No examples are installed"
        super().__init__(wanted="an example", value=name, rule=rule)
        # Replaces the message, to suggest the example that was probably meant.
        self.args = (f"the example {name} does not exist{meant}. {rule}.",)


class NotRejected(SteersmanError):
    """In the step ``step`` of a demo, the server accepted a request that it must reject."""

    def __init__(self, *, step: str) -> None:
        self.step = step
        super().__init__(
            f"the server accepted a request that it must reject, in the step {step!r}."
            " Add a rule to the kind that rejects it, or correct the demo's steps."
        )
