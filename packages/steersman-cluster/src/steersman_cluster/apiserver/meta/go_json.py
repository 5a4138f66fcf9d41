"""JSON as Go's decoder reads it: with Go's syntax errors, and including duplicate keys."""

import json
import re
from math import isinf
from typing import Any

import msgspec

_SPACE = " \t\r\n"
_LITERALS = {"t": "true", "f": "false", "n": "null"}
_ESCAPED = {
    "'": r"\'",
    "\\": r"\\",
    **{each: repr(each)[1:-1] for each in "\t\n\r"},
    "\a": r"\a",
    "\b": r"\b",
    "\v": r"\v",
    "\f": r"\f",
}
MAX_DEPTH = 10_000


class BadSyntax(Exception):
    """The body is not JSON; the message is Go's."""


class NoFloat(Exception):
    """A number in the body is out of range for float64; the message is Go's."""


class Number(str):
    """The text of a JSON number, exactly as in the body."""

    __slots__ = ()


class Pairs(tuple[tuple[str, Any], ...]):
    """All key-value pairs of a JSON object in their order, including pairs with the same key."""

    __slots__ = ()


def has_duplicates(body: bytes, decoded: Any) -> bool:
    """Return whether an object in ``body``, which was decoded to ``decoded``, has a key twice.

    The check compares the number of colons in ``body`` with the number in ``decoded``, encoded
    again. JSON contains one colon for each pair, plus the colons in strings, which decoding
    preserves. If ``decoded`` has fewer colons, decoding has therefore dropped a pair. A colon that
    is escaped as U+003A is counted, too. If the backslash of such an escape is itself escaped, the
    result is a false positive.
    """
    colons = body.count(b":")
    if b"\\u003" in body:
        colons += len(re.findall(rb"\\u003[aA]", body))
    return colons != msgspec.json.encode(decoded).count(b":")


def parse(body: bytes) -> Any:
    """Parse the JSON in ``body``; objects become ``Pairs``, and numbers become ``Number``.

    Every pair of an object and the original text of every number are therefore preserved. Raises
    ``BadSyntax`` if ``body`` is not JSON.
    """
    check_syntax(body)
    text = body.decode(errors="replace")
    parsed = json.loads(
        text, object_pairs_hook=Pairs, parse_int=Number, parse_float=Number, strict=False
    )
    return _without_lone_surrogates(parsed) if "\\u" in text else parsed


def plain(value: Any) -> Any:
    """Convert ``value``, a result of ``parse``, to plain dicts, ints and floats.

    Raises ``NoFloat`` if a number is out of range for float64.
    """
    match value:
        case Number():
            return _number(value)
        case Pairs():
            return {key: plain(each) for key, each in value}
        case dict():
            return {key: plain(each) for key, each in value.items()}
        case list():
            return [plain(each) for each in value]
        case _:
            return value


def quoted(text: str) -> str:
    """Return ``text`` in double quotes and escaped, as Go's messages show a string."""
    return json.dumps(text, ensure_ascii=False)


def _number(text: str) -> int | float:
    if re.fullmatch(r"-?[0-9]{1,19}", text) and -(2**63) <= (number := int(text)) < 2**63:
        return number
    if isinf(large := float(text)):
        raise no_float(text)
    return large


def no_float(number: str) -> NoFloat:
    """Return the error for a number that is out of range; ``number`` is its text in the body."""
    return NoFloat(f"json: cannot unmarshal number {number} into Go value of type float64")


def _without_lone_surrogates(value: Any) -> Any:
    """Replace unpaired surrogates with U+FFFD, as Go does."""
    match value:
        case Number():
            return value
        case str():
            return re.sub("[\ud800-\udfff]", "\ufffd", value)
        case Pairs():
            return Pairs(
                (_without_lone_surrogates(k), _without_lone_surrogates(v)) for k, v in value
            )
        case list():
            return [_without_lone_surrogates(each) for each in value]
        case _:
            return value


_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)")


def check_syntax(body: bytes) -> None:
    """Raise ``BadSyntax`` with Go's message at the first syntax error in ``body``."""
    # Go scans bytes. In Latin-1, each byte is one character.
    _Scanner(body.decode("latin-1")).document()


class _Scanner:
    """A validating JSON scanner that builds no values and does not recurse."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def document(self) -> None:
        open_containers: list[str] = []
        while True:
            closed = self._value(open_containers)
            # After a value, the containers around it may end.
            while closed and open_containers:
                inside = open_containers[-1]
                what = "object key:value pair" if inside == "{" else "array element"
                found = self._next()
                if found == ",":
                    self._at += 1
                    if inside == "{":
                        self._key()
                    break
                if found != ("}" if inside == "{" else "]"):
                    raise self._unexpected(f"after {what}")
                self._at += 1
                open_containers.pop()
            if not open_containers:
                break
        if self._skip_space() < len(self._text):
            raise self._unexpected("after top-level value")

    def _value(self, open_containers: list[str]) -> bool:
        """Read a scalar, an empty container, or the opening of a container with content.

        Returns False in the last case; the scanner is then before the first value of the container.
        """
        found = self._next()
        if found in "{[":
            self._at += 1
            open_containers.append(found)
            if len(open_containers) > MAX_DEPTH:
                self._at -= 1
                raise self._unexpected("exceeded max depth")
            closing = "}" if found == "{" else "]"
            if self._skip_space() < len(self._text) and self._text[self._at] == closing:
                self._at += 1
                open_containers.pop()
                return True
            if found == "{":
                self._key()
            return False
        if found == '"':
            self._string()
        elif found in _LITERALS:
            self._literal(_LITERALS[found])
        elif found in "-0123456789":
            self._number()
        else:
            raise self._unexpected("looking for beginning of value")
        return True

    def _key(self) -> None:
        if self._next() != '"':
            raise self._unexpected("looking for beginning of object key string")
        self._string()
        if self._next() != ":":
            raise self._unexpected("after object key")
        self._at += 1

    def _string(self) -> None:
        if (matched := _STRING.match(self._text, self._at)) is not None:
            self._at = matched.end()
        found = self._here()
        if found == '"':
            self._at += 1
        elif found != "\\":
            raise self._unexpected("in string literal")
        else:
            self._at += 1
            if self._here() != "u":
                raise self._unexpected("in string escape code")
            self._at += 1
            while self._here() in "0123456789abcdefABCDEF":
                self._at += 1
            raise self._unexpected("in \\u hexadecimal character escape")

    def _literal(self, word: str) -> None:
        for expected in word:
            if self._here() != expected:
                raise self._unexpected(f"in literal {word} (expecting '{expected}')")
            self._at += 1

    def _number(self) -> None:
        if (matched := _NUMBER.match(self._text, self._at)) is None:
            self._at += 1
            self._here()
            raise self._unexpected("in numeric literal")
        self._at = matched.end()
        if self._peek() == ".":
            self._at += 1
            self._digits("after decimal point in numeric literal")
        if self._peek() in ("e", "E"):
            self._at += 1
            if self._peek() in ("+", "-"):
                self._at += 1
            self._digits("in exponent of numeric literal")

    def _digits(self, where: str) -> None:
        if self._here() not in "0123456789":
            raise self._unexpected(where)
        while self._peek() in tuple("0123456789"):
            self._at += 1

    def _skip_space(self) -> int:
        while self._at < len(self._text) and self._text[self._at] in _SPACE:
            self._at += 1
        return self._at

    def _next(self) -> str:
        self._skip_space()
        return self._here()

    def _here(self) -> str:
        if self._at >= len(self._text):
            raise BadSyntax("unexpected end of JSON input")
        return self._text[self._at]

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _unexpected(self, where: str) -> BadSyntax:
        return BadSyntax(f"invalid character '{_shown(self._text[self._at])}' {where}")


def _shown(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    if character < " " or character == "\x7f":
        return f"\\x{ord(character):02x}"
    if "\x80" <= character < "\xa1" or character == "\xad":
        return f"\\u{ord(character):04x}"
    return character
