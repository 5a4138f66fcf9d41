"""A histogram in plain numbers, for observations too frequent for a prometheus_client histogram."""

from bisect import bisect_left

from prometheus_client.utils import floatToGoString


class Seconds:
    """A histogram of durations in buckets; ``bounds`` are the upper bounds of the buckets."""

    __slots__ = ("_bounds", "_counts", "sum_seconds")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.sum_seconds = 0.0

    def observe(self, seconds: float) -> None:
        """Count a duration of ``seconds`` in its bucket."""
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self.sum_seconds += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """Return the upper bound of each bucket, as text, with its cumulative count."""
        total = 0
        cumulative: list[tuple[str, float]] = []
        ends = map(floatToGoString, (*self._bounds, float("inf")))
        for end, count in zip(ends, self._counts, strict=True):
            total += count
            cumulative.append((end, total))
        return cumulative
