"""A file watcher that polls for changed files."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from steersman.clock import Clock

# Shorter than switching from the editor to the terminal takes, and still cheap.
POLL_SECONDS: Final = 0.25

# Modification time in nanoseconds, and size.
Stamp: TypeAlias = tuple[int, int]


class FileWatcher:
    """Watches single files, and in directories all files whose names end with one of ``endings``.

    ``places`` are the files and directories.
    """

    def __init__(self, places: Iterable[Path], *, endings: tuple[str, ...]) -> None:
        self._places = set(places)
        self._endings = endings
        self._known = self._stamps_in(self._places)

    def __repr__(self) -> str:
        return f"<FileWatcher of {len(self._known)} files>"

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files that existed at the watcher's last scan."""
        return tuple(sorted(map(Path, self._known)))

    def add(self, places: Iterable[Path]) -> None:
        """Watch the files and directories in ``places`` as well."""
        new = set(places) - self._places
        self._places |= new
        self._known.update(self._stamps_in(new))

    async def next(self, *, clock: Clock) -> tuple[Path, ...]:
        """Wait until files are saved, added or removed, and return these files.

        The method returns once two successive polls show no further change.
        """
        while not (changed := differing(self._known, seen := self._stamps_in(self._places))):
            await clock.sleep(POLL_SECONDS)
        while True:
            await clock.sleep(POLL_SECONDS)
            again = self._stamps_in(self._places)
            if again == seen:
                break
            changed |= differing(seen, again)
            seen = again
        self._known = seen
        return tuple(sorted(map(Path, changed)))

    def _stamps_in(self, places: Iterable[Path]) -> dict[str, Stamp]:
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
                continue  # removed, or not created yet
        return found


def _stamp(stat: os.stat_result) -> Stamp:
    return (stat.st_mtime_ns, stat.st_size)


def differing(before: Mapping[str, Stamp], now: Mapping[str, Stamp]) -> set[str]:
    """Return the files that were changed, removed or added between ``before`` and ``now``."""
    return {path for path in {*before, *now} if before.get(path) != now.get(path)}
