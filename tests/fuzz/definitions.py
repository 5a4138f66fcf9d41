"""Random CustomResourceDefinitions with unusual features, nearly all of them valid."""

from random import Random
from typing import Any

from tests.fuzz.values import Oddities

GROUPS = ("fuzz.example.com", "other.example.org")
PLURALS = ("gadgets", "widgets", "tools")

_FORMATS = ("date-time", "byte", "int32", "int64", "ipv4", "uuid", "email", "duration", "nonsense")
_PATTERNS = ("^[a-z]+$", "a{2,3}", r"\d+", "(?i)x", "[[:alpha:]]", "^(a|b)*$")


class Definitions:
    """Generates CustomResourceDefinitions."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._odd = Oddities(rng)

    def definition(self) -> dict[str, Any]:
        """A definition with one of a few names, so that later definitions meet existing objects."""
        rng = self._rng
        group, plural = rng.choice(GROUPS), rng.choice(PLURALS)
        versions = rng.sample(("v1", "v1alpha1", "v2"), rng.randrange(1, 3))
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {
                "group": group,
                "scope": rng.choice(("Namespaced", "Namespaced", "Cluster")),
                "names": {
                    "plural": plural,
                    "singular": plural[:-1],
                    "kind": plural[:-1].title(),
                    "shortNames": [plural[0]],
                },
                "versions": [self._version(name, stored=name == versions[0]) for name in versions],
            },
        }

    def _version(self, name: str, *, stored: bool) -> dict[str, Any]:
        root = self._fields(0)
        root["properties"] |= {"spec": self._fields(1), "status": self._fields(1)}
        version: dict[str, Any] = {
            "name": name,
            "served": True,
            "storage": stored,
            "schema": {"openAPIV3Schema": root},
        }
        if self._odd.chance(0.6):
            version["subresources"] = {"status": {}}
            if self._odd.chance(0.5):
                root["properties"]["spec"]["properties"]["replicas"] = {"type": "integer"}
                version["subresources"]["scale"] = {
                    "specReplicasPath": ".spec.replicas",
                    "statusReplicasPath": ".status.replicas",
                    "labelSelectorPath": ".status.selector",
                }
        if self._odd.chance(0.3):
            root["properties"]["spec"]["properties"]["color"] = {"type": "string"}
            version["selectableFields"] = [{"jsonPath": ".spec.color"}]
        if self._odd.chance(0.3):
            version["additionalPrinterColumns"] = [
                {"name": "A", "type": "string", "jsonPath": self._rng.choice((".spec.a", ".x[0]"))}
            ]
        return version

    def _fields(self, depth: int) -> dict[str, Any]:
        names = ("a", "b", "name", "web", "items")
        chosen = self._rng.sample(names, self._rng.randrange(1, 4))
        properties = {name: self.schema(depth + 1) for name in chosen}
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if depth and self._odd.chance(0.2):
            schema["required"] = [self._rng.choice(chosen)]
        if self._odd.chance(0.2):
            schema["x-kubernetes-preserve-unknown-fields"] = True
        return schema

    def schema(self, depth: int) -> dict[str, Any]:
        """A schema for one place."""
        rng = self._rng
        match rng.randrange(10 if depth < 4 else 5):
            case 0:
                return {"type": "string", **self._about_text()}
            case 1:
                return {"type": "integer", "minimum": 0, "maximum": rng.choice((3, 1e6, 0))}
            case 2:
                return {"type": "number", "multipleOf": rng.choice((0.1, 2, 1e-300))}
            case 3:
                return {"type": "boolean", "default": rng.choice((True, False))}
            case 4:
                return {"x-kubernetes-int-or-string": True, "nullable": True}
            case 5:
                return self._list(depth)
            case 6:
                return {"type": "object", "additionalProperties": self.schema(depth + 1)}
            case 7:
                return {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "x-kubernetes-preserve-unknown-fields": True,
                }
            case 8:
                bent = self._fields(depth)
                bent[rng.choice(("anyOf", "oneOf", "allOf"))] = [
                    {"required": ["a"]},
                    {"properties": {"a": {"enum": [1, "x", None]}}},
                ]
                return bent
            case _:
                return self._fields(depth)

    def _about_text(self) -> dict[str, Any]:
        return self._rng.choice(
            (
                {},
                {"default": "web"},
                {"format": self._rng.choice(_FORMATS)},
                {"pattern": self._rng.choice(_PATTERNS)},
                {"enum": ["a", "b"], "nullable": True},
                {"maxLength": 3, "minLength": 1},
            )
        )

    def _list(self, depth: int) -> dict[str, Any]:
        if self._odd.chance(0.4):
            keyed: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}}
            keyed["properties"]["value"] = self.schema(depth + 2)
            keyed["required"] = ["name"]
            return {
                "type": "array",
                "items": keyed,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
            }
        if self._odd.chance(0.3):
            return {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}
        return {"type": "array", "items": self.schema(depth + 1), "maxItems": 5}
