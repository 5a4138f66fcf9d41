"""What goes wrong in tests, simulations and clusters for development."""

from collections.abc import Sequence

from steersman.errors import BadValue, SteersmanError


class Deadlock(SteersmanError):
    """In a simulation every task waits, and nothing can happen any more."""

    def __init__(self, *, waiting: Sequence[str], after_seconds: float) -> None:
        self.waiting = tuple(waiting)
        self.after_seconds = after_seconds
        lines = "".join(f"\n  {each}" for each in waiting)
        super().__init__(
            f"nothing can happen any more after {after_seconds:g} s, and these wait."
            f" Find out who should have woken the first of them.{lines}"
        )


class DidNotSurvive(SteersmanError):
    """Disturbed, an operator came to something else: ``found``, after what ``trace`` tells.

    ``fault`` and ``seed`` lead there again.
    """

    def __init__(
        self, *, sweep: str, fault: str, seed: int, trace: Sequence[str], found: Sequence[str]
    ) -> None:
        self.sweep, self.fault, self.seed = sweep, fault, seed
        self.trace, self.found = tuple(trace), tuple(found)
        what, only = (f"the fault {fault!r}", f', only="{fault}"') if fault else ("no fault", "")
        lines = "".join(f"{line}\n" for line in (*trace, *(f"  {each}" for each in found)))
        replay = f"replay: await {sweep}(scenario, seed={seed}{only})"
        super().__init__(f"with {what} and seed {seed} this happened:\n\n{lines}\n{replay}")


class NotRepeatable(SteersmanError):
    """Without any fault, a scenario came to something else when it was run again."""

    def __init__(self, *, seed: int, found: Sequence[str]) -> None:
        self.seed, self.found = seed, tuple(found)
        lines = "".join(f"\n  {each}" for each in found)
        super().__init__(
            f"run twice with seed {seed} and without any fault, the scenario did not come to the"
            f" same, so no fault can be blamed for a difference:{lines}\nChance or time came from"
            " outside the cluster. Take them from the context (ctx.rng, ctx.token(), ctx.now)"
            " instead of random, secrets, uuid or datetime, and keep nothing in a module or"
            " closure that is there for both runs; or leave fields out with Scenario(ignore=[…])."
        )


class BadScenario(SteersmanError, TypeError):
    """A scenario that no sweep can run, or in which a crash would not lose what is in memory."""

    def __init__(self, *, problem: str, what_now: str) -> None:
        self.problem = problem
        super().__init__(f"{problem}. {what_now}")


class TimeCannotBeSkipped(SteersmanError):
    """A test on a real cluster asked for what only time that is a number can do."""

    def __init__(self, *, wanted: str) -> None:
        self.wanted = wanted
        what_now = "Mark the test with pytest.mark.embedded_only, or wait with settle()."
        super().__init__(f"could not {wanted}: a real cluster has its own time. {what_now}")


class ControlPlaneError(SteersmanError):
    """A control plane for tests could not be found, built, started or used."""

    def __init__(self, *, problem: str, what_now: str, log_tail: str = "") -> None:
        self.problem = problem
        self.log_tail = log_tail
        tail = f"\n\n{log_tail}" if log_tail else ""
        super().__init__(f"{problem}. {what_now}{tail}")


class ClusterError(SteersmanError):
    """The embedded cluster could not be started, or not with what it was given."""

    def __init__(self, *, problem: str, what_now: str) -> None:
        self.problem = problem
        super().__init__(f"{problem}. {what_now}")


class NamespaceHeld(SteersmanError):
    """Something in a namespace that is being deleted cannot be deleted, or not even be found."""

    def __init__(self, *, namespace: str, problems: Sequence[str]) -> None:
        self.namespace = namespace
        self.problems = tuple(problems)
        super().__init__(
            f"Namespace {namespace} cannot be let go: {'; '.join(problems)}."
            f" Its conditions say more; it is tried again."
        )


class UnknownExample(BadValue):
    """There is no example of this name; ``known`` are those that there are."""

    def __init__(self, *, name: str, known: Sequence[str], like: str | None) -> None:
        self.name = name
        self.known = tuple(known)
        self.like = like
        meant = f"; perhaps {like} was meant" if like is not None else ""
        rule = f"Choose one of {', '.join(known)}" if known else "There is none at all"
        super().__init__(wanted="an example", value=name, rule=rule)
        # A sentence of its own, which names an example that was probably meant.
        self.args = (f"there is no example called {name}{meant}. {rule}.",)


class NotRejected(SteersmanError):
    """In a demo, the server accepted what it had to reject; ``step`` is what was said of it."""

    def __init__(self, *, step: str) -> None:
        self.step = step
        super().__init__(
            f"the server took what it was to refuse, in the step {step!r}."
            " Give the kind a rule that refuses it, or correct its steps."
        )
