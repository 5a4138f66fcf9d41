"""``RenameMap``: the public names that have changed, from ``scaffold/renames/*.toml``.

Each file has some of these tables, with ``"old" = "new"``:

    modules      dotted paths, with all that is below them
    names        dotted paths of classes, functions and constants
    attributes   of a steersman class: ``"steersman.simulation.History.asked" = "requests"``; a
                 key without a dot, such as ``"whys"``, applies to every steersman object, also
                 to one whose class is unknown
    keywords     arguments: ``"steersman.dashboard.Screen.colour" = "color"``; of a method,
                 ``"steersman.controller.Context.list.everywhere" = "all_namespaces"``
    results      classes of attributes, and of what functions return, or yield in a ``with``:
                 ``"steersman.simulation.SimulatedWorld.history" = "steersman.simulation.History"``
    flags        of the command line, with their dashes
    metrics      full names, without the suffixes of histograms
    extras       of the distribution: ``"webhooks" = "tls"`` for ``steersman[webhooks]``
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from typing import Final

PACKAGES: Final = ("steersman", "steersman_cluster")

Table = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameMap:
    """The current name for each old name; no current name is also an old name."""

    modules: Table = field(default_factory=dict)
    names: Table = field(default_factory=dict)
    attributes: Table = field(default_factory=dict)
    keywords: Table = field(default_factory=dict)
    results: Table = field(default_factory=dict)
    flags: Table = field(default_factory=dict)
    metrics: Table = field(default_factory=dict)
    extras: Table = field(default_factory=dict)

    def current(self, path: str) -> str:
        """Return the current form of the dotted path ``path``; ``path`` if it was not renamed."""
        old, new = self.entry(path) or ("", "")
        return new + path.removeprefix(old)

    def entry(self, path: str) -> tuple[str, str] | None:
        """Return the old and new form of the prefix of ``path`` that was renamed.

        Return ``None`` if no prefix was renamed.
        """
        parts = path.split(".")
        for end in range(len(parts), 0, -1):
            prefix = ".".join(parts[:end])
            for table in (self.names, self.modules):
                if prefix in table:
                    return prefix, table[prefix]
        return None

    def attribute(self, owner: str, name: str) -> str | None:
        """Return the new name of the attribute ``name``; ``None`` if it was not renamed.

        ``owner`` is the class of the object, or empty if unknown.
        """
        return _member(self.attributes, owner, name)

    def result(self, owner: str, name: str) -> str | None:
        """Return the class of the attribute ``name``, or of what the function ``name`` returns.

        ``owner`` is the class or module that contains ``name``.
        """
        return _member(self.results, owner, name)

    def inherited(self, owner: str, name: str) -> str | None:
        """Return the new name of the attribute ``name`` that a class inherits from ``owner``.

        The class belongs to a project. Entries without a class are ignored, because the project may
        have defined such a name itself.
        """
        return None if name in self.attributes else self.attribute(owner, name)

    def keyword(self, function: str, name: str) -> str | None:
        """Return the new name of the keyword argument ``name``; ``None`` if it was not renamed.

        ``function`` is the dotted path of the function, or empty if unknown.
        """
        return _member(self.keywords, function, name)


def is_ours(path: str) -> bool:
    """Whether ``path``, a dotted path, begins with one of steersman's packages."""
    return path.partition(".")[0] in PACKAGES


@cache
def rename_map() -> RenameMap:
    """Return the map with all renames in ``scaffold/renames``."""
    directory = files("steersman.scaffold") / "renames"
    documents = [
        tomllib.loads(each.read_text(encoding="utf-8"))
        for each in sorted(directory.iterdir(), key=lambda each: each.name)
        if each.name.endswith(".toml")
    ]
    return merged_map(documents)


def merged_map(documents: list[dict[str, dict[str, str]]]) -> RenameMap:
    """Merge ``documents`` into one map, so that it also fits a project between two versions."""
    tables: dict[str, dict[str, str]] = {each.name: {} for each in fields(RenameMap)}
    for document in documents:
        for table, entries in document.items():
            tables[table].update(entries)
    moved = RenameMap(modules=tables["modules"])
    current = {*tables["names"].values(), *tables["modules"].values()}
    for table in ("names", "modules"):
        # For a project that uses the new module with the old name.
        for old, new in list(tables[table].items()):
            between = moved.current(old)
            if between not in current and between != old:
                tables[table].setdefault(between, new)
    named = RenameMap(modules=tables["modules"], names=tables["names"])
    for table in ("attributes", "keywords", "results"):
        for old, new in list(tables[table].items()):
            owner, dot, member = old.rpartition(".")
            tables[table].setdefault(f"{named.current(owner)}{dot}{member}", new)
    return RenameMap(**tables)


def _member(table: Table, owner: str, name: str) -> str | None:
    if name in table or not owner:
        return table.get(name)
    # Only by the class name, because a class has several paths, such as steersman.Context.
    last = [part for part in owner.split(".") if part[:1].isupper()] or owner.split(".")[-1:]
    rest = owner.split(".")[owner.split(".").index(last[0]) :]
    wanted = ".".join((*rest, name))
    found = {new for old, new in table.items() if old.endswith(f".{wanted}")}
    return found.pop() if len(found) == 1 else None
