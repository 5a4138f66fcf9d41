"""Semantic versions, ordered as in semver 2.0: ``semver('1.2.3')``."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from steersman_cluster.apiserver.cel.errors import NotEvaluated
from steersman_cluster.apiserver.cel.values import MAX_UINT, Function, parse_digits

_DIGITS: Final = re.compile(r"[0-9]+\Z", re.ASCII)
_WORD: Final = re.compile(r"[0-9A-Za-z-]+\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Version:
    cel_name: ClassVar[str] = "kubernetes.Semver"
    numbers: tuple[int, int, int]
    before: tuple[str, ...] = ()  # the pre-release identifiers
    build: tuple[str, ...] = ()

    def compared(self, other: "Version") -> int:
        """Return a number below, at or above zero if this version is less, equal or greater.

        Build metadata is ignored.
        """
        if self.numbers != other.numbers:
            return -1 if self.numbers < other.numbers else 1
        if not self.before or not other.before:
            return bool(other.before) - bool(self.before)
        mine, theirs = map(_order, (self.before, other.before))
        return (mine > theirs) - (mine < theirs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self.compared(other) == 0

    def __hash__(self) -> int:
        return hash((self.numbers, self.before))


def _order(parts: tuple[str, ...]) -> tuple[tuple[int, int, str], ...]:
    return tuple((0, int(each), "") if _DIGITS.match(each) else (1, 0, each) for each in parts)


def _shown(text: str) -> str:
    return f'"{text}"'


def _number(text: str, what: str) -> int:
    if not _DIGITS.match(text):
        raise NotEvaluated(f"Invalid character(s) found in {what} number {_shown(text)}")
    if len(text) > 1 and text[0] == "0":
        raise NotEvaluated(
            f"{what.capitalize()} number must not contain leading zeroes {_shown(text)}"
        )
    number = parse_digits(text)
    if number > MAX_UINT:
        raise NotEvaluated(f"strconv.ParseUint: parsing {_shown(text)}: value out of range")
    return number


def parse(text: str) -> Version:
    if not text:
        raise NotEvaluated("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise NotEvaluated("No Major.Minor.Patch elements found")
    major, minor = _number(parts[0], "major"), _number(parts[1], "minor")
    rest, plus, build = parts[2].partition("+")
    patch, dash, before = rest.partition("-")
    number = _number(patch, "patch")
    prereleases = tuple(map(_prerelease, before.split("."))) if dash else ()
    builds = tuple(map(_build, build.split("."))) if plus else ()
    return Version((major, minor, number), prereleases, builds)


def _prerelease(part: str) -> str:
    if not part:
        raise NotEvaluated("Prerelease is empty")
    if _DIGITS.match(part):
        if len(part) > 1 and part[0] == "0":
            raise NotEvaluated(
                f"Numeric PreRelease version must not contain leading zeroes {_shown(part)}"
            )
        if parse_digits(part) > MAX_UINT:
            raise NotEvaluated(f"strconv.ParseUint: parsing {_shown(part)}: value out of range")
    elif not _WORD.match(part):
        raise NotEvaluated(f"Invalid character(s) found in prerelease {_shown(part)}")
    return part


def _build(part: str) -> str:
    if not part:
        raise NotEvaluated("Build meta data is empty")
    if not _WORD.match(part):
        raise NotEvaluated(f"Invalid character(s) found in build meta data {_shown(part)}")
    return part


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            rest = part.lstrip("0")
            parts[index] = rest if rest[:1].isdigit() and rest[:1].isascii() else f"0{rest}"
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise NotEvaluated("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _read(text: str, normalize: bool = False) -> Version:
    return parse(_normalized(text) if normalize else text)


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _read(text, normalize)
    except NotEvaluated:
        return False
    return True


IMPLEMENTATIONS: Final[Mapping[str, Function]] = {
    "isSemver": _is_semver,
    "major": lambda of: of.numbers[0],
    "minor": lambda of: of.numbers[1],
    "patch": lambda of: of.numbers[2],
    "semver": _read,
}
