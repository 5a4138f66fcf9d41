"""Which tests run which lines, from the data of ``coverage_plugin``."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

# A file, a line, and the tests that run it.
CoveredLine: TypeAlias = tuple[Path, int, Iterable[str]]


def covered_lines(data: Path, files: Iterable[Path]) -> Iterator[CoveredLine]:
    """The lines of ``files`` in each file of ``data``."""
    from coverage import CoverageData

    files = list(files)
    for each in sorted(data.iterdir()):
        part = CoverageData(str(each))
        part.read()
        for file in files:
            for line, tests in part.contexts_by_lineno(str(file)).items():
                yield file, line, filter(None, tests)  # "" is the collection of tests


class CoverageMap:
    """The tests that run each line."""

    def __init__(self, lines: Iterable[CoveredLine]) -> None:
        self._tests: dict[tuple[Path, int], set[str]] = defaultdict(set)
        self._size: Counter[str] = Counter()
        for file, line, tests in lines:
            self._tests[file, line].update(tests)
        for found in self._tests.values():
            self._size.update(found)

    def tests(self, file: Path, lines: Iterable[int], *, nearest: Collection[str]) -> list[str]:
        """The tests that run one of ``lines``: those in ``nearest`` first, then the smallest."""
        found = {test for line in lines for test in self._tests.get((file, line), ())}
        return sorted(
            found,
            key=lambda each: (not each.startswith(tuple(nearest)), self._size[each], each),
        )
