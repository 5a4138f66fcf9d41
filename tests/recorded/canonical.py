"""Replaces what differs on each run: equal values by equal values in all exchanges of a case."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any
from zlib import crc32

from tests.recorded.exchanges import Exchange, RecordedRequest

# The name of each namespace that a fixture creates; as long as a generated one.
NAMESPACE = "test-cases"

ADDRESS = "127.0.0.1:6443"  # of the real server
TIME = "2026-02-03T04:05:06"
FIRST_NODE_PORT = 30001
FIRST_ADDRESS = 101
FIRST_VERSION_OF_FIXTURE = 1001
FIRST_VERSION_OF_CASE = 2001

# The method of an exchange that is not one request, but a computed value.
VALUE = "VALUE"

VERSION = "resourceVersion"

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z")
_VERSION_IN_PATH = re.compile(r"(?<=resourceVersion=)\d+")
# Errors of custom resources have a random order, and errors of an apply.
_APPLY = "application/apply-patch+yaml"
_CUSTOM = re.compile(r"/apis/[a-z0-9.]+\.example\.com/")
_WITH_RANDOM_STATUS = ("CustomResourceDefinition", "SelfSubjectRulesReview")
_PORTS = ("nodePort", "healthCheckNodePort")
_ADDRESSES = ("clusterIP", "clusterIPs")


@dataclass(frozen=True, kw_only=True)
class Replacements:
    """What replaces the values of one run."""

    texts: dict[str, str] = field(default_factory=dict)  # UIDs, times, names and addresses
    versions: dict[str, str] = field(default_factory=dict)
    ports: dict[int, int] = field(default_factory=dict)

    def joined(self, other: "Replacements") -> "Replacements":
        """These and the other replacements."""
        return Replacements(
            texts=self.texts | other.texts,
            versions=self.versions | other.versions,
            ports=self.ports | other.ports,
        )

    def exchange(self, exchange: Exchange) -> Exchange:
        """The exchange with the replacements."""
        request = exchange.request
        if request.method == VALUE:
            return exchange
        return replace(
            exchange,
            request=self.request(request),
            content=_in_order(self._value(exchange.content), request),
            # kube-apiserver adds warnings to errors at random.
            warnings=tuple(map(self._text, exchange.warnings)) if exchange.status < 400 else (),
        )

    def request(self, request: RecordedRequest) -> RecordedRequest:
        """The request with the replacements."""
        path = _VERSION_IN_PATH.sub(
            lambda found: self.versions.get(found[0], found[0]), request.path
        )
        body = _in_order(self._value(request.body), request)
        return replace(request, path=self._text(path), body=body)

    def _value(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {self._text(name): self._value(each, name) for name, each in value.items()}
        if isinstance(value, list):
            items = [self._value(each, key) for each in value]
            return sorted(items, key=_field_manager_order) if key == "managedFields" else items
        if isinstance(value, str):
            return self.versions.get(value, value) if key == VERSION else self._text(value)
        if key in _PORTS and isinstance(value, int):
            return self.ports.get(value, value)
        return value

    def _text(self, text: str) -> str:
        return self._pattern.sub(lambda found: self.texts[found[0]], text) if self.texts else text

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        # An address can be the start of another, or of a network.
        longest_first = sorted(self.texts, key=len, reverse=True)
        every = "|".join(map(re.escape, longest_first))
        return re.compile(f"(?<![0-9A-Za-z])(?:{every})(?![0-9A-Za-z]|/[0-9])")


def replacements_for(
    exchanges: Iterable[Exchange], *, known: Replacements, scope: str = ""
) -> Replacements:
    """What replaces the values that the server gave in these exchanges, other than the known ones.

    ``scope`` is the fixture that sent the requests, or empty for a case.
    """
    found = _FoundValues(known=known)
    for each in exchanges:
        found.add(each)
    # UIDs and versions of fixtures differ from those of cases.
    prefix = f"{crc32(scope.encode()) if scope else 0:08x}"
    first_version = FIRST_VERSION_OF_FIXTURE if scope else FIRST_VERSION_OF_CASE
    uids = {uid: f"{prefix}-0000-4000-8000-{n:012d}" for n, uid in enumerate(found.uids, 1)}
    addresses = {each: f"10.0.0.{n}" for n, each in enumerate(found.addresses, FIRST_ADDRESS)}
    return Replacements(
        texts=uids | addresses | found.times | found.names,
        # Later versions stay greater than earlier ones.
        versions={
            each: str(n) for n, each in enumerate(sorted(found.versions, key=int), first_version)
        },
        ports={each: n for n, each in enumerate(found.ports, FIRST_NODE_PORT)},
    )


class _FoundValues:
    """The values that a server gave, without those that the case sent before."""

    def __init__(self, *, known: Replacements) -> None:
        self.uids: dict[str, None] = {}
        self.addresses: dict[str, None] = {}
        self.versions: dict[str, None] = {}
        self.ports: dict[int, None] = {}
        self.times: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self._skipped: set[Any] = {*known.texts, *known.versions, *known.ports}

    def add(self, exchange: Exchange) -> None:
        """Add the values of the next exchange."""
        request = exchange.request
        if request.method == VALUE or request.path.startswith("/openapi/"):
            return  # canonical already, or only examples of values
        self._add_sent(exchange.request)
        for key, value in _leaves(exchange.content):
            if key == VERSION and isinstance(value, str) and value.isdigit() and value != "0":
                self._add(self.versions, value)
            elif key in _PORTS and value:
                self._add(self.ports, value)
            elif key in _ADDRESSES and value and value != "None":
                self._add(self.addresses, value)
        for name, prefix in _generated_names(exchange.content):
            self._add(self.names, name, f"{prefix}{len(self.names) + 1:05d}")
        text = json.dumps([exchange.content, exchange.warnings], ensure_ascii=False)
        for found in _UID.finditer(text):
            self._add(self.uids, found[0])
        for found in _TIME.finditer(text):
            fraction = "." + "0" * (len(found[2]) - 1) if found[2] else ""
            self._add(self.times, found[0], f"{TIME}{fraction}Z")

    def _add_sent(self, request: RecordedRequest) -> None:
        text = request.path + json.dumps(request.body, ensure_ascii=False)
        sent: set[Any] = {found[0] for each in (_UID, _TIME) for found in each.finditer(text)}
        sent |= set(_VERSION_IN_PATH.findall(request.path))
        keys = (VERSION, *_PORTS, *_ADDRESSES)
        sent |= {value for key, value in _leaves(request.body) if key in keys}
        given = {*self.uids, *self.addresses, *self.versions, *self.ports, *self.times}
        self._skipped |= sent - given

    def _add(self, into: dict[Any, Any], value: Any, replacement: Any = None) -> None:
        if value not in self._skipped:
            into.setdefault(value, replacement)


def _in_order(content: Any, request: RecordedRequest) -> Any:
    """The content with lists in order that have a random order in kube-apiserver."""
    body = content[1] if content is not None and content[0] == "json" else None
    if not isinstance(body, dict):
        return content
    has_random_order = request.sends == _APPLY or _CUSTOM.match(request.path)
    if body.get("kind") == "Status" and has_random_order:
        return ["json", _with_sorted_causes(body)]
    if body.get("kind") in _WITH_RANDOM_STATUS and "status" in body:
        status = {
            name: sorted(each, key=partial(json.dumps, sort_keys=True))
            if isinstance(each, list)
            else each
            for name, each in body["status"].items()
        }
        return ["json", {**body, "status": status}]
    return content


def _with_sorted_causes(error: dict[str, Any]) -> dict[str, Any]:
    details = error.get("details") or {}
    causes = details.get("causes") or []
    errors = [f"{each.get('field')}: {each.get('message')}" for each in causes]
    message = error["message"].replace(", ".join(errors), ", ".join(sorted(errors)))
    first, *rest = message.split("\n  ")
    message = "\n  ".join((first, *sorted(rest)))
    if causes:
        details = {**details, "causes": sorted(causes, key=json.dumps)}
    return {**error, "message": message, **({"details": details} if details else {})}


def _field_manager_order(entry: Any) -> tuple[str, ...]:
    """kube-apiserver's order. It depends on the times, which are in full seconds."""
    names = ("operation", "time", "manager", "apiVersion", "subresource")
    return tuple(str(entry.get(name) or "") for name in names) if isinstance(entry, dict) else ()


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Each value in a JSON value, with the nearest key."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _leaves(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each, key)
    else:
        yield key, value


def _generated_names(value: Any) -> Iterator[tuple[str, str]]:
    """The names that the server generated, with their prefixes."""
    if isinstance(value, Mapping):
        prefix, name = value.get("generateName"), value.get("name")
        if isinstance(prefix, str) and isinstance(name, str) and len(name) == len(prefix) + 5:
            yield name, prefix
        for each in value.values():
            yield from _generated_names(each)
    elif isinstance(value, list):
        for each in value:
            yield from _generated_names(each)
