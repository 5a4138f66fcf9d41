"""Values that a comparison of states leaves out, numbers or hides.

These are ignored fields, random tokens, and data of Secrets.
"""

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, TypeAlias

import msgspec

from steersman_cluster.errors import BadScenario

Path: TypeAlias = tuple[str, ...]

# Shorter values of Secrets are common words: a namespace, a user, a number. They are hidden only
# where they are the whole value of a field.
MIN_HIDDEN_LENGTH: Final = 8

HIDDEN: Final = "<hidden>"

_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[([^\]]+)\]")
_PATH: Final = re.compile(rf"(?:{_STEP.pattern})+")
_TOKEN: Final = re.compile(r"<token [0-9]+>")
_DIGEST: Final = re.compile(r"<hidden [0-9a-f]+>")


class IgnoredFields:
    """Fields that are not compared, written as ``Kind.path.to.field`` or ``outside.path``.

    A ``*`` matches every key of an object and every element of a list. A key that contains a dot is
    written in brackets: ``Site.metadata.annotations[example.com/seen]``.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._paths: dict[str, list[Path]] = {}
        for each in paths:
            kind, *steps = _steps(each)
            self._paths.setdefault(kind, []).append(tuple(steps))

    def without(self, kind: str, value: Any) -> Any:
        """Return ``value`` without the ignored fields.

        ``kind`` is the kind of the object that ``value`` is, or ``outside`` for a system outside
        the cluster.
        """
        for path in self._paths.get(kind, ()):
            value = _without(value, path)
        return value


class Tokens:
    """An operator's random tokens, numbered so that two states can be compared."""

    def __init__(self, tokens: Mapping[str, int]) -> None:
        self._tokens = tokens  # each encoding of a token, with the token's number
        self._numbers: dict[int, int] = {}
        longest_first = sorted(tokens, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if tokens else None

    def number(self, texts: Sequence[tuple[str, str]], outside: str) -> None:
        """Number the tokens in the order in which they first occur.

        ``texts`` is searched first, then ``outside``.

        Each item of ``texts`` is an object's sort and its text. The items are sorted first, with
        all tokens masked. ``outside`` is the text of the state outside the cluster.
        """
        if self._pattern is None:
            return
        pattern = self._pattern
        masked = sorted((sort, pattern.sub("<token>", text), text) for sort, text in texts)
        for text in (*(each for _, _, each in masked), outside):
            self.renamed(text)

    def renamed(self, text: str) -> str:
        """Return ``text`` with ``<token N>`` in place of each token."""
        if self._pattern is None:
            return text
        tokens, numbers = self._tokens, self._numbers

        def name(found: re.Match[str]) -> str:
            return f"<token {numbers.setdefault(tokens[found[0]], len(numbers) + 1)}>"

        return self._pattern.sub(name, text)


class Secrets:
    """The values that are or were in the data of Secrets, and that no message is to show."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        # A token is shown by its number, which is not secret.
        self._values = frozenset(each for each in values if each and not _TOKEN.fullmatch(each))
        long = {each for each in self._values if len(each) >= MIN_HIDDEN_LENGTH}
        # Also in their JSON encoding.
        long |= {msgspec.json.encode(each).decode()[1:-1] for each in long}
        ordered = sorted(long, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def __or__(self, other: "Secrets") -> "Secrets":
        return Secrets(self._values | other._values)

    def hidden(self, text: str) -> str:
        """Return ``text`` with all secret values hidden."""
        if text in self._values:
            return HIDDEN
        if self._pattern is not None:
            text = self._pattern.sub(HIDDEN, text)
        return _DIGEST.sub(HIDDEN, text)

    def hidden_in(self, value: Any) -> Any:
        """Return ``value``, which is plain data, with all secret values hidden."""
        if isinstance(value, str):
            return self.hidden(value)
        if isinstance(value, Mapping):
            return {self.hidden(str(key)): self.hidden_in(each) for key, each in value.items()}
        if isinstance(value, Sequence):
            return [self.hidden_in(each) for each in value]
        return value


def secrets_of(obj: Mapping[str, Any]) -> Iterator[str]:
    """Yield each value in the data of ``obj`` if ``obj`` is a Secret.

    Each value is yielded as it is in the data, in base64, and decoded.
    """
    data = obj.get("data")
    if obj.get("kind") == "Secret" and isinstance(data, dict):
        for value in data.values():
            yield str(value)
            yield _text(str(value))


def digested(obj: Mapping[str, Any], text: str) -> str:
    """Return ``text``, the JSON of ``obj``; if a Secret, with digests in place of its data."""
    if obj.get("kind") != "Secret":
        return text
    whole = msgspec.json.decode(text)
    for key in ("data", "stringData"):
        if isinstance(whole.get(key), dict):
            whole[key] = {name: _digest(str(each)) for name, each in whole[key].items()}
    return msgspec.json.encode(whole, order="deterministic").decode()


def readable(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return ``obj``; if it is a Secret, with its data decoded to text where possible."""
    data = obj.get("data")
    if obj.get("kind") != "Secret" or not isinstance(data, dict):
        return obj
    return {**obj, "data": {key: _text(str(value)) for key, value in data.items()}}


def _text(value: str) -> str:
    try:
        return b64decode(value, validate=True).decode()
    except ValueError:  # not base64, or not text
        return value


def _digest(value: str) -> str:
    return f"<hidden {blake2b(value.encode(), digest_size=8).hexdigest()}>"


def _steps(path: str) -> Path:
    steps = tuple(found[1] or found[2] for found in _STEP.finditer(path))
    if len(steps) < 2 or not _PATH.fullmatch(path):
        raise BadScenario(
            problem=f"{path!r} is not the path of a field",
            what_now="Write the kind and the field, as in 'Site.status.phase', or 'outside.field';"
            " * matches every key; put a key with a dot in brackets.",
        )
    return steps


def _without(value: Any, path: Path) -> Any:
    step, *rest = path
    if isinstance(value, list):
        chosen = [(each, step in ("*", str(number))) for number, each in enumerate(value)]
        if not rest:
            return [each for each, is_chosen in chosen if not is_chosen]
        return [_without(each, tuple(rest)) if is_chosen else each for each, is_chosen in chosen]
    if not isinstance(value, Mapping):
        return value
    if not rest:
        return {key: each for key, each in value.items() if step not in ("*", key)}
    return {
        key: _without(each, tuple(rest)) if step in ("*", key) else each
        for key, each in value.items()
    }
