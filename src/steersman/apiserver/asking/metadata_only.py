"""Answers with nothing but metadata, for clients that need no more of an object."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, NamedTuple

import msgspec

from steersman.apiserver import refusals
from steersman.apiserver.asking.asked import Asked
from steersman.apiserver.served import Served

OBJECT, LIST = "PartialObjectMetadata", "PartialObjectMetadataList"

_VERSIONS = ("v1", "v1beta1")
_ABOUT_MANY = frozenset(("list", "deletecollection"))


class _Object(msgspec.Struct):
    metadata: msgspec.Raw
    kind: str = ""


class _List(msgspec.Struct):
    metadata: dict[str, Any]
    items: list[_Object]


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class MetadataOnly(NamedTuple):
    """The wish for it; ``kind`` says whether of one object, or of a list of them."""

    kind: str
    version: str

    @classmethod
    def wished(cls, parameters: Mapping[str, str]) -> "MetadataOnly | None":
        """What the parameters of a media type ask for, if it is this."""
        kind, group, version = (parameters.get(name, "") for name in ("as", "g", "v"))
        known = kind in (OBJECT, LIST) and group == "meta.k8s.io" and version in _VERSIONS
        return cls(kind, version) if known else None

    def document(self, body: bytes, asked: Asked, served: Served) -> bytes:
        """What is wanted of an answer; a Status stays as it is."""
        found = msgspec.json.decode(body, type=_Object)
        if found.kind == "Status":
            return body
        is_list = asked.verb in _ABOUT_MANY
        if is_list != (self.kind == LIST):
            raise self._unlike(served, is_list=is_list)
        if is_list:
            return msgspec.json.encode(self._list(msgspec.json.decode(body, type=_List)))
        return msgspec.json.encode(self._object(found))

    async def lines(self, lines: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        """What is wanted of a watch, which is about objects; whoever wants lists gets nothing."""
        async with aclosing(lines):
            if self.kind == LIST:
                return
            async for some in lines:
                yield b"".join([self._line(line) for line in some.splitlines()])

    def _line(self, line: bytes) -> bytes:
        event = msgspec.json.decode(line, type=_Event)
        found = msgspec.json.decode(event.object, type=_Object)
        shown = event.object if found.kind == "Status" else self._object(found)
        return msgspec.json.encode({"type": event.type, "object": shown}) + b"\n"

    def _object(self, found: _Object) -> dict[str, Any]:
        return {**self._head(OBJECT), "metadata": found.metadata}

    def _list(self, found: _List) -> dict[str, Any]:
        return {
            **self._head(LIST),
            "metadata": {name: value for name, value in found.metadata.items() if value != ""},
            "items": [self._object(each) for each in found.items] or None,  # null, if it is empty
        }

    def _head(self, kind: str) -> dict[str, str]:
        return {"kind": kind, "apiVersion": f"meta.k8s.io/{self.version}"}

    def _unlike(self, served: Served, *, is_list: bool) -> refusals.Refusal:
        """One thing was wanted, and it is the other; told by the name of its Go type."""
        if served.custom and not is_list:
            return refusals.Refusal(500, "", "content is not a list")
        package = served.gvk.group.partition(".")[0]
        if package in ("", "events"):
            package = "core"
        kind = served.list_kind if is_list else served.gvk.kind
        go_type = "unstructured.UnstructuredList" if served.custom else f"{package}.{kind}"
        it_is = "is a list" if is_list else "is not a list"
        return refusals.not_acceptable(
            f"you requested {self.kind}, but the requested object {it_is} (*{go_type})"
        )
