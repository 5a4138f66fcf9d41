"""The differences of two transcripts, and the explanations of known differences."""

import fnmatch
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tests.recorded.differential.normal import NormalizedResponse
from tests.recorded.differential.replay import Transcript
from tests.recorded.differential.scenario import Json
from tests.recorded.differential.transcripts import group_of

KNOWN = Path(__file__).with_name("known.toml")

ABSENT = "(absent)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference between the two servers at one path of the response to one request."""

    scenario: str
    request: str
    path: str
    real: str
    other: str

    @property
    def where(self) -> str:
        """The request, in the notation of known.toml."""
        return f"{self.scenario}:{self.request}"

    def shape(self) -> tuple[str, str, str]:
        """The difference without numbers and names, so that similar differences are equal."""
        return (
            re.sub(r"\[\d+\]", "[]", self.path),
            _faceless(self.real),
            _faceless(self.other),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Differences with an explanation."""

    requests: Sequence[str]
    paths: Sequence[str]
    why: str
    # Groups that need it; by default, those that ``requests`` names.
    groups: Sequence[str] = ()

    def needed_by(self, group: str) -> bool:
        """Whether the responses to this group must have such a difference."""
        return group in (self.groups or {group_of(each) for each in self.requests})

    def explains(self, difference: Difference) -> bool:
        """Whether this explains the difference."""
        return any(
            fnmatch.fnmatchcase(difference.where, pattern) for pattern in self.requests
        ) and any(_path_matches(difference.path, pattern) for pattern in self.paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of a comparison."""

    requests: int
    unexplained: Sequence[Difference]
    explained: Sequence[tuple[Known, Difference]]
    outdated: Sequence[Known]

    def summary(self) -> str:
        """A table: the number of equal responses, and the explanations of the others."""
        unlike = {each.where for each in self.unexplained}
        by_reason: dict[str, set[str]] = {}
        for known, difference in self.explained:
            by_reason.setdefault(known.why, set()).add(difference.where)
        explained = set[str]().union(*by_reason.values()) - unlike
        rows = [
            (self.requests, "requests"),
            (self.requests - len(unlike) - len(explained), "answered alike"),
            (len(explained), "with known differences only"),
            *((len(places), f"  {why}") for why, places in sorted(by_reason.items())),
            (len(unlike), "with differences that nothing explains"),
        ]
        lines = [f"{count:6}  {text}" for count, text in rows]
        lines += [
            f"outdated: nothing differs like this any more: {each.why}" for each in self.outdated
        ]
        return "\n".join(lines)


def known_differences(path: Path = KNOWN) -> list[Known]:
    """The explanations in known.toml."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("known", [])
    return [Known(**entry) for entry in entries]


def judged(
    real: Transcript, other: Transcript, known: Sequence[Known], *, group: str = ""
) -> Verdict:
    """Compare the responses of both servers.

    Only the responses to a whole group can show that an explanation is outdated.
    """
    unexplained: list[Difference] = []
    explained: list[tuple[Known, Difference]] = []
    for difference in differences(real, other):
        reason = next((each for each in known if each.explains(difference)), None)
        if reason is None:
            unexplained.append(difference)
        else:
            explained.append((reason, difference))
    used = [each for each, _ in explained]
    return Verdict(
        requests=sum(map(len, other.values())),
        unexplained=unexplained,
        explained=explained,
        outdated=[each for each in known if each.needed_by(group) and each not in used],
    )


def differences(real: Transcript, other: Transcript) -> Iterator[Difference]:
    """Every difference between the responses."""
    for scenario, requests in other.items():
        for request, response in requests.items():
            for path, left, right in _unlike(real[scenario][request], response):
                yield Difference(
                    scenario=scenario,
                    request=request,
                    path=path,
                    real=_shown(left),
                    other=_shown(right),
                )


def same(real: NormalizedResponse, other: NormalizedResponse) -> bool:
    """Whether the responses are equal, byte for byte; much faster than a search for differences."""
    return msgspec.json.encode(real, order="sorted") == msgspec.json.encode(other, order="sorted")


def _unlike(
    real: NormalizedResponse, other: NormalizedResponse
) -> Iterator[tuple[str, Json, Json]]:
    if same(real, other):
        return
    if real.status != other.status:
        # The bodies are then of different kinds; one line for each is enough.
        yield "status", _brief(real), _brief(other)
        return
    yield from _unlike_values("headers", dict(real.headers), dict(other.headers))
    yield from _unlike_values("body", real.body, other.body)


def _unlike_values(path: str, real: Json, other: Json) -> Iterator[tuple[str, Json, Json]]:
    if isinstance(real, dict) and isinstance(other, dict):
        for key in {**real, **other}:
            yield from _unlike_values(
                f"{path}.{key}", real.get(key, ABSENT), other.get(key, ABSENT)
            )
    elif isinstance(real, list) and isinstance(other, list):
        for index in range(max(len(real), len(other))):
            yield from _unlike_values(
                f"{path}[{index}]",
                real[index] if index < len(real) else ABSENT,
                other[index] if index < len(other) else ABSENT,
            )
    elif real != other or isinstance(real, bool) != isinstance(other, bool):
        yield path, real, other


def _brief(response: NormalizedResponse) -> str:
    said = (
        response.body.get("message", "")
        if isinstance(response.body, dict)
        else _shown(response.body)
    )
    return f"{response.status} {said}".strip()


def _shown(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _faceless(text: str) -> str:
    return re.sub(r'"[^"]*"|\d+', "…", text)[:120]


def _path_matches(path: str, pattern: str) -> bool:
    """Whether the pattern matches the path or a prefix of it; ``[]`` matches any index."""
    escaped = re.escape(pattern).replace(r"\[\]", r"\[\d+\]").replace(r"\*", r"[^.\[]*")
    return re.match(rf"{escaped}(?:$|[.\[])", path) is not None


def grouped(found: Sequence[Difference]) -> list[tuple[int, Difference]]:
    """The number of differences of each shape, the most frequent first, with one example."""
    counts = Counter(each.shape() for each in found)
    examples = {each.shape(): each for each in reversed(found)}
    return [(count, examples[shape]) for shape, count in counts.most_common()]


def listing(found: Sequence[Difference], *, longest: int = 2000) -> str:
    """All differences, as text."""
    return "\n".join(_entry(each, longest) for each in found)


def compact_listing(found: Sequence[Difference], *, longest: int = 300) -> str:
    """One example of each shape, with the number of occurrences."""
    return "\n".join(f"{count} ×  {_entry(each, longest)}" for count, each in grouped(found))


def _entry(difference: Difference, longest: int) -> str:
    return (
        f"{difference.where}  {difference.path}\n"
        f"    real   {difference.real[:longest]}\n"
        f"    other  {difference.other[:longest]}"
    )
