"""Parses flags as Go programs do: ``--flag=value``, ``--flag value``, repeated flags."""

import re
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import TypeAlias

Kinds: TypeAlias = Mapping[str, str]

BOOL = "bool"
_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
_FALSE = frozenset(("0", "f", "F", "false", "FALSE", "False"))
_DURATION = re.compile(r"[-+]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h))+)")


class BadFlag(Exception):
    """The command line is invalid; the message has the wording of the real program."""


class ParsedFlags:
    """The values of the flags on a command line, in order, by the flag's name."""

    def __init__(self, values: Mapping[str, Sequence[str]]) -> None:
        self._values = values

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def one(self, name: str, default: str = "") -> str:
        """Return the value of the flag ``name``, by default ``default``.

        If the flag is repeated, its last value is returned.
        """
        return self._values[name][-1] if name in self._values else default

    def yes(self, name: str, *, default: bool = False) -> bool:
        """Whether a flag is set."""
        return self._values[name][-1] in _TRUE if name in self._values else default

    def each(self, name: str) -> tuple[str, ...]:
        """Return all values of the flag ``name``, which can be repeated."""
        return tuple(self._values.get(name, ()))

    def listed(self, name: str) -> tuple[str, ...]:
        """Return the values of the flag ``name``, whose value is a comma-separated list."""
        return tuple(part for value in self.each(name) for part in value.split(",") if part)

    def __repr__(self) -> str:
        # Not the values: some of them may be secrets.
        return f"<ParsedFlags {' '.join(self._values)}>"


def parsed(
    arguments: Sequence[str],
    kinds: Kinds,
    *,
    shorthands: Mapping[str, str],
    program: str,
    unknown: str = "unknown flag: --",
) -> ParsedFlags:
    """Parse ``arguments``, a command line; raise ``BadFlag`` if a flag or value is invalid.

    ``kinds`` contains the type of each flag's value, and ``shorthands`` the flag that each
    one-letter flag stands for. ``program`` and ``unknown`` are parts of the error messages.
    """
    given: dict[str, list[str]] = {}
    rest = list(reversed(arguments))
    while rest:
        argument = rest.pop()
        if argument == "--" or not argument.startswith("-") or argument == "-":
            extra = [*([] if argument == "--" else [argument]), *reversed(rest)]
            if not extra:
                break
            shown = " ".join(f'"{each}"' for each in extra)
            raise BadFlag(f'"{program}" does not take any arguments, got [{shown}]')
        written, has_value, value = argument.partition("=")
        name = _named(written, kinds, shorthands, unknown)
        if not has_value:
            if kinds[name] == BOOL:
                value = "true"
            elif rest:
                value = rest.pop()
            else:
                raise BadFlag(f"flag needs an argument: {written}")
        if why := _problem(kinds[name], value):
            raise BadFlag(f'invalid argument "{value}" for "--{name}" flag: {why}')
        given.setdefault(name, []).append(value)
    return ParsedFlags(given)


def _named(written: str, kinds: Kinds, shorthands: Mapping[str, str], unknown: str) -> str:
    if not written.startswith("--"):
        letter = written[1:2]
        if letter not in shorthands:
            raise BadFlag(f"unknown shorthand flag: '{letter}' in {written}")
        return shorthands[letter]
    name = written.removeprefix("--").replace("_", "-")
    if name not in kinds:
        raise BadFlag(f"{unknown}{name}")
    return name


def _problem(kind: str, value: str) -> str | None:
    match kind:
        case "bool" if value not in _TRUE | _FALSE:
            return f'strconv.ParseBool: parsing "{value}": invalid syntax'
        case "int" if not re.fullmatch(r"[-+]?\d+", value):
            return f'strconv.ParseInt: parsing "{value}": invalid syntax'
        case "ip" if not _is_address(value):
            return f'failed to parse IP: "{value}"'
        case "duration" if not _DURATION.fullmatch(value):
            return f'time: invalid duration "{value}"'
        case _:
            return None


def _is_address(value: str) -> bool:
    try:
        ip_address(value.strip())
    except ValueError:
        return False
    return True
