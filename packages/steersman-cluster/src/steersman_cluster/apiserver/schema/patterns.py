"""Regular expressions in Go's syntax (RE2).

A pattern that Go rejects is rejected with Go's message. RE2 itself runs each pattern for which
Python's ``re`` could take exponential time; RE2's time is linear in the text. ``re`` runs all other
patterns, because a call of ``re`` takes less time. If RE2 is not installed (it comes with
``steersman[dev]``), ``re`` runs every pattern. Go and Python differ in ``$``, ``\\s``, flags inside
a pattern, and classes. These constructs are translated, so both engines give the same result.
"""

import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import Any

_MAX_REPEAT_LENGTH = 1000
_DEEPEST = 1000
# RE2's memory limit for one pattern: enough for the largest pattern that Go accepts.
_RE2_BYTES = 128 << 20
# Each `?` and each alternative may double the time of a failing match. Up to these numbers, this is
# harmless.
_FEW_OPTIONS = 3
_FEW_ALTERNATIVES = 5
_REPEAT = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
_FLAGS = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_NAMED = re.compile(r"\(\?P?<(\w+)>")
_OCTAL = re.compile(r"[0-7]{1,3}")
_HEX = re.compile(r"x(?:\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2}))")
_CATEGORY = re.compile(r"[pP](?:\{(\^?)(\w+)\}|(\w))")
_POSIX = re.compile(r"\[:(\^?)(\w+):\]")

_CONTROLS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
# Perl's classes, as they are written inside a bracket expression.
_PERL = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}
_POSIX_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}


_EVERYTHING = (range(sys.maxunicode + 1),)
# No other character has a name. Characters without a name are in no script, and only in the C
# categories.
_NAMED_CHARACTERS = (range(0x34000), range(0xE0000, 0xE0200))


class BadPattern(Exception):
    """Go would not compile the pattern; the message is Go's."""

    def __init__(self, why: str, where: str) -> None:
        super().__init__(f"error parsing regexp: {why}: `{where}`")


def compile_pattern(pattern: str) -> Callable[[str], object]:
    """Return a function whose result is true if a text contains a match of ``pattern``."""
    reader = _Reader(pattern)
    translated = reader.translated()
    if not reader.is_harmless and (search := _linear_search(pattern)) is not None:
        return search
    return re.compile(translated, re.ASCII).search


def _linear_search(pattern: str) -> Callable[[str], object] | None:
    """Return RE2's search function for ``pattern``; None if RE2 is missing or rejects it."""
    if (linear := _linear(pattern)) is None:
        return None
    # On bytes, RE2 does not have to convert the positions of matches to characters.
    return lambda text: linear.search(text.encode(errors="replace"))


def _linear(pattern: str) -> Any:
    """Compile a pattern with RE2; return None if RE2 is not installed or rejects the pattern."""
    if find_spec("re2") is None:
        return None
    re2 = import_module("re2")
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _RE2_BYTES
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        why, _, where = error.args[0].decode().partition(": ")
        if why == "invalid repetition size":
            raise BadPattern("invalid repeat count", where) from None
        if why.startswith("pattern too large"):
            raise BadPattern("expression too large", pattern) from None
        return None


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile ``pattern``, which is in Go's syntax, with Python's ``re``."""
    return re.compile(_Reader(pattern).translated(), re.ASCII)


def compile_finder(pattern: str) -> Callable[[str], Iterator[str]]:
    """Return a function that yields every match of ``pattern`` in a text, from left to right."""
    by_re = compiled(pattern)
    # RE2 is preferred also because it supports ungreedy matches, (?U).
    found_in = (_linear(pattern) or by_re).finditer

    def find(text: str) -> Iterator[str]:
        end = -1
        for each in found_in(text):
            # Go ignores an empty match directly after another match.
            if each.start() != each.end() or each.start() != end:
                yield each.group()
            end = each.end()

    return find


class _Reader:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._out: list[str] = []
        # For each open group: the groups opened for flags that are set within it, because Python
        # does not allow flags in the middle of a group; and whether ^ and $ match at line ends.
        self._amid: list[list[str]] = [[]]
        self._lines: list[bool] = [False]
        self._opened: list[int] = []
        # The constructs that slow down backtracking.
        self._repeats = 0
        self._options = 0
        self._alternatives = 0

    @property
    def is_harmless(self) -> bool:
        """Return whether ``re`` is fast for every text; valid after the translation."""
        return (
            self._repeats <= 1
            and self._options <= _FEW_OPTIONS
            and self._alternatives <= _FEW_ALTERNATIVES
        )

    def translated(self) -> str:
        pattern = self._pattern
        repeatable_from: int | None = None  # the start of the last repeatable item
        repeat_from: int | None = None  # the start of the last repetition operator
        after_group = False
        while self._at < len(pattern):
            start, letter = self._at, pattern[self._at]
            if (repeat := self._repeat(letter)) is not None:
                if repeat_from is not None:
                    raise BadPattern(
                        "invalid nested repetition operator", pattern[repeat_from : self._at]
                    )
                if repeatable_from is None:
                    raise BadPattern("missing argument to repetition operator", repeat)
                self._out.append(repeat)
                if repeat == "?":
                    self._options += 1
                else:
                    # A repeated group may itself contain repetitions.
                    self._repeats += 2 if after_group else 1
                if pattern[self._at : self._at + 1] == "?":
                    self._out.append("?")
                    self._at += 1
                repeat_from = start
                continue
            repeat_from = None
            repeatable_from = start
            after_group = letter == ")"
            if letter == "(":
                repeatable_from = None
                self._open()
            elif letter == "|":
                repeatable_from = None
                self._at += 1
                self._alternatives += 1
                amid = self._amid[-1]
                self._out.append(")" * len(amid) + "|" + "".join(amid))
            elif letter == ")":
                self._close()
            elif letter == "[":
                self._out.append(self._class())
            elif letter == "\\":
                self._out.append(self._escape())
            else:
                self._at += 1
                self._out.append(self._plain(letter))
        if self._opened:
            raise BadPattern("missing closing )", pattern)
        return "".join(self._out) + ")" * len(self._amid[-1])

    def _plain(self, letter: str) -> str:
        if letter == "$":
            return "(?m:$)" if self._lines[-1] else r"\Z"
        if letter == "^":
            return "(?m:^)" if self._lines[-1] else "^"
        return letter if letter == "." else re.escape(letter)

    def _repeat(self, letter: str) -> str | None:
        """Return the repetition at the current position, or None.

        Text that only resembles a repetition is literal text.
        """
        if letter in "*+?":
            self._at += 1
            return letter
        if letter != "{" or not (found := _REPEAT.match(self._pattern, self._at)):
            return None
        low, comma, high = found.groups()
        if int(low) > _MAX_REPEAT_LENGTH or (
            high and not int(low) <= int(high) <= _MAX_REPEAT_LENGTH
        ):
            raise BadPattern("invalid repeat count", found[0])
        self._at = found.end()
        return f"{{{low}{comma or ''}{high or ''}}}"

    def _open(self) -> None:
        pattern, start = self._pattern, self._at
        if not pattern.startswith("(?", start):
            self._at += 1
            self._enter("(", lines=self._lines[-1])
        elif pattern.startswith(("(?P<", "(?<"), start):
            if not (found := _NAMED.match(pattern, start)):
                end = pattern.find(">", start)
                raise BadPattern("invalid named capture", pattern[start : end + 1 or None])
            self._at = found.end()
            self._enter("(", lines=self._lines[-1])
        elif found := _FLAGS.match(pattern, start):
            on, off, closing = found.groups()
            self._at = found.end()
            lines = ("m" in on or self._lines[-1]) and "m" not in (off or "")
            # The flag m is translated at ^ and $, and the flag U does not change whether a text
            # matches.
            wanted = "".join(each for each in on if each in "is")
            unwanted = "".join(each for each in off or "" if each in "is")
            group = f"(?{wanted}{f'-{unwanted}' if unwanted else ''}:"
            if closing == ":":
                self._enter(group, lines=lines)
            else:
                self._lines[-1] = lines
                self._amid[-1].append(group)
                self._out.append(group)
        else:
            raise BadPattern("invalid or unsupported Perl syntax", pattern[start : start + 3])

    def _enter(self, group: str, *, lines: bool) -> None:
        self._opened.append(self._at)
        if len(self._opened) >= _DEEPEST:
            raise BadPattern("expression nests too deeply", self._pattern)
        self._amid.append([])
        self._lines.append(lines)
        self._out.append(group)

    def _close(self) -> None:
        if not self._opened:
            raise BadPattern("unexpected )", self._pattern)
        self._opened.pop()
        self._lines.pop()
        self._out.append(")" * (len(self._amid.pop()) + 1))
        self._at += 1

    def _escape(self) -> str:
        """Read an escape sequence outside of a character class."""
        pattern = self._pattern
        letter = pattern[self._at + 1 : self._at + 2]
        if letter == "Q":
            text, _, _ = pattern[self._at + 2 :].partition(r"\E")
            self._at = min(self._at + 4 + len(text), len(pattern))
            return re.escape(text)
        if letter and letter in "AbBz":
            self._at += 2
            return r"\Z" if letter == "z" else f"\\{letter}"
        if (found := self._set()) is not None:
            negated, members = found
            return f"[{'^' if negated else ''}{members}]"
        return re.escape(self._character())

    def _set(self) -> tuple[bool, str] | None:
        r"""Return the class of a ``\d``, ``\pL`` or ``[:alpha:]``, and whether it is negated."""
        pattern = self._pattern
        if found := _POSIX.match(pattern, self._at):
            if found[2] not in _POSIX_CLASSES:
                raise BadPattern("invalid character class range", found[0])
            self._at = found.end()
            return bool(found[1]), _POSIX_CLASSES[found[2]]
        if pattern[self._at] != "\\":
            return None
        letter = pattern[self._at + 1 : self._at + 2]
        if letter and letter.lower() in _PERL:
            self._at += 2
            return letter.isupper(), _PERL[letter.lower()]
        if found := _CATEGORY.match(pattern, self._at + 1):
            members = _of_category(found[2] or found[3])
            if not members:
                raise BadPattern("invalid character class range", f"\\{found[0]}")
            self._at = found.end()
            return (letter == "P") != bool(found[1]), members
        return None

    def _character(self) -> str:
        """Read one character, escaped or not."""
        pattern, at = self._pattern, self._at
        letter = pattern[at]
        self._at += 1
        if letter != "\\":
            return letter
        escaped = pattern[at + 1 : at + 2]
        if not escaped:
            raise BadPattern("trailing backslash at end of expression", "")
        self._at += 1
        octal = _OCTAL.match(pattern, at + 1)
        if octal and (escaped == "0" or len(octal[0]) > 1):
            self._at = octal.end()
            return chr(int(octal[0], 8))
        if (hexadecimal := _HEX.match(pattern, at + 1)) and (
            code := int(hexadecimal[1] or hexadecimal[2], 16)
        ) <= sys.maxunicode:
            self._at = hexadecimal.end()
            return chr(code)
        if escaped in _CONTROLS:
            return _CONTROLS[escaped]
        if escaped.isascii() and not escaped.isalnum():
            return escaped
        raise BadPattern("invalid escape sequence", f"\\{escaped}")

    def _class(self) -> str:
        pattern, start = self._pattern, self._at
        self._at += 1
        negated = pattern.startswith("^", self._at)
        self._at += negated
        members: list[str] = []
        excluded: list[str] = []  # negated classes in the bracket expression
        first = True
        while first or not pattern.startswith("]", self._at):
            first = False
            if self._at >= len(pattern):
                raise BadPattern("missing closing ]", pattern[start:])
            if (found := self._set()) is not None:
                (excluded if found[0] else members).append(found[1])
                continue
            range_from = self._at
            low = high = self._character()
            if pattern.startswith("-", self._at) and not pattern.startswith("-]", self._at):
                self._at += 1
                if self._at >= len(pattern):
                    raise BadPattern("missing closing ]", pattern[start:])
                high = self._character()
                if high < low:
                    raise BadPattern(
                        "invalid character class range", pattern[range_from : self._at]
                    )
            members.append(f"{_member(low)}-{_member(high)}" if high != low else _member(low))
        self._at += 1
        if not excluded:
            return f"[{'^' if negated else ''}{''.join(members)}]"
        either = [f"[{''.join(members)}]"] if members else []
        either += [f"[^{each}]" for each in excluded]
        any_of = "|".join(either)
        return rf"(?:(?!{any_of})[\s\S])" if negated else f"(?:{any_of})"


def _member(character: str) -> str:
    return f"\\{character}" if character in r"\]^-[&|~" else character


@lru_cache(maxsize=256)
def _of_category(name: str) -> str:
    """Return the characters of a Unicode category, or of a script (by the characters' names)."""
    if len(name) <= 2:

        def belongs(character: str) -> bool:
            return unicodedata.category(character).startswith(name)

    else:
        script = "CJK UNIFIED" if name == "Han" else f"{name.upper()} "

        def belongs(character: str) -> bool:
            return unicodedata.name(character, "").startswith(script)

    ranges: list[list[int]] = []
    for code in chain(*(_EVERYTHING if name.startswith("C") else _NAMED_CHARACTERS)):
        if belongs(chr(code)):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{_member(chr(low))}-{_member(chr(high))}" for low, high in ranges)
