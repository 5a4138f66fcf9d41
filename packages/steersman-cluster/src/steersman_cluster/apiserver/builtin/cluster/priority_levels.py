"""PriorityLevelConfigurations: how many requests of a level run, and how many wait."""

from collections.abc import Iterator
from math import ceil, log2
from typing import Any, Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.strategy import Object

EXEMPT: Final = "exempt"
MAX_QUEUES: Final = 10_000_000
# The bits of a flow's hash that shuffle sharding uses to choose its hand of queues.
HASH_BITS: Final = 60


def priority_level_errors(level: Object) -> list[FieldError]:
    """Return the errors in the spec of a PriorityLevelConfiguration."""
    return list(_spec_errors(level.get("spec") or {}, level["metadata"].get("name", "")))


def _spec_errors(spec: Object, name: str) -> Iterator[FieldError]:
    type_ = spec.get("type", "")
    if (name == EXEMPT) != (type_ == "Exempt"):
        yield invalid("spec.type", type_, "must be 'Exempt' if and only if `name` is 'exempt'")
    match type_:
        case "Exempt":
            if "limited" in spec:
                yield forbidden("spec.limited", "must be nil if the type is not Limited")
            yield from _EXEMPT(spec.get("exempt") or {}, "spec.exempt")
        case "Limited":
            if "exempt" in spec:
                yield forbidden("spec.exempt", "must be nil if the type is Limited")
            yield from _LIMITED(spec, "spec")
        case "":
            yield required("spec.type", "")
        case _:
            yield not_supported("spec.type", type_, ["Exempt", "Limited"])


_WHOLE: Final = "must be a non-negative integer"
_SHARES: Final = rule.given(
    "nominalConcurrencyShares", rule.must(lambda shares: shares >= 0, _WHOLE)
)
_LENDABLE: Final = rule.given("lendablePercent", rule.between(0, 100))
_EXEMPT: Final = rule.table(_SHARES, _LENDABLE)


def _response_errors(response: Object, path: str) -> Iterator[FieldError]:
    match response.get("type", ""):
        case "Reject":
            if "queuing" in response:
                problem = "must be nil if limited.limitResponse.type is not Limited"
                yield forbidden(f"{path}.queuing", problem)
        case "Queue":
            yield from _QUEUING(response, path)
        case "":
            yield required(f"{path}.type", "")
        case other:
            yield not_supported(f"{path}.type", other, ["Queue", "Reject"])


def _queuing_errors(queuing: Object, at: str) -> Iterator[FieldError]:
    length, queues, hand = (
        _number(queuing, name) for name in ("queueLengthLimit", "queues", "handSize")
    )
    if length <= 0:
        yield invalid(f"{at}.queueLengthLimit", length, "must be positive")
    if queues <= 0:
        yield invalid(f"{at}.queues", queues, "must be positive")
    elif queues > MAX_QUEUES:
        yield invalid(f"{at}.queues", queues, f"must not be greater than {MAX_QUEUES}")
    if hand <= 0:
        yield invalid(f"{at}.handSize", hand, "must be positive")
    elif hand > queues:
        yield invalid(f"{at}.handSize", hand, f"should not be greater than queues ({queues})")
    elif _entropy_bits(queues, hand) > HASH_BITS:
        problem = (
            f"required entropy bits of deckSize {queues} and handSize {hand}"
            f" should not be greater than {HASH_BITS}"
        )
        yield invalid(f"{at}.handSize", hand, problem)


def _number(part: Object, name: str) -> int:
    value: Any = part.get(name, 0)
    return int(value)


def _entropy_bits(queues: int, hand: int) -> int:
    """Return how many bits of entropy shuffle sharding needs to select ``hand`` of ``queues``."""
    return ceil(log2(queues) * hand)


_QUEUING: Final = rule.needed(
    "queuing",
    rule.code(_queuing_errors),
    detail="must not be empty if limited.limitResponse.type is Limited",
)
_LIMITED: Final = rule.needed(
    "limited",
    _SHARES,
    rule.always("limitResponse", rule.code(_response_errors), default={}),
    _LENDABLE,
    rule.given(
        "borrowingLimitPercent",
        rule.must(lambda share: share >= 0, f"if specified, {_WHOLE}"),
    ),
    detail="must not be empty when type is Limited",
)
