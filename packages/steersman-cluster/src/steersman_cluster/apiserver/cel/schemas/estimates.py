"""Ranges of numbers, capped at the largest number that kube-apiserver can count."""

from math import ceil
from typing import Final, NamedTuple

from steersman_cluster.apiserver.cel.values import MAX_UINT


class Estimate(NamedTuple):
    """A size or a cost, as a minimum and a maximum."""

    minimum: int
    maximum: int

    def plus(self, other: "Estimate") -> "Estimate":
        return Estimate(
            min(MAX_UINT, self.minimum + other.minimum), min(MAX_UINT, self.maximum + other.maximum)
        )

    def times(self, other: "Estimate") -> "Estimate":
        return Estimate(
            min(MAX_UINT, self.minimum * other.minimum), min(MAX_UINT, self.maximum * other.maximum)
        )

    def scaled(self, factor: float) -> "Estimate":
        return Estimate(_scaled(self.minimum, factor), _scaled(self.maximum, factor))

    def union(self, other: "Estimate") -> "Estimate":
        return Estimate(min(self.minimum, other.minimum), max(self.maximum, other.maximum))


def _scaled(number: int, factor: float) -> int:
    # In doubles, as in kube-apiserver, so that the rounding is the same.
    product = float(number) * factor
    if number > 0 and factor > 0 and float(number) > float(MAX_UINT) / factor:
        return MAX_UINT
    whole = ceil(product)
    return MAX_UINT if whole >= 1 << 64 else whole


def exactly(number: int) -> Estimate:
    return Estimate(number, number)


UNKNOWN: Final = Estimate(0, MAX_UINT)
NOTHING: Final = Estimate(0, 0)
ONE: Final = Estimate(1, 1)
