"""The facts about the built-in kinds, as the tests of kinds see them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from steersman.kinds.generate import Facts

ROOT = Path(__file__).parents[3]
OPENAPI = ROOT / "src" / "steersman" / "apiserver" / "schema" / "kubernetes-1.36"

REF = "#/components/schemas/"


@cache
def facts() -> dict[str, Facts]:
    """What is known of each group and version, by module."""
    return {path.stem: json.loads(path.read_bytes()) for path in OPENAPI.glob("*.json")}


@cache
def schemas() -> dict[str, Any]:
    """Every schema, by its full name."""
    return {name: schema for each in facts().values() for name, schema in each["schemas"].items()}


def referred(schema: dict[str, Any]) -> str | None:
    """The name of the schema that this one only points to, if it does."""
    for each in (schema, *schema.get("allOf", ())):
        if "$ref" in each:
            return str(each["$ref"]).removeprefix(REF)
    return None
