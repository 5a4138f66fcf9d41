"""Random patches with directives."""

from random import Random
from typing import Any

from tests.fuzz.values import Oddities, spots


class Patches:
    """Generates directives and operations."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._odd = Oddities(rng)

    def direct(self, patch: Any) -> None:
        """Add directives of strategic merge patches at valid and invalid places."""
        for spot in list(spots(patch)):
            if not self._odd.chance(0.03):
                continue
            value, rng = spot.value, self._rng
            if isinstance(value, dict):
                value["$patch"] = rng.choice(("replace", "delete", "merge", "x", 1))
                if self._odd.chance(0.3):
                    value["$retainKeys"] = rng.choice(([*value], [1], "x", [], None))
            elif isinstance(value, list) and isinstance(spot.container, dict):
                name = rng.choice(("$setElementOrder", "$deleteFromPrimitiveList"))
                order: Any = rng.choice((value, value[::-1], [], [1], "x", None, [{}]))
                spot.container[f"{name}/{spot.key}"] = order
            elif isinstance(value, list):
                value.append({"$patch": rng.choice(("replace", "delete", 1)), "name": "a"})

    def json_patch(self, obj: Any) -> Any:
        """Operations on an object, mostly at existing paths."""
        if self._odd.chance(0.05):
            return self._odd.value()
        return [self._operation(obj) for _ in range(self._rng.randrange(4))]

    def _operation(self, obj: Any) -> dict[str, Any]:
        rng = self._rng
        operation = {
            "op": rng.choice(("add", "remove", "replace", "move", "copy", "test")),
            "path": self._pointer(obj),
            "value": self._odd.value(),
        }
        if self._odd.chance(0.5):
            operation["from"] = self._pointer(obj)
        if self._odd.chance(0.1):
            self._odd.bend(operation, 1)
        return operation

    def _pointer(self, obj: Any) -> str:
        rng, pointer = self._rng, ""
        while isinstance(obj, dict | list) and obj and self._odd.chance(0.8):
            key = rng.choice([*obj] if isinstance(obj, dict) else range(len(obj)))
            obj = obj[key]
            pointer += "/" + str(key).replace("~", "~0").replace("/", "~1")
        if self._odd.chance(0.3):
            ends = ("/-", "/0", "/-1", "/01", "/99999999999999999999", "/~", "/~2", "", "/", "x")
            pointer += rng.choice((*ends, f"/{self._odd.text()}"))
        return pointer
