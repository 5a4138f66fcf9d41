"""Random queries and headers of requests."""

from collections.abc import Sequence
from random import Random
from typing import TypeAlias

from tests.fuzz.nonsense import GROUPS, SELECTORS, USERS
from tests.fuzz.values import Oddities

Pairs: TypeAlias = list[tuple[str, str]]


class Options:
    """Generates query parameters and headers."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._odd = Oddities(rng)

    def impersonated(self) -> Pairs:
        """The headers of an impersonation."""
        rng = self._rng
        headers = [("Impersonate-User", rng.choice((*USERS, "", "system:node:a", "é")))]
        headers += [("Impersonate-Group", rng.choice(GROUPS)) for _ in range(rng.randrange(3))]
        if self._odd.chance(0.2):
            headers.append((f"Impersonate-Extra-{rng.choice(('scopes', '%2f', '%', 'a/b'))}", "x"))
        if self._odd.chance(0.2):
            headers.append(("Impersonate-Uid", "1"))
        return headers if self._odd.chance(0.9) else headers[1:]

    def of_a_write(self) -> Pairs:
        """The query of a create, an update or a patch."""
        choices: tuple[tuple[str, tuple[str, ...]], ...] = (
            ("dryRun", ("All", "All", "", "x")),
            ("fieldManager", ("one", "two", self._odd.text())),
            ("fieldValidation", ("Strict", "Warn", "Ignore", "x")),
            ("force", ("true", "false")),
            ("pretty", ("true", "0", "x")),
            ("timeout", ("1s", "x", "-1s")),
            (self._odd.text(), (self._odd.text(),)),
        )
        chosen = self._rng.sample(choices, self._rng.randrange(1, 3))
        return [(name, self._rng.choice(values)) for name, values in chosen]

    def of_a_list(self, *, revision: int, tokens: Sequence[str]) -> Pairs:
        """The query of a list or watch on a server at ``revision`` that has issued ``tokens``."""
        rng = self._rng
        versions = ("0", "", str(revision), str(rng.randrange(revision + 3)), "1", self._odd.text())
        continued = rng.choice((*tokens, self._odd.text()))
        if self._odd.chance(0.3):
            continued = continued[: rng.randrange(len(continued) + 1)] + rng.choice(
                ("", "A", "=", "é")
            )
        choices: tuple[tuple[str, tuple[str, ...]], ...] = (
            ("limit", ("1", "2", "500", "0", "-1", "x", str(2**63), self._odd.text())),
            ("continue", (continued,)),
            ("resourceVersion", versions),
            ("resourceVersionMatch", ("Exact", "NotOlderThan", "x", "")),
            ("labelSelector", (*SELECTORS, self._odd.text())),
            ("fieldSelector", (*SELECTORS, self._odd.text())),
            ("watch", ("1", "true", "0", "", "x")),
            ("watch", ("1",)),
            ("timeoutSeconds", ("1", "5", "0", "-1", "x", str(10**6))),
            ("allowWatchBookmarks", ("true", "x", "")),
            ("sendInitialEvents", ("true", "false", "x")),
            ("pretty", ("true",)),
        )
        chosen = rng.sample(choices, rng.randrange(5))
        query = [(name, rng.choice(values)) for name, values in chosen]
        if "watch" in dict(query) and self._odd.chance(0.95):
            query.insert(
                0, ("timeoutSeconds", "1")
            )  # or history is compacted as the clock advances
        return query
