"""Equality of JSON values. In Python, ``True == 1``; in JSON, true and 1 differ."""

from typing import Any


def same_json(one: Any, other: Any) -> bool:
    """Whether two decoded JSON values are equal; ``True`` is not ``1``, and ``1`` is ``1.0``."""
    # Python compares in C; only values that Python considers equal are traversed.
    return one is other or (bool(one == other) and same_booleans(one, other))


def same_booleans(one: Any, other: Any) -> bool:
    """Whether ``one`` and ``other``, which are equal in Python, are equal in JSON too."""
    if one.__class__ is dict:
        for name, each in one.items():
            # Most values are strings, or identical.
            if each.__class__ is str or each is (its := other[name]):
                continue
            if not same_booleans(each, its):
                return False
        return True
    if one.__class__ is list:
        for each, its in zip(one, other, strict=True):
            if each.__class__ is str or each is its:
                continue
            if not same_booleans(each, its):
                return False
        return True
    return (one.__class__ is bool) is (other.__class__ is bool)
