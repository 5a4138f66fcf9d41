"""The state of a cluster, without random and time-dependent values.

When the same steps are executed twice, the objects get different uids, resource versions, times,
addresses and generated names. ``state_of`` replaces each of these values by the name of the object
to which the value belongs, so that equal states have equal texts. No I/O: the input is plain JSON,
and the output is plain sentences.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import msgspec

from steersman_cluster.simulation.scenarios.redaction import (
    IgnoredFields,
    Secrets,
    Tokens,
    digested,
    readable,
    secrets_of,
)

# Not compared: events and leases.
BOOKKEEPING: Final = frozenset(
    (
        ("v1", "Event"),
        ("events.k8s.io/v1", "Event"),
        ("coordination.k8s.io/v1", "Lease"),
    )
)

# The number of differences in one message.
NAMED: Final = 6

_UID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_ADDRESS = r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])"
_RANDOM_VALUE: Final = re.compile(
    rf'(?P<uid>{_UID})|(?P<time>{_TIME})|(?P<address>{_ADDRESS})|"observedGeneration":(?P<seen>\d+)'
    r'|"(?P<port>nodePort|healthCheckNodePort)":\d+|(?P<container>containerd://[0-9a-f]{64})'
    r'|"nodeName":"[^"]+"|"(?P<version>resourceVersion)":"\d+"'
)
_UIDS: Final = re.compile(_UID)
_ADDRESSES: Final = re.compile(_ADDRESS)

# The suffix that an API server appends to a generateName.
_MADE_UP: Final = re.compile(r"[bcdfghjklmnpqrstvwxz2456789]{5}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterState:
    """The objects of a cluster in their normal form, grouped by sort.

    A sort is ``Kind namespace/name``, with ``*`` in place of the generated part of the name.
    """

    forms: Mapping[str, tuple[str, ...]] = field(repr=False)
    children: Mapping[tuple[str, str], tuple[str, ...]]  # names by owner and kind
    orphans: tuple[str, ...]
    lost: tuple[str, ...]
    outside: str = field(repr=False)
    # Values that must not be shown of this state, or of another one that is compared with it.
    secrets: Secrets = field(compare=False, repr=False)


def state_of(
    objects: Iterable[Mapping[str, Any]],
    *,
    unchanged: Iterable[Mapping[str, Any]] = (),
    lost: Iterable[str] = (),
    outside: object = None,
    ignored: IgnoredFields = IgnoredFields(),
    tokens: Mapping[str, int] = MappingProxyType({}),
    secrets: Iterable[str] = (),
) -> ClusterState:
    """Return the state of a cluster that contains ``objects``.

    ``unchanged`` are objects that have not changed since the start; they are not compared. ``lost``
    are the names of objects that existed at the start and were deleted. ``outside`` is the state of
    a system outside the cluster, as plain data. The fields in ``ignored`` are left out, and
    ``tokens`` are random values, each with its number. The descriptions of differences contain
    neither data of Secrets nor the values in ``secrets``.
    """
    there = [each for each in objects if (each.get("apiVersion"), each["kind"]) not in BOOKKEEPING]
    names = _Names(there, unchanged)
    random_tokens = Tokens(tokens)
    texts = [names.form(ignored.without(each["kind"], readable(each))) for each in there]
    outer = names.renamed(_encoded(ignored.without("outside", outside)))
    sorts = [names.sorts[each["metadata"]["uid"]] for each in there]
    random_tokens.number([*zip(sorts, texts, strict=True)], outer)
    kept = {*secrets, *(value for each in there for value in secrets_of(each))}
    forms: dict[str, list[str]] = {}
    children: dict[tuple[str, str], list[str]] = {}
    orphans: list[str] = []
    for each, text in zip(there, texts, strict=True):
        metadata = each["metadata"]
        sort = names.sorts[metadata["uid"]]
        forms.setdefault(sort, []).append(digested(each, random_tokens.renamed(text)))
        for owner in metadata.get("ownerReferences", ()):
            held_by = names.sorts.get(owner["uid"])
            if held_by is None:
                held_by = f"{owner['kind']} {owner['name']}"
                orphans.append(f"{_ref(each)} belongs to {held_by}, which is gone")
            children.setdefault((held_by, each["kind"]), []).append(metadata["name"])
    return ClusterState(
        forms={sort: tuple(sorted(forms[sort])) for sort in sorted(forms)},
        children={key: tuple(sorted(children[key])) for key in sorted(children)},
        orphans=tuple(sorted(orphans)),
        lost=tuple(sorted(lost)),
        outside=random_tokens.renamed(outer),
        # A text with renamed addresses and tokens may have been in a secret, too.
        secrets=Secrets({*kept, *(random_tokens.renamed(names.renamed(each)) for each in kept)}),
    )


def differences(expected: ClusterState, found: ClusterState) -> tuple[str, ...]:
    """Return the differences between two states, the most important ones first."""
    if expected == found:
        return ()
    secrets = expected.secrets | found.secrets
    # The text of a field is redacted before it is truncated; the rest, with names and keys, at the
    # end.
    return tuple(map(secrets.hidden, _differences(expected, found, secrets)))


def _differences(expected: ClusterState, found: ClusterState, secrets: Secrets) -> Iterator[str]:
    yield from (Counter(found.orphans) - Counter(expected.orphans)).elements()
    doubled: set[str] = set()
    for (owner, kind), names in found.children.items():
        wanted = len(expected.children.get((owner, kind), ()))
        if len(names) > wanted and owner in expected.forms:
            doubled.add(kind)
            yield (
                f"{owner} has {len(names)} objects of kind {kind}: {', '.join(names)};"
                f" expected {wanted}"
            )
    if expected.outside != found.outside:
        before, after = msgspec.json.decode(expected.outside), msgspec.json.decode(found.outside)
        fields = _fields("", before, after, secrets)
        yield from (f"outside the cluster: {each}" for each in fields)
    for each in sorted({*found.lost} - {*expected.lost}):
        yield f"{each} was there in the beginning and is gone"
    for each in sorted({*expected.lost} - {*found.lost}):
        yield f"{each} is still there, expected none"
    for sort in sorted({*expected.forms, *found.forms}):
        lost, new = _unmatched(expected.forms.get(sort, ()), found.forms.get(sort, ()))
        for before, after in zip(lost, new, strict=False):
            both = msgspec.json.decode(before), msgspec.json.decode(after)
            fields = _fields("", *both, secrets)
            yield from (f"{sort}: {each}" for each in fields)
        wanted, there = len(expected.forms.get(sort, ())), len(found.forms.get(sort, ()))
        if wanted > there or (there > wanted and sort.partition(" ")[0] not in doubled):
            yield f"{sort}: expected {wanted or 'none'}, found {there or 'none'}"


def as_lines(found: Sequence[str]) -> tuple[str, ...]:
    """Return the first few differences in ``found``, and a line that counts the others."""
    more = len(found) - NAMED
    return (*found[:NAMED], *((f"and {more} more",) if more > 0 else ()))


class _Names:
    """The names of the objects to which random values belong."""

    def __init__(
        self, there: Sequence[Mapping[str, Any]], unchanged: Iterable[Mapping[str, Any]]
    ) -> None:
        self.sorts: dict[str, str] = {}
        self._addresses: dict[str, str] = {}
        generated: dict[str, str] = {}
        for each in there:
            metadata = each["metadata"]
            start, name = metadata.get("generateName"), metadata["name"]
            # Some objects are named by a number, and are interchangeable.
            if start and name.startswith(start) and _MADE_UP.fullmatch(name, len(start)):
                generated[name] = f"{start}*"
        names = "|".join(map(re.escape, sorted(generated)))
        self._generated = generated
        self._pattern = re.compile(rf"(?<![a-z0-9.-])(?:{names})(?![a-z0-9-])") if names else None
        for each in unchanged:
            self.sorts[each["metadata"]["uid"]] = _ref(each)
        for each in there:
            self.sorts[each["metadata"]["uid"]] = self._unchosen(_ref(each))
        for each in there:
            # A volume is named after the uid of its claim.
            uid = each["metadata"]["uid"]
            self.sorts[uid] = sort = _UIDS.sub(self._uid, self.sorts[uid])
            spec, status = each.get("spec"), each.get("status")
            for part, key in ((spec, "clusterIP"), (status, "podIP")):
                address = part.get(key) if isinstance(part, dict) else None
                if isinstance(address, str):
                    self._addresses[address] = sort
        for each in there:
            # The names of some objects are addresses.
            uid = each["metadata"]["uid"]
            self.sorts[uid] = _ADDRESSES.sub(self._address, self.sorts[uid])

    def form(self, obj: Mapping[str, Any]) -> str:
        """Return the object as JSON with its random values replaced."""
        left_out = {"resourceVersion", "managedFields", "generation", "uid", "selfLink"}
        whole = obj.get("metadata", {})
        metadata = {k: v for k, v in whole.items() if k not in left_out}
        text = _encoded({**obj, "metadata": metadata})
        renamed = self.renamed(text, generation=whole.get("generation"))
        if "<" not in renamed and "*" not in renamed:
            return renamed
        return _encoded(_sorted_lists(msgspec.json.decode(renamed)))

    def renamed(self, text: str, *, generation: int | None = None) -> str:
        """Return the text with its random values replaced."""

        def name(found: re.Match[str]) -> str:
            match found.lastgroup:
                case "uid":
                    return self._uid(found)
                case "time":
                    return "<time>"
                case "address":
                    return self._address(found)
                case "container":
                    return "<container>"
                case "seen":
                    behind = (generation or 0) - int(found["seen"])
                    return f'"observedGeneration":"{f"{behind} behind" if behind else "current"}"'
                case "version":
                    # The uid of another object, to which this one refers.
                    return '"resourceVersion":"<version>"'
                case "port":
                    return f'"{found["port"]}":"<port>"'
                case _:
                    # The scheduler may choose any of several nodes.
                    return '"nodeName":"<node>"'

        return self._unchosen(_RANDOM_VALUE.sub(name, text))

    def _uid(self, found: re.Match[str]) -> str:
        return f"<uid of {self.sorts.get(found[0], 'an object that is gone')}>"

    def _address(self, found: re.Match[str]) -> str:
        return f"<address of {self._addresses.get(found[0], 'another object')}>"

    def _unchosen(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._generated[found[0]], text)


def _unmatched(
    expected: Sequence[str], found: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    if expected == found:
        return (), ()
    lost, new = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    return list(lost.elements()), list(new.elements())


def _fields(path: str, expected: Any, found: Any, secrets: Secrets) -> Iterator[str]:
    """Yield the differences between two pieces of plain data, field by field."""
    if expected == found:
        return
    where = path or "it"
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted({*expected, *found}):
            inner = f"{path}.{key}" if path else str(key)
            if key not in found:
                yield f"expected {inner} {_short(expected[key], secrets)}, found none"
            elif key not in expected:
                yield f"expected no {inner}, found {_short(found[key], secrets)}"
            else:
                yield from _fields(inner, expected[key], found[key], secrets)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, pair in enumerate(zip(expected, found, strict=True)):
            yield from _fields(f"{path}[{number}]", *pair, secrets)
    else:
        before, after = _short(expected, secrets), _short(found, secrets)
        if before == after:  # nothing else of it may be shown
            after = "another one"
        yield f"expected {where} {before}, found {after}"


def _sorted_lists(value: Any) -> Any:
    """Return the data; lists are sorted if their order may depend on random names."""
    if isinstance(value, dict):
        return {key: _sorted_lists(each) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    items = [_sorted_lists(each) for each in value]
    if len(items) > 1:
        keys = [_encoded(each) for each in items]
        if any("<" in key or "*" in key for key in keys):
            return [each for _, each in sorted(zip(keys, items, strict=True), key=_first)]
    return items


def _first(pair: tuple[str, Any]) -> str:
    return pair[0]


def _ref(obj: Mapping[str, Any]) -> str:
    metadata = obj["metadata"]
    namespace = metadata.get("namespace")
    name = metadata["name"]
    return f"{obj['kind']} {namespace}/{name}" if namespace else f"{obj['kind']} {name}"


def _short(value: object, secrets: Secrets) -> str:
    safe = secrets.hidden_in(value)
    text = safe if isinstance(safe, str) else _encoded(safe)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _encoded(value: object) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()
