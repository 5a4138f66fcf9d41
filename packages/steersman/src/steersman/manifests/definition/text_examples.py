"""Short strings that have a format or match a pattern, generated from the pattern itself.

Rare RE2 syntax (Unicode classes, flags) is not supported; such a pattern yields no strings.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from steersman.manifests.definition.validation import matches

# A text for each format that a server validates, by the format's name without dashes, as in the
# server.
FORMATS: Final[Mapping[str, str]] = {
    "bsonobjectid": "507f1f77bcf86cd799439011",
    "byte": "ZXhhbXBsZQ==",
    "cidr": "10.0.0.0/24",
    "creditcard": "4111111111111111",
    "date": "2026-01-01",
    "datetime": "2026-01-01T00:00:00Z",
    "duration": "1h",
    "email": "user@example.com",
    "hexcolor": "#336699",
    "hostname": "host.example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "isbn": "9780306406157",
    "isbn10": "0306406152",
    "isbn13": "9780306406157",
    "k8slongname": "example.com",
    "k8sshortname": "example",
    "mac": "00:00:5e:00:53:01",
    "rgbcolor": "rgb(51,102,153)",
    "ssn": "078-05-1120",
    "uri": "https://example.com/",
    "uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "uuid3": "6fa459ea-ee8a-3ca4-894e-db77e160355e",
    "uuid4": "f47ac10b-58cc-4372-a567-0e02b2c3d479",
    "uuid5": "886313e1-3b8a-5372-9b90-0c9aee199e5d",
}

# How often to repeat each unbounded loop, and which of several alternatives to take.
Choice: TypeAlias = tuple[int, int]
Maker: TypeAlias = Callable[[Choice], str]

# The preferred characters of a class, so that the text is readable.
_LIKED: Final = "a1A-x0b2.:/_@ "
_ALL: Final = _LIKED + "".join(map(chr, range(33, 127)))
_CLASSES: Final = {
    "d": "0123456789",
    "w": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_",
    "s": " \t",
}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_NOTHING: Final = "AbBzZ"  # places between characters
_MAX_ROUNDS: Final = 64
_MAX_ALTERNATIVES: Final = 8
_LONGEST: Final = 10_000
_MAX_FAILURES: Final = 20

_repeat = re.compile(r"\{(\d+)(,(\d*))?\}")


class _Unreadable(Exception):
    """Raised for pattern syntax that is not supported."""


def texts_like(pattern: str, *, fewest: int, most: int | None) -> Iterator[str]:
    """Yield matching strings with a permitted length, the shortest first.

    If the syntax of the pattern is not supported, no string is yielded.
    """
    try:
        maker = _Parser(pattern).whole()
    except (_Unreadable, RecursionError):
        return
    seen: set[str] = set()
    failures = 0
    for rounds in range(_MAX_ROUNDS):
        for alternative in range(_MAX_ALTERNATIVES):
            try:
                text = maker((rounds, alternative))
            except _Unreadable:
                return
            text += "x" * (fewest - len(text)) if not pattern.endswith("$") else ""
            if text in seen or len(text) < fewest or (most is not None and len(text) > most):
                continue
            seen.add(text)
            if matches(pattern, text):
                yield text
            else:
                failures += 1
                if failures == _MAX_FAILURES:
                    return


@dataclass
class _Parser:
    """Parses a pattern from left to right."""

    pattern: str
    at: int = 0

    def whole(self) -> Maker:
        maker = self._alternatives()
        if self.at < len(self.pattern):
            raise _Unreadable
        return maker

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _take(self) -> str:
        if not (letter := self._peek()):
            raise _Unreadable
        self.at += 1
        return letter

    def _alternatives(self) -> Maker:
        found = [self._sequence()]
        while self._peek() == "|":
            self.at += 1
            found.append(self._sequence())
        return lambda choice: found[min(choice[1], len(found) - 1)](choice)

    def _sequence(self) -> Maker:
        parts: list[Maker] = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated(self._one()))
        return lambda choice: _short("".join(part(choice) for part in parts))

    def _one(self) -> Maker:
        match letter := self._take():
            case "(":
                return self._group()
            case "[":
                return _any_of(self._class())
            case "\\":
                return self._escaped()
            case ".":
                return _any_of(_ALL)
            case "^" | "$":
                return _text("")
            case "*" | "+" | "?" | "{":
                raise _Unreadable
            case _:
                return _text(letter)

    def _group(self) -> Maker:
        if self._peek() == "?":
            named = re.compile(r"\?(:|P?<\w+>)").match(self.pattern, self.at)
            if named is None:
                raise _Unreadable
            self.at = named.end()
        maker = self._alternatives()
        if self._take() != ")":
            raise _Unreadable
        return maker

    def _escaped(self) -> Maker:
        letter = self._take()
        if letter in _NOTHING:
            return _text("")
        if letter.lower() in _CLASSES:
            return _any_of(self._shorthand(letter))
        return _text(self._plain(letter))

    def _plain(self, letter: str) -> str:
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        if letter.isalnum():
            raise _Unreadable
        return letter

    def _shorthand(self, letter: str) -> str:
        inside = _CLASSES[letter.lower()]
        return inside if letter.islower() else _except(inside)

    def _class(self) -> str:
        negated = self._peek() == "^"
        self.at += negated
        found = ""
        while (letter := self._take()) != "]" or not found:
            if letter == "[" and self._peek() == ":":
                raise _Unreadable
            if letter == "\\":
                letter = self._take()
                if letter.lower() in _CLASSES:
                    found += self._shorthand(letter)
                    continue
                letter = self._plain(letter)
            if self._peek() == "-" and self.pattern[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                last = self._take()
                last = self._plain(self._take()) if last == "\\" else last
                # A large range is truncated.
                found += "".join(
                    map(chr, range(ord(letter), min(ord(last), ord(letter) + 127) + 1))
                )
            else:
                found += letter
        return _except(found) if negated else found

    def _repeated(self, maker: Maker) -> Maker:
        least, most = 1, 1
        match self._peek():
            case "*":
                least, most = 0, _MAX_ROUNDS
            case "+":
                least, most = 1, _MAX_ROUNDS
            case "?":
                least, most = 0, 1
            case "{":
                found = _repeat.match(self.pattern, self.at)
                if found is None:
                    raise _Unreadable
                least = int(found[1])
                most = least if found[2] is None else int(found[3] or least + _MAX_ROUNDS)
                self.at = found.end() - 1
            case _:
                return maker
        self.at += 1
        if self._peek() == "?":  # lazy; the shortest match is generated anyway
            self.at += 1
        return lambda choice: _short(maker(choice) * min(least + choice[0], most))


def _text(text: str) -> Maker:
    return lambda _: text


def _any_of(letters: str) -> Maker:
    if not letters:
        raise _Unreadable
    return _text(next((each for each in _LIKED if each in letters), letters[0]))


def _except(letters: str) -> str:
    return "".join(each for each in _ALL if each not in letters)


def _short(text: str) -> str:
    if len(text) > _LONGEST:
        raise _Unreadable
    return text
