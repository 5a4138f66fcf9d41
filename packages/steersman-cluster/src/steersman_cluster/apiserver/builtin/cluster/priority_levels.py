"""PriorityLevelConfigurations: how many requests of a level run, and how many wait."""

from collections.abc import Iterator
from math import ceil, log2
from typing import Any, Final

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
            yield from _share_errors("spec.exempt", spec.get("exempt") or {})
        case "Limited":
            if "exempt" in spec:
                yield forbidden("spec.exempt", "must be nil if the type is Limited")
            if "limited" in spec:
                yield from _limited_errors("spec.limited", spec["limited"])
            else:
                yield required("spec.limited", "must not be empty when type is Limited")
        case "":
            yield required("spec.type", "")
        case _:
            yield not_supported("spec.type", type_, ["Exempt", "Limited"])


def _limited_errors(at: str, limited: Object) -> Iterator[FieldError]:
    errors = list(_share_errors(at, limited))
    yield from (each for each in errors if each.field.endswith("Shares"))
    yield from _response_errors(f"{at}.limitResponse", limited.get("limitResponse") or {})
    yield from (each for each in errors if not each.field.endswith("Shares"))
    borrowing = limited.get("borrowingLimitPercent")
    if borrowing is not None and borrowing < 0:
        problem = "if specified, must be a non-negative integer"
        yield invalid(f"{at}.borrowingLimitPercent", borrowing, problem)


def _share_errors(at: str, part: Object) -> Iterator[FieldError]:
    shares, lendable = part.get("nominalConcurrencyShares"), part.get("lendablePercent")
    if shares is not None and shares < 0:
        yield invalid(f"{at}.nominalConcurrencyShares", shares, "must be a non-negative integer")
    if lendable is not None and not 0 <= lendable <= 100:
        yield invalid(f"{at}.lendablePercent", lendable, "must be between 0 and 100, inclusive")


def _response_errors(at: str, response: Object) -> Iterator[FieldError]:
    match response.get("type", ""):
        case "Reject":
            if "queuing" in response:
                problem = "must be nil if limited.limitResponse.type is not Limited"
                yield forbidden(f"{at}.queuing", problem)
        case "Queue":
            if "queuing" in response:
                yield from _queuing_errors(f"{at}.queuing", response["queuing"])
            else:
                problem = "must not be empty if limited.limitResponse.type is Limited"
                yield required(f"{at}.queuing", problem)
        case "":
            yield required(f"{at}.type", "")
        case other:
            yield not_supported(f"{at}.type", other, ["Queue", "Reject"])


def _queuing_errors(at: str, queuing: Object) -> Iterator[FieldError]:
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
