"""The schemas of the built-in kinds."""

from functools import cache
from typing import Any

from steersman.openapi import load_all_facts

REF = "#/components/schemas/"


@cache
def schemas() -> dict[str, Any]:
    """All schemas, by full name."""
    return {
        name: schema
        for each in load_all_facts().values()
        for name, schema in each["schemas"].items()
    }


def referred(schema: dict[str, Any]) -> str | None:
    """The name of the schema that this schema refers to, or None."""
    for each in (schema, *schema.get("allOf", ())):
        if "$ref" in each:
            return str(each["$ref"]).removeprefix(REF)
    return None
