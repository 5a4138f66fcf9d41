"""What may become a label."""

from typing import Final

# An operator works with a dozen resources in a dozen ways. Names can come from the cluster, and
# each new one would cost memory here and in Prometheus for ever; past this they are all "other".
MOST_VALUES: Final = 100


def bounded(value: str, known: set[str]) -> str:
    """The value, if it is one of the first hundred in ``known``; it is put there."""
    if value not in known:
        if len(known) >= MOST_VALUES:
            return "other"
        known.add(value)
    return value
