"""Maps values to positions, and selects the ticks of an axis."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

STEPS = (1, 2, 5, 10)
MAX_TICKS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Maps values to positions from ``start`` to ``end``, linearly or logarithmically."""

    low: float
    high: float
    start: float
    end: float
    is_logarithmic: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high or (self.is_logarithmic and self.low <= 0):
            raise ValueError(f"invalid scale: from {self.low} to {self.high}")

    def __call__(self, value: float) -> float:
        """The position of a value, limited to the range of the scale."""
        value = min(max(value, self.low), self.high)
        if self.is_logarithmic:
            share = (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def even_ticks(high: float, *, about: int) -> Sequence[float]:
    """Round values from 0 to the first that is at least ``high``."""
    if high <= 0:
        return (0.0, 1.0)
    rough = high / about
    magnitude = 10.0 ** floor(log10(rough))
    step = next(step * magnitude for step in STEPS if step * magnitude >= rough * (1 - 1e-9))
    return [step * number for number in range(ceil(high / step - 1e-9) + 1)]


def enclosing(low: float, high: float) -> tuple[float, float]:
    """The nearest values of 1, 2, 5, 10, 20 and so on that enclose both."""
    below = max(each for each in _one_two_five(low, high) if each <= low * (1 + 1e-9))
    above = min(
        each for each in _one_two_five(low, high) if each >= high * (1 - 1e-9) and each > below
    )
    return below, above


def logarithmic_ticks(low: float, high: float) -> Sequence[float]:
    """1, 2 and 5 times each power of ten, or only the powers if there are too many."""
    ticks = [
        each for each in _one_two_five(low, high) if low * (1 - 1e-9) <= each <= high * (1 + 1e-9)
    ]
    powers = [each for each in ticks if abs(log10(each) - round(log10(each))) < 1e-9]
    return ticks if len(ticks) <= MAX_TICKS or len(powers) < 2 else powers


def _one_two_five(low: float, high: float) -> Iterator[float]:
    for power in range(floor(log10(low)) - 1, ceil(log10(high)) + 2):
        for step in (1, 2, 5):
            yield float(f"{step}e{power}")


def spaced(wanted: Iterable[float], *, gap: float, low: float, high: float) -> Sequence[float]:
    """Ascending positions close to ``wanted``, with at least ``gap`` between them."""
    places: list[float] = []
    for each in wanted:
        places.append(max(each, places[-1] + gap) if places else max(each, low))
    ceiling = high
    for index in reversed(range(len(places))):
        places[index] = min(places[index], ceiling)
        ceiling = places[index] - gap
    return places
