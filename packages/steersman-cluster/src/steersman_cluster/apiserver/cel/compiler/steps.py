"""The steps of an evaluation: closures that call other steps.

Each step receives the frame, a list: first the cost so far, then the variables of the expression,
then the variables of its loops.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from steersman_cluster.apiserver.cel.compiler.call_costs import Meter
from steersman_cluster.apiserver.cel.errors import CostExceeded, NotEvaluated
from steersman_cluster.apiserver.cel.field_selection import indexed, present, selected
from steersman_cluster.apiserver.cel.values import NONE, Broken, Function, Optional, kind_of

Frame: TypeAlias = list[Any]
Step: TypeAlias = Callable[[Frame], Any]

# kube-apiserver's cost limit of one expression.
LIMIT: Final = 1_000_000

LIST_COST: Final = 10
_MAP_COST: Final = 30
_KEYS: Final = frozenset(("bool", "int", "uint", "string"))


class Constant:
    """A step whose value is already determined when the expression is compiled."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, _: Frame) -> Any:
        return self.value


def variable(slot: int) -> Step:
    def run(frame: Frame) -> Any:
        frame[0] += 1
        return frame[slot]

    return run


def uncertain(slot: int) -> Step:
    """Return a step for the variable in ``slot``, which can contain an evaluation error.

    The step raises such an error.
    """

    def run(frame: Frame) -> Any:
        frame[0] += 1
        value = frame[slot]
        if type(value) is NotEvaluated:
            raise value
        return value

    return run


def presence(operand: Step, name: str, cost: int) -> Step:
    def run(frame: Frame) -> bool:
        frame[0] += cost
        return present(operand(frame), name)

    return run


def field_of_object(operand: Step, field: str, name: str, cost: int) -> Step:
    """Return a step for the property ``name`` of the object that ``operand`` returns.

    If the property is missing, the error message calls it ``field``.
    """

    def run(frame: Frame) -> Any:
        frame[0] += cost
        within = operand(frame)
        if not isinstance(within, dict):
            # In a messageExpression: the oldSelf of a rule with optionalOldSelf.
            raise NotEvaluated
        value = within.get(name)
        if value is None:
            raise NotEvaluated(f"no such key: {field}")
        if type(value) is Broken:
            raise NotEvaluated(value.message)
        return value

    return run


def selection(operand: Step, name: str, cost: int) -> Step:
    def run(frame: Frame) -> Any:
        frame[0] += cost
        found = selected(operand(frame), name)
        if found is NONE:  # the selection of a missing field costs nothing
            frame[0] -= 1
        return found

    return run


def element(operand: Step, index: Step, cost: int, *, optional: bool) -> Step:
    def run(frame: Frame) -> Any:
        frame[0] += cost
        found = indexed(operand(frame), index(frame), optional=optional)
        if found is NONE:
            frame[0] -= 1
        return found

    return run


def logical(first: Step, second: Step, *, absorbing: bool) -> Step:
    """Return a step for ``&&`` or ``||``; the value ``absorbing`` on one side is the result.

    This is true even if the other side fails.
    """

    def run(frame: Frame) -> bool:
        failure: NotEvaluated | None = None
        try:
            value: object = first(frame)
            if value is absorbing:
                return absorbing
            if value is not True and value is not False:
                failure = NotEvaluated()
        except NotEvaluated as error:
            failure = error
        try:
            value = second(frame)
        except NotEvaluated as error:
            raise failure or error from None
        if value is absorbing:
            return absorbing
        if failure is not None:
            raise failure
        if value is not True and value is not False:
            raise NotEvaluated
        return bool(value)

    return run


def conditional(condition: Step, first: Step, second: Step) -> Step:
    def run(frame: Frame) -> Any:
        value = condition(frame)
        if value is True:
            return first(frame)
        if value is False:
            return second(frame)
        raise NotEvaluated

    return run


def with_cost(step: Step, cost: int) -> Step:
    def run(frame: Frame) -> Any:
        frame[0] += cost
        return step(frame)

    return run


def not_strictly_false(step: Step) -> Step:
    def run(frame: Frame) -> bool:
        frame[0] += 1
        try:
            return step(frame) is not False
        except NotEvaluated:
            return True

    return run


def alternative(first: Step, second: Step, *, unwraps: bool) -> Step:
    """Return a step that returns the optional of ``first``, or runs ``second`` if it is empty.

    If ``unwraps`` is true, the step returns the value inside the optional instead of the optional.
    """

    def run(frame: Frame) -> Any:
        value = first(frame)
        if not isinstance(value, Optional):
            raise NotEvaluated
        if value.has_value:
            return value.value if unwraps else value
        return second(frame)

    return run


def append_step(slot: int, elements: tuple[Step, ...]) -> Step:
    """Return a step that appends ``elements`` to the list in ``slot``, in place.

    No other value shares this list, the accumulator of a loop.
    """
    all_constant = all(isinstance(each, Constant) for each in elements)
    cost = 2 + (0 if all_constant else LIST_COST)

    def run(frame: Frame) -> Any:
        accumulated = frame[slot]
        if type(accumulated) is NotEvaluated:
            raise accumulated
        for each in elements:
            accumulated.append(each(frame))
        frame[0] += cost
        return accumulated

    return run


def membership(wanted: Step, within: list[Any]) -> Step:
    """Return a step that searches the list of constants ``within`` for a value.

    ``wanted`` is the step that returns the value. Only this step has a cost, not the search.
    """
    members = {(isinstance(each, bool), each) for each in within}

    def run(frame: Frame) -> bool:
        value = wanted(frame)
        if isinstance(value, list | dict):
            return False
        return (value is True or value is False, value) in members

    return run


def new_list(elements: tuple[Step, ...], optional: frozenset[int]) -> Step:
    def run(frame: Frame) -> list[Any]:
        found = []
        for index, step in enumerate(elements):
            value = step(frame)
            if index in optional:
                if not isinstance(value, Optional):
                    raise NotEvaluated
                if not value.has_value:
                    continue
                value = value.value
            found.append(value)
        frame[0] += LIST_COST
        return found

    return run


def new_map(entries: list[tuple[Step, Step, bool]]) -> Step:
    def run(frame: Frame) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key_step, value_step, optional in entries:
            key, value = key_step(frame), value_step(frame)
            if kind_of(key) not in _KEYS:
                raise NotEvaluated(f"unsupported key type: {kind_of(key)}")
            if optional:
                if not isinstance(value, Optional):
                    raise NotEvaluated
                if not value.has_value:
                    continue
                value = value.value
            found[key] = value
        frame[0] += _MAP_COST
        return found

    return run


def loop(
    over: Step,
    initial: Step | None,
    condition: Step,
    step: Step,
    result: Step,
    *,
    slot: int,
    takes_two: bool,
) -> Step:
    """Return a step for a loop, which runs ``step`` for each element of ``over``.

    The accumulator is in ``slot``, the loop variables are in the next two slots. Without
    ``initial``, the accumulator starts as a new list.
    """
    first, second = slot + 1, slot + 2

    def run(frame: Frame) -> Any:
        value = over(frame)
        frame[slot] = [] if initial is None else initial(frame)
        for each, other in _pairs(value) if takes_two else _singles(value):
            frame[first] = each
            frame[second] = other
            if condition(frame) is not True:
                break
            # The error becomes the accumulator: a later element may still determine the result.
            try:
                frame[slot] = step(frame)
            except NotEvaluated as error:
                frame[slot] = error
            if frame[0] > LIMIT:
                raise CostExceeded
        return result(frame)

    return run


def _pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, list):
        return enumerate(value)
    if isinstance(value, dict):
        return value.items()
    raise _no_range(value)


def _singles(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, list | dict):
        return ((each, None) for each in value)
    raise _no_range(value)


def _no_range(value: Any) -> NotEvaluated:
    return NotEvaluated(f"got 'types.{kind_of(value).capitalize()}', expected iterable type")


def call_of(function: Function, args: tuple[Step, ...], meter: Meter | None) -> Step:
    """Return a step that calls ``function`` with the values of ``args``.

    The call costs what ``meter`` returns, or one unit if ``meter`` is None.
    """
    if meter is not None:

        def metered(frame: Frame) -> Any:
            values = tuple([each(frame) for each in args])
            try:
                result = function(*values)
            except NotEvaluated:
                frame[0] += meter(values, None)
                raise
            frame[0] += meter(values, result)
            if frame[0] > LIMIT:
                raise CostExceeded
            return result

        return metered
    if len(args) == 1:
        (only,) = args

        def run_one(frame: Frame) -> Any:
            frame[0] += 1
            return function(only(frame))

        return run_one
    if len(args) == 2:
        first, second = args

        def run_two(frame: Frame) -> Any:
            frame[0] += 1
            return function(first(frame), second(frame))

        return run_two

    def run_many(frame: Frame) -> Any:
        frame[0] += 1
        return function(*[each(frame) for each in args])

    return run_many
