"""Limits the number of different values of a metric's label."""

from typing import Final

# An operator has about a dozen values for a label. Names can come from the cluster, and each new
# one costs memory here and in Prometheus permanently; beyond the limit, the label is "other".
MAX_VALUES: Final = 100


def bounded(value: str, known: set[str]) -> str:
    """Return ``value`` if it is one of the first hundred different values, else ``"other"``.

    The first hundred values are stored in ``known``.
    """
    if value not in known:
        if len(known) >= MAX_VALUES:
            return "other"
        known.add(value)
    return value
