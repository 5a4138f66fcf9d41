"""The facts about the built-in kinds, as the tests of kinds see them."""

from functools import cache
from typing import Any

from steersman.openapi import load_all_facts

REF = "#/components/schemas/"


@cache
def schemas() -> dict[str, Any]:
    """Every schema, by its full name."""
    return {
        name: schema
        for each in load_all_facts().values()
        for name, schema in each["schemas"].items()
    }


def referred(schema: dict[str, Any]) -> str | None:
    """The name of the schema that this one only points to, if it does."""
    for each in (schema, *schema.get("allOf", ())):
        if "$ref" in each:
            return str(each["$ref"]).removeprefix(REF)
    return None
