"""Fits the growth of a value with the number of objects to a power law.

A point is a number of objects and the measured value. Points are sorted by the number.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import log
from statistics import fmean
from typing import TypeAlias

Points: TypeAlias = Sequence[tuple[float, float]]


def exponent(points: Points) -> float:
    """The k of ``b * n ** k`` through these points: 1 is linear, 0 is flat.

    The fit minimizes the squares of the logarithms, so that relative errors have equal weight.
    """
    if len({objects for objects, _ in points}) < 2 or min(min(point) for point in points) <= 0:
        raise ValueError(f"the fit needs two different numbers of objects and no zero: {points}")
    logs = [(log(objects), log(value)) for objects, value in points]
    x_mean, y_mean = (fmean(each) for each in zip(*logs, strict=True))
    along = sum((x - x_mean) ** 2 for x, _ in logs)
    return sum((x - x_mean) * (y - y_mean) for x, y in logs) / along


def slopes(points: Points) -> Points:
    """The increase for each additional object, between each point and the previous one."""
    return [
        (after, (later - earlier) / (after - before))
        for (before, earlier), (after, later) in pairwise(points)
    ]


def exponent_above(start: float, points: Points) -> float | None:
    """The k of ``start + b * n ** k``: a constant start would hide the growth of the rest.

    ``None`` if a value is not above the start, which is noise.
    """
    above = [(objects, value - start) for objects, value in points]
    return exponent(above) if all(value > 0 for _, value in above) else None
