"""The descriptions of fields, for ``kubectl explain``: texts of the Kubernetes project.

They are in the JSON schemas of the optional dependency ``kubernetes-validate``. Without that
package, the OpenAPI documents contain no descriptions. steersman never imports the package's code;
it reads one file of the package when the first OpenAPI document is requested.
"""

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from steersman.openapi import VERSION

Json: TypeAlias = dict[str, Any]

_PACKAGE = "kubernetes_validate"
_FILE = Path("kubernetes-json-schema", f"v{VERSION}.0-local", "_definitions.json")

# The kinds with the descriptions of the fields that custom resources share with all objects.
_OBJECT, _LIST = "io.k8s.api.core.v1.Pod", "io.k8s.api.core.v1.PodList"
_IN_COMMON = ("apiVersion", "kind", "metadata")
_MORE = "More info: "


class _Definitions(msgspec.Struct, frozen=True):
    types: dict[str, dict[str, Any]] = msgspec.field(name="$defs")


class Descriptions:
    """The descriptions of fields by the full names of the types; possibly empty."""

    def __init__(self, types: Mapping[str, Any]) -> None:
        self._types = types
        self._made: tuple[Mapping[str, Any], Json] | None = None

    def described(self, written: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the built-in schemas ``written`` with descriptions.

        The result is cached: for the same ``written``, the same result is returned.
        """
        if not self._types:
            return written
        if self._made is None or self._made[0] is not written:
            made = {name: self._with_texts(name, schema) for name, schema in written.items()}
            self._made = written, made
        return self._made[1]

    def of_object(self, schema: Json) -> Json:
        """Return ``schema``, of a custom kind, with descriptions of the fields of every object."""
        return self._with_common(schema, _OBJECT)

    def of_list(self, schema: Json, *, kind: str, plural: str) -> Json:
        """Return ``schema``, the list schema of a custom kind, with descriptions.

        Only the fields that every list has are described.
        """
        schema = self._with_common(schema, _LIST)
        if not self._types or "items" not in schema.get("properties", {}):
            return schema
        # The description of the items is the same for every kind, and ends with a link.
        _, _, place = self._property(_LIST, "metadata").partition(_MORE)
        items = f"List of {plural}. {_MORE}{place.partition('#')[0]}"
        properties = schema["properties"]
        return {
            **schema,
            "description": f"{kind}List is a list of {kind}",
            "properties": {**properties, "items": {**properties["items"], "description": items}},
        }

    def _with_texts(self, name: str, schema: Json) -> Json:
        described = dict(schema)
        if text := self._types.get(name, {}).get("description"):
            described["description"] = text
        if "properties" in schema:
            described["properties"] = {
                key: _with_text(each, self._property(name, key))
                for key, each in schema["properties"].items()
            }
        return described

    def _with_common(self, schema: Json, name: str) -> Json:
        properties = schema.get("properties")
        if not self._types or not properties:
            return schema
        common = {
            key: _with_text(properties[key], self._property(name, key))
            for key in _IN_COMMON
            if key in properties
        }
        return {**schema, "properties": {**properties, **common}}

    def _property(self, name: str, key: str) -> str:
        found = self._types.get(name, {}).get("properties", {}).get(key, {})
        return str(found.get("description", ""))


def _with_text(schema: Json, text: str) -> Json:
    return {**schema, "description": text} if text else schema


NO_DESCRIPTIONS = Descriptions({})


@cache
def installed_descriptions() -> Descriptions:
    """Return the descriptions in the package ``kubernetes-validate``.

    They are empty if the package is not installed or does not contain this Kubernetes version.
    """
    # find_spec locates a package without importing it.
    spec = find_spec(_PACKAGE)
    for directory in (spec.submodule_search_locations if spec is not None else None) or ():
        if (file := Path(directory) / _FILE).exists():
            return descriptions_in(file.read_bytes())
    return NO_DESCRIPTIONS


def descriptions_in(content: bytes) -> Descriptions:
    """Return the descriptions in ``content``, the content of the package's file.

    For an unknown format, the result is empty: a changed package must not make requests fail.
    """
    try:
        return Descriptions(msgspec.json.decode(content, type=_Definitions).types)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return NO_DESCRIPTIONS
