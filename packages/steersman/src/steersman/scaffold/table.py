"""A table of a TOML file, whose values are checked as they are read.

An error is a ``BadProjectSetting`` with the full key, such as
``tool.steersman.deploy.egress[0].cidr``.
"""

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from steersman.errors import BadProjectSetting, BadValue


class TomlTable:
    """A TOML table, which remembers which of its keys were read.

    ``path`` is the path of the file, and ``key`` the full key of the table.
    """

    def __init__(self, path: Path, key: str, values: object) -> None:
        self.path = path
        self.key = key
        self._known: list[str] = []
        if not isinstance(values, Mapping):
            raise BadProjectSetting(path=str(path), key=key, problem=f"{values!r} is not a table")
        self._values: Mapping[str, Any] = values

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def bad(self, key: str, problem: str) -> BadProjectSetting:
        """Return the error for the value at ``key``; if ``key`` is empty, for the table itself."""
        whole = f"{self.key}.{key}" if key else self.key
        return BadProjectSetting(path=str(self.path), key=whole, problem=problem)

    def check(self, key: str, check: Callable[[str], object], value: str) -> None:
        """Call ``check`` with ``value``; if that raises an error, raise one that names ``key``."""
        try:
            check(value)
        except BadValue as error:
            raise self.bad(key, str(error).rstrip(".")) from error

    def text(self, key: str) -> str | None:
        value = self._value(key)
        if value is not None and (not isinstance(value, str) or not value):
            raise self.bad(key, f"{value!r} is not a string")
        return value

    def number(self, key: str, *, least: int) -> int | None:
        value = self._value(key)
        if value is not None and (type(value) is not int or value < least):
            raise self.bad(key, f"{value!r} is not a whole number of at least {least}")
        return value

    def flag(self, key: str) -> bool:
        value = self._value(key)
        if value is not None and not isinstance(value, bool):
            raise self.bad(key, f"{value!r} is neither true nor false")
        return bool(value)

    def texts(self, key: str) -> tuple[str, ...]:
        values = self.items(key)
        for number, each in enumerate(values):
            if not isinstance(each, str):
                raise self.bad(f"{key}[{number}]", f"{each!r} is not a string")
        return tuple(values)

    def items(self, key: str) -> list[Any]:
        values = self._value(key)
        if values is None:
            return []
        if not isinstance(values, list):
            raise self.bad(key, f"{values!r} is not a list")
        return values

    def table(self, key: str) -> "TomlTable":
        """Return the table at ``key``; an empty table if it does not exist."""
        value = self._value(key)
        return TomlTable(self.path, f"{self.key}.{key}", {} if value is None else value)

    def tables(self, key: str) -> "tuple[TomlTable, ...]":
        return tuple(
            TomlTable(self.path, f"{self.key}.{key}[{number}]", each)
            for number, each in enumerate(self.items(key))
        )

    def entries(self) -> Iterator[tuple[str, Any]]:
        """Yield all keys and values of this table."""
        self._known.extend(self._values)
        yield from self._values.items()

    def words(self, key: str) -> dict[str, str]:
        """Return the table at ``key``, in which every value must be a string."""
        inside = self.table(key)
        return {name: inside.word(name, value) for name, value in inside.entries()}

    def word(self, key: str, value: object) -> str:
        if not isinstance(value, str):
            raise self.bad(key, f"{value!r} is not a string")
        return value

    def finish(self) -> None:
        """Raise ``BadProjectSetting`` if the table contains a key that was never read.

        No setting has such a key.
        """
        for key in self._values:
            if key not in self._known:
                like = get_close_matches(key, self._known, n=1)
                hint = f" (did you mean {like[0]}?)" if like else ""
                raise self.bad(key, f"this setting does not exist{hint}")

    def _value(self, key: str) -> Any:
        self._known.append(key)
        return self._values.get(key)
