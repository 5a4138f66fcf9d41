"""The violations that the architecture tests still allow, counted, in files that only shrink.

``python -m tests.architecture.allowances`` prints where a file differs from the source, and updates
the files with ``--write``, unless the total of a file would grow. A renamed module keeps its count,
and comments after an entry are kept.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.file_paths import opened_paths
from tests.architecture.graph import cycle_sizes, import_graph, shortest_cycle
from tests.architecture.ing_names import ing_names
from tests.architecture.tree import modules
from tests.architecture.words import counts_by_file, explained

DIRECTORY = Path(__file__).parent / "allowed"
COMMAND = "python -m tests.architecture.allowances --write"

_ENTRY = re.compile(r'^"([^"]+)" = (\d+)( *#.*)?$')


@dataclass(frozen=True)
class Allowance:
    """The violations of a rule: a count for each name, and the file with the allowed ones."""

    name: str
    about: str  # the file's first line
    count: Callable[[], Mapping[str, int]]
    explain: Callable[[str], str] = lambda name: ""  # the violations of one name
    directory: Path = DIRECTORY

    @property
    def file(self) -> Path:
        return self.directory / f"{self.name}.toml"

    def allowed(self) -> dict[str, int]:
        return {name: number for name, (number, _) in self._entries().items()}

    def _entries(self) -> dict[str, tuple[int, str]]:
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        return {
            entry[1]: (int(entry[2]), entry[3] or "")
            for line in lines
            if (entry := _ENTRY.fullmatch(line))
        }

    def differences(self) -> Iterator[str]:
        """Names with more violations than are allowed, and names with fewer."""
        found, allowed = self.count(), self.allowed()
        for name in sorted(found.keys() | allowed.keys()):
            now, limit = found.get(name, 0), allowed.get(name, 0)
            if now > limit:
                why = self.explain(name)
                yield f"{name}: {now} found, {limit} allowed{f': {why}' if why else ''}"
            elif now < limit:
                yield f"{name}: only {now} found, {limit} allowed: run `{COMMAND}`"

    def write(self) -> bool:
        """Update the file, unless the total would grow."""
        found, entries = self.count(), self._entries()
        if self.file.exists() and sum(found.values()) > sum(self.allowed().values()):
            return False
        lines = [
            f'"{name}" = {number}{entries[name][1] if name in entries else ""}\n'
            for name, number in sorted(found.items())
        ]
        self.file.write_text(f"# {self.about}\n{''.join(lines)}", encoding="utf-8")
        return True


CYCLES = Allowance(
    "cycles",
    "Modules in import cycles, with the number of modules in the cycle.",
    lambda: cycle_sizes(import_graph(modules())),
    explain=lambda name: " → ".join(shortest_cycle(import_graph(modules()), name)),
)
ING_NAMES = Allowance("ing_names", "Modules whose name ends in -ing.", lambda: ing_names(modules()))
OPENED_PATHS = Allowance(
    "opened_paths",
    "Modules that open files outside their own package, and which.",
    lambda: opened_paths(modules()),
)
WORDS = Allowance(
    "words",
    "Files with words that the project avoids, and how many.",
    counts_by_file,
    explain=explained,
)

ALL = (CYCLES, ING_NAMES, OPENED_PATHS, WORDS)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.architecture.allowances")
    parser.add_argument("--write", action="store_true", help="bring the files up to date")
    write = parser.parse_args(arguments).write
    failed = False
    for allowance in ALL:
        if write:
            if allowance.write():
                continue
            sys.stdout.write(f"{allowance.name}: not written, because the total would grow\n")
        differences = list(allowance.differences())
        failed = failed or bool(differences)
        sys.stdout.writelines(f"{allowance.name}: {line}\n" for line in differences)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
