"""How something grows with the number of objects, estimated from a few points.

A point is a number of objects and what was measured then, in order of that number.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import log
from statistics import fmean
from typing import TypeAlias

Points: TypeAlias = Sequence[tuple[float, float]]


def exponent(points: Points) -> float:
    """The k of ``b * n ** k`` through these points: 1 is linear, 0 is flat.

    By least squares of the logarithms: a tenth too much counts the same at both ends.
    """
    if len({objects for objects, _ in points}) < 2 or min(min(point) for point in points) <= 0:
        raise ValueError(f"how it grows needs two different numbers and no zero, got {points}")
    logs = [(log(objects), log(value)) for objects, value in points]
    x_mean, y_mean = (fmean(each) for each in zip(*logs, strict=True))
    along = sum((x - x_mean) ** 2 for x, _ in logs)
    return sum((x - x_mean) * (y - y_mean) for x, y in logs) / along


def for_each_more(points: Points) -> Points:
    """For each object more, between a point and the one before; what was there at first is out."""
    return [
        (after, (later - earlier) / (after - before))
        for (before, earlier), (after, later) in pairwise(points)
    ]


def exponent_above(start: float, points: Points) -> float | None:
    """The k of ``start + b * n ** k``: whatever a start costs, it cannot hide how the rest grows.

    None if something with objects was no more than a start, which is chance.
    """
    above = [(objects, value - start) for objects, value in points]
    return exponent(above) if all(value > 0 for _, value in above) else None
