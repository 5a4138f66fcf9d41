"""Parses command-line flags like Go programs: ``--flag=value``, ``--flag value``, repeated."""

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
    """An error for invalid arguments, with the message of the original program."""


class ParsedFlags:
    """The flags of a command line, by name and in order."""

    def __init__(self, values: Mapping[str, Sequence[str]]) -> None:
        self._values = values

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def one(self, name: str, default: str = "") -> str:
        """Return the value of a flag; the last one if the flag is repeated."""
        return self._values[name][-1] if name in self._values else default

    def yes(self, name: str, *, default: bool = False) -> bool:
        """Whether a flag is set."""
        return self._values[name][-1] in _TRUE if name in self._values else default

    def each(self, name: str) -> tuple[str, ...]:
        """Return the values of a repeatable flag."""
        return tuple(self._values.get(name, ()))

    def listed(self, name: str) -> tuple[str, ...]:
        """Return the values of a flag that accepts a comma-separated list."""
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
    """Parse ``arguments``; raise ``BadFlag`` for an unknown flag or a bad value."""
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
