"""Unexpected values, mutations of trees, and their encodings."""

import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

# A placeholder in a tree for values that Python cannot hold; they are written as text at the end.
_NESTED = re.compile(r'"@nested (\d+) (.)@"')
_LONG_NUMBER = '"@number@"'

_WORDS = ("a", "b", "web", "main", "http", "x.example.com", "v1", "app.kubernetes.io/name")
_ODD_TEXT = (
    "",
    " ",
    "\0",
    "a\0b",
    "\n",
    "\ud800",
    "\udfff\ud800",
    "\u202e\u2028",
    "\ufeff",
    "e\u0301",
    "\U0001f9ff",
    "\uffff",
    "..",
    ".",
    "/",
    "a/b",
    "a/b/c",
    "%00",
    "%2e%2e",
    "-1",
    "0x10",
    "1e400",
    "NaN",
    "true",
    "null",
    "~",
    "{}",
    "$(A)",
    "[[[",
    "(a+)+$",
    "*",
    "A",
    "a" * 64,
    "a" * 254,
    "é" * 300,
    "z" * 5000,
    "9999-99-99T99:99:99Z",
    "0000-01-01T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-01-01T00:00:00.123456789+14:00",
    "1Ei",
    "1e999999999",
    "-0.0000000000000001n",
    "9" * 400,
    "9" * 4400,
    "kubernetes.io/x",
    "k8s.io",
    "=",
    ",",
    "!",
    "$patch",
    "f:x",
    'k:{"name":"a"}',
    "::1",
    "256.1.1.1",
    "10.0.0.300",
    "fe80::1%eth0",
    "http://[",
    "////",
)
_ODD_NUMBERS = (
    0,
    -1,
    1,
    65535,
    65536,
    2**31 - 1,
    2**31,
    -(2**31) - 1,
    2**53 + 1,
    2**63 - 1,
    2**63,
    -(2**63) - 1,
    2**64,
    10**30,
    10**400,
    0.5,
    -0.0,
    1e308,
    1e-320,
    1.0,
    3e9,
)


_DEPTHS = (20, 90, 150, 210, 500, 1000, 20_000)


class Spot(NamedTuple):
    """A place in a tree: its container, and its key or index."""

    container: Any
    key: Any

    @property
    def value(self) -> Any:
        return self.container[self.key]


def spots(tree: Any) -> Iterator[Spot]:
    """Every place in a tree below its root."""
    pairs: Any = ()
    if isinstance(tree, dict):
        pairs = tree.items()
    elif isinstance(tree, list):
        pairs = enumerate(tree)
    for key, value in pairs:
        yield Spot(tree, key)
        yield from spots(value)


class Oddities:
    """Generates odd values of every type."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._rng.random() < probability

    def word(self) -> str:
        """A name that others have, too."""
        return self._rng.choice(_WORDS)

    def text(self) -> str:
        """A text that some programs handle incorrectly."""
        rng = self._rng
        if self.chance(0.1):
            return "".join(chr(rng.randrange(0x20, 0x250)) for _ in range(rng.randrange(12)))
        if self.chance(0.1):
            return rng.choice(_ODD_TEXT) + rng.choice(_ODD_TEXT)
        return rng.choice(_ODD_TEXT)

    def number(self) -> float:
        """A number at the limit of some type."""
        return self._rng.choice(_ODD_NUMBERS)

    def value(self, depth: int = 0) -> Any:
        """Any value."""
        rng = self._rng
        match rng.randrange(9 if depth < 3 else 5):
            case 0:
                return None
            case 1:
                return self.text()
            case 2:
                return self.number()
            case 3:
                return rng.choice((True, False, [], {}, "", "@number@"))
            case 4:
                return self.word()
            case 5:
                return [self.value(depth + 1) for _ in range(rng.randrange(4))]
            case 6 if self.chance(0.15):
                return f"@nested {rng.choice(_DEPTHS)} {rng.choice('[{')}@"
            case _:
                names = (self.word, self.text)
                return {rng.choice(names)(): self.value(depth + 1) for _ in range(rng.randrange(4))}

    def bend(self, tree: Any, times: int) -> None:
        """Mutate a tree at this many places; some mutations leave it valid."""
        for _ in range(times):
            found = list(spots(tree))
            if not found:
                return
            self._bend_at(self._rng.choice(found), found)

    def _bend_at(self, spot: Spot, others: list[Spot]) -> None:
        rng, container, key = self._rng, spot.container, spot.key
        match rng.randrange(8):
            case 0:
                del container[key]
            case 1:
                container[key] = None
            case 2 if isinstance(container, list):
                container.append(container[key])
            case 2:
                container[rng.choice((self.word, self.text))()] = container[key]
            case 3:
                container[key] = json.loads(json.dumps(rng.choice(others).value))
            case 4 if isinstance(container[key], str):
                container[key] = self.text()
            case 4 if isinstance(container[key], dict):
                container[key][self.word()] = self.value()
            case 5 if isinstance(container[key], list):
                rng.shuffle(container[key])
            case 6:
                container[key] = rng.choice(({}, [], "", 0, False))
            case _:
                container[key] = self.value()

    def encoded(self, tree: Any) -> bytes:
        """A tree, mostly as JSON."""
        text = json.dumps(tree, ensure_ascii=self.chance(0.8))
        text = _NESTED.sub(_nested, text).replace(_LONG_NUMBER, "9" * 5000)
        body = text.encode("utf-8", "surrogatepass")
        return self.garbled(body) if self.chance(0.03) else body

    def garbled(self, body: bytes) -> bytes:
        """Bytes with random damage."""
        rng = self._rng
        at = rng.randrange(len(body) + 1)
        match rng.randrange(6):
            case 0:
                return body[:at]
            case 1:
                return body[:at] + rng.randbytes(rng.randrange(1, 5)) + body[at:]
            case 2:
                return body[:at] + body[at + 1 :]
            case 3:
                return body.replace(b"{", b'{"kind":1,"kind":"x",', 1)
            case 4:
                return body + rng.choice((b"\0", b"{}", b" \n", b"]", b"\xff"))
            case _:
                return body.replace(b": ", rng.choice((b":", b": +", b" ")), rng.randrange(4))


def _nested(found: re.Match[str]) -> str:
    depth = int(found[1])
    if found[2] == "[":
        return "[" * depth + "]" * depth
    return '{"a":' * depth + "1" + "}" * depth
