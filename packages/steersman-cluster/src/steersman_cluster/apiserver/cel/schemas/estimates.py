"""Ranges of numbers, capped at the largest number that kube-apiserver can count."""

from math import ceil
from typing import Final, NamedTuple

LARGEST: Final = (1 << 64) - 1


class Estimate(NamedTuple):
    """A size or a cost, as a minimum and a maximum."""

    least: int
    most: int

    def plus(self, other: "Estimate") -> "Estimate":
        return Estimate(
            min(LARGEST, self.least + other.least), min(LARGEST, self.most + other.most)
        )

    def times(self, other: "Estimate") -> "Estimate":
        return Estimate(
            min(LARGEST, self.least * other.least), min(LARGEST, self.most * other.most)
        )

    def scaled(self, factor: float) -> "Estimate":
        return Estimate(_scaled(self.least, factor), _scaled(self.most, factor))

    def union(self, other: "Estimate") -> "Estimate":
        return Estimate(min(self.least, other.least), max(self.most, other.most))


def _scaled(number: int, factor: float) -> int:
    # In doubles, as the real server does it: what they cannot hold exactly is rounded the same.
    product = float(number) * factor
    if number > 0 and factor > 0 and float(number) > float(LARGEST) / factor:
        return LARGEST
    whole = ceil(product)
    return LARGEST if whole >= 1 << 64 else whole


def exactly(number: int) -> Estimate:
    return Estimate(number, number)


UNKNOWN: Final = Estimate(0, LARGEST)
NOTHING: Final = Estimate(0, 0)
ONE: Final = Estimate(1, 1)
