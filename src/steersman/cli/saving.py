"""Which files somebody has saved since the last look."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from steersman.clock import Clock

# Sooner than somebody has gone from the editor to the terminal, and still next to no work.
LOOK_SECONDS: Final = 0.25

# When it was saved last, and how long it is.
Stamp: TypeAlias = tuple[int, int]


class Saves:
    """Looks after some files, and all with these endings in some directories, not further down."""

    def __init__(self, places: Iterable[Path], *, endings: tuple[str, ...]) -> None:
        self._places = set(places)
        self._endings = endings
        self._known = self._look()

    def __repr__(self) -> str:
        return f"<Saves of {len(self._known)} files>"

    @property
    def files(self) -> tuple[Path, ...]:
        """Those that are there, as far as is known."""
        return tuple(sorted(map(Path, self._known)))

    def add(self, places: Iterable[Path]) -> None:
        """Look there, too, from now on."""
        new = set(places) - self._places
        self._places |= new
        self._known.update(self._look_in(new))

    async def next(self, *, clock: Clock) -> tuple[Path, ...]:
        """What was saved, added or removed, once nobody is writing any more."""
        while not (changed := differing(self._known, seen := self._look())):
            await clock.sleep(LOOK_SECONDS)
        while True:
            await clock.sleep(LOOK_SECONDS)
            again = self._look()
            if again == seen:
                break
            changed |= differing(seen, again)
            seen = again
        self._known = seen
        return tuple(sorted(map(Path, changed)))

    def _look(self) -> dict[str, Stamp]:
        return self._look_in(self._places)

    def _look_in(self, places: Iterable[Path]) -> dict[str, Stamp]:
        found: dict[str, Stamp] = {}
        for place in places:
            try:
                if place.is_file():
                    found[str(place)] = _stamp(place.stat())
                    continue
                with os.scandir(place) as entries:
                    for entry in entries:
                        if entry.name.endswith(self._endings) and entry.is_file():
                            found[entry.path] = _stamp(entry.stat())
            except OSError:
                continue  # what is there no more, or not yet
        return found


def _stamp(stat: os.stat_result) -> Stamp:
    return (stat.st_mtime_ns, stat.st_size)


def differing(before: Mapping[str, Stamp], now: Mapping[str, Stamp]) -> set[str]:
    """The files that are not what they were, or no more, or new."""
    return {path for path in {*before, *now} if before.get(path) != now.get(path)}
