"""JSON as Go reads it: its words for bad syntax, and objects with every pair they were given."""

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
MOST_DEPTH = 10_000


class BadSyntax(Exception):
    """It is no JSON, in Go's words."""


class NoFloat(Exception):
    """A number is too large for any float, in Go's words."""


class Number(str):
    """A number as it is written."""

    __slots__ = ()


class Pairs(tuple[tuple[str, Any], ...]):
    """An object with all its pairs in order, those with the same key included."""

    __slots__ = ()


def has_duplicates(body: bytes, decoded: Any) -> bool:
    """Whether some object of ``body`` has a key twice, given what is left of it.

    There is one colon for each pair and for each in a text. The decoder keeps the latter, and so
    colons get lost only with pairs. An escaped one is counted, too; where the escape itself is
    escaped, the answer is an unfounded yes.
    """
    colons = body.count(b":")
    if b"\\u003" in body:
        colons += len(re.findall(rb"\\u003[aA]", body))
    return colons != msgspec.json.encode(decoded).count(b":")


def parse(body: bytes) -> Any:
    """Every pair and every number as written; raises ``BadSyntax``."""
    check_syntax(body)
    text = body.decode(errors="replace")
    parsed = json.loads(
        text, object_pairs_hook=Pairs, parse_int=Number, parse_float=Number, strict=False
    )
    return _with_whole_characters(parsed) if "\\u" in text else parsed


def plain(value: Any) -> Any:
    """The same with dicts, ints and floats; raises ``NoFloat``."""
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
    """Text in quotes, as Go's messages have it."""
    return json.dumps(text, ensure_ascii=False)


def _number(text: str) -> int | float:
    if re.fullmatch(r"-?[0-9]{1,19}", text) and -(2**63) <= (number := int(text)) < 2**63:
        return number
    if isinf(large := float(text)):
        raise no_float(text)
    return large


def no_float(number: str) -> NoFloat:
    """What to raise about a number that is written like this."""
    return NoFloat(f"json: cannot unmarshal number {number} into Go value of type float64")


def _with_whole_characters(value: Any) -> Any:
    """Halves of surrogate pairs are no characters; Go replaces them."""
    match value:
        case Number():
            return value
        case str():
            return re.sub("[\ud800-\udfff]", "\ufffd", value)
        case Pairs():
            return Pairs((_with_whole_characters(k), _with_whole_characters(v)) for k, v in value)
        case list():
            return [_with_whole_characters(each) for each in value]
        case _:
            return value


_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)")


def check_syntax(body: bytes) -> None:
    """Raise what Go says where the body stops being JSON."""
    # Go looks at bytes; so a byte is a character here.
    _Scanner(body.decode("latin-1")).document()


class _Scanner:
    """Reads without keeping anything; containers that are open are on a stack of their own."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def document(self) -> None:
        open_containers: list[str] = []
        while True:
            closed = self._value(open_containers)
            # Behind a value: its containers may end, too.
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
        """Read a value; False if it is a container that is only opened, before its first value."""
        found = self._next()
        if found in "{[":
            self._at += 1
            open_containers.append(found)
            if len(open_containers) > MOST_DEPTH:
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
