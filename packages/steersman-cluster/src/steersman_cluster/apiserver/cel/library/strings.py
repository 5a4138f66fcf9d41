"""CEL functions of strings."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from steersman_cluster.apiserver.cel.errors import NotCompiled, NotEvaluated
from steersman_cluster.apiserver.cel.library.string_format import formatted
from steersman_cluster.apiserver.cel.values import Function, bounded
from steersman_cluster.apiserver.schema.patterns import BadPattern, compile_finder, compile_pattern

_UPPER: Final = {ord(each): each.upper() for each in "abcdefghijklmnopqrstuvwxyz"}
_LOWER: Final = {ord(each): each.lower() for each in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_QUOTED: Final = str.maketrans(
    {
        "\a": r"\a",
        "\b": r"\b",
        "\f": r"\f",
        "\n": r"\n",
        "\r": r"\r",
        "\t": r"\t",
        "\v": r"\v",
        "\\": r"\\",
        '"': r"\"",
    }
)
# The characters for which Go's unicode.IsSpace is true.
_SPACE: Final = (
    " \t\n\v\f\r\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def _out_of_range(index: int) -> NotEvaluated:
    return NotEvaluated(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def index_of(text: str, wanted: str, offset: int = 0) -> int:
    if wanted == "":
        return offset
    if offset < 0:
        raise _out_of_range(offset)
    return text.find(wanted, offset)


def last_index_of(text: str, wanted: str, offset: int | None = None) -> int:
    if offset is None:
        return len(text) if wanted == "" else text.rfind(wanted)
    if wanted == "":
        return offset
    if offset < 0:
        raise _out_of_range(offset)
    return -1 if offset >= len(text) else text.rfind(wanted, 0, offset + len(wanted))


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    found = text.count(old) if count < 0 else min(count, text.count(old))
    bounded(len(text) + found * (len(new) - len(old)))
    return text.replace(old, new, -1 if count < 0 else count)


def _split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    if separator == "":
        letters = list(text)
        if 0 < count < len(letters):
            return [*letters[: count - 1], "".join(letters[count - 1 :])]
        return letters
    return text.split(separator, -1 if count < 0 else count - 1)


def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is None:
        end = len(text)
        if not 0 <= start <= len(text):
            raise _out_of_range(start)
    if start > end:
        raise NotEvaluated(f"invalid substring range. start: {start}, end: {end}")
    for each in (start, end):
        if not 0 <= each <= len(text):
            raise _out_of_range(each)
    return text[start:end]


def _join(texts: list[Any], separator: str = "") -> str:
    if not all(isinstance(each, str) for each in texts):
        shape = "list, string" if separator else "list"
        raise NotEvaluated(f"no such overload: join({shape})")
    bounded(sum(map(len, texts)) + len(texts) * len(separator))
    return separator.join(texts)


@lru_cache(maxsize=256)
def searching(text: str) -> Callable[[str], object]:
    """Return a function that searches a text for the regular expression ``text``.

    Raises ``BadPattern`` if ``text`` is not a valid regular expression.
    """
    return compile_pattern(text)


@lru_cache(maxsize=256)
def _finding(text: str) -> Callable[[str], Iterator[str]]:
    return compile_finder(text)


def _found(text: str, written: str) -> Iterator[str]:
    try:
        return _finding(written)(text)
    except BadPattern as error:
        raise NotEvaluated(f"Illegal regex: {error}") from None


def _matches(text: Any, written: Any) -> bool:
    if not isinstance(text, str) or not isinstance(written, str):
        raise NotEvaluated
    try:
        return bool(searching(written)(text))
    except BadPattern as error:
        raise NotEvaluated(str(error)) from None


def matcher(written: str) -> Function:
    """Return the CEL function ``matches`` for the constant regular expression ``written``.

    Raises ``NotCompiled`` if the regular expression is invalid.
    """
    try:
        search = searching(written)
    except BadPattern as error:
        raise NotCompiled(f"program instantiation failed: {error}") from None

    def matches(text: Any, _: Any) -> bool:
        if not isinstance(text, str):
            raise NotEvaluated
        return bool(search(text))

    return matches


def _find(text: str, written: str) -> str:
    return next(_found(text, written), "")


def _find_all(text: str, written: str, count: int = -1) -> list[str]:
    return list(islice(_found(text, written), None if count < 0 else count))


IMPLEMENTATIONS: Final[Mapping[str, Function]] = {
    "charAt": _char_at,
    "contains": lambda text, part: part in text,
    "endsWith": str.endswith,
    "find": _find,
    "findAll": _find_all,
    "format": formatted,
    "join": _join,
    "lowerAscii": lambda text: text.translate(_LOWER),
    "matches": _matches,
    "replace": _replace,
    "split": _split,
    "startsWith": str.startswith,
    "strings.quote": lambda text: f'"{text.translate(_QUOTED)}"',
    "substring": _substring,
    "trim": lambda text: text.strip(_SPACE),
    "upperAscii": lambda text: text.translate(_UPPER),
}
