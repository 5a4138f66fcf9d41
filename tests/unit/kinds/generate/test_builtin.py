"""The generated modules match the schemas, and are up to date."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest

import steersman.kinds
from steersman.kinds import Condition, Part, Resource, Scheme
from steersman.kinds.builtin import BUILTIN_KINDS
from steersman.kinds.generate import builtin_sources
from steersman.kinds.generate.schema_reader import CONDITION_FIELDS, CONDITION_NAMES
from steersman.openapi import load_all_facts
from tests.unit.kinds.schemas import schemas

ROOT = Path(__file__).parents[4]
KINDS = Path(steersman.kinds.__path__[0])
GENERATED = sorted([*KINDS.glob("*_v[0-9].py"), KINDS / "builtin.py"])

EVERY_RESOURCE_HAS = {"apiVersion", "kind", "metadata"}


def generated_classes() -> dict[str, type[Part]]:
    """All generated classes, by the full name of their schema."""
    classes: dict[str, type[Part]] = {}
    for module, each in load_all_facts().items():
        found = vars(import_module(f"steersman.kinds.{module}"))
        for component in each["schemas"]:
            name = component.rpartition(".")[2]
            if isinstance(found.get(name), type):
                classes[component] = found[name]
    return classes


def wire_names(kind: type[Part]) -> set[str]:
    fields: tuple[str, ...] = kind.__struct_encode_fields__  # type: ignore[attr-defined]
    return set(fields)


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_the_generated_modules_are_up_to_date(path: Path) -> None:
    hint = "run `python -m steersman.kinds.generate`"
    sources = builtin_sources(load_all_facts())

    assert path.read_text(encoding="utf-8") == sources.get(path.stem), hint


def test_no_generated_module_is_missing() -> None:
    assert {path.stem for path in GENERATED} == set(builtin_sources(load_all_facts()))


def test_the_same_schemas_always_give_the_same_text() -> None:
    # The order of sets differs between these processes.
    program = (
        "from steersman.openapi import load_all_facts\n"
        "from steersman.kinds.generate import builtin_sources\n"
        "print(builtin_sources(load_all_facts()))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(texts) == 1


@pytest.mark.needs_tools
def test_generated_modules_are_formatted_as_by_ruff() -> None:
    ruff = [sys.executable, "-m", "ruff"]

    for command in (["format", "--check"], ["check"]):
        run = subprocess.run([*ruff, *command, *GENERATED], cwd=ROOT, capture_output=True)
        assert run.returncode == 0, run.stdout


def test_every_field_keeps_its_exact_name_on_the_wire() -> None:
    classes = generated_classes()

    wrong: dict[str, Any] = {}
    for component, kind in classes.items():
        wanted = set(schemas()[component]["properties"])
        if issubclass(kind, Resource):
            wanted |= EVERY_RESOURCE_HAS
        if issubclass(kind, Condition):
            wanted |= set(CONDITION_FIELDS)
        if wire_names(kind) != wanted:
            wrong[component] = wire_names(kind) ^ wanted

    assert len(classes) > 500
    assert wrong == {}


def test_every_schema_with_fields_is_a_class_unless_it_is_a_list() -> None:
    left_out = {
        component
        for component, schema in schemas().items()
        if "properties" in schema and component not in generated_classes()
    }

    assert left_out
    assert all(component.endswith("List") for component in left_out)


def test_every_kind_that_the_server_serves_has_a_class() -> None:
    scheme = Scheme()

    for each in load_all_facts().values():
        api_version = f"{each['group']}/{each['version']}".lstrip("/")
        for plural, resource in each["resources"].items():
            found = scheme.class_of(api_version, resource["kind"]).resource_type
            assert (found.plural, found.namespaced) == (plural, resource["namespaced"])


def test_kinds_that_are_only_subresources_have_a_class_too() -> None:
    for kind in (
        ("autoscaling/v1", "Scale"),
        ("authentication.k8s.io/v1", "TokenRequest"),
        ("policy/v1", "Eviction"),
    ):
        assert kind in BUILTIN_KINDS


def test_the_table_of_kinds_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        BUILTIN_KINDS["v1", "Pod"] = "elsewhere"  # type: ignore[index]


def test_every_built_in_condition_is_a_condition() -> None:
    conditions = [
        kind
        for component, kind in generated_classes().items()
        if component.endswith("Condition") and {"type", "status"} <= wire_names(kind)
    ]

    assert len(conditions) > 15
    assert [kind for kind in conditions if not issubclass(kind, Condition)] == []


def test_the_generator_knows_the_fields_of_a_condition() -> None:
    types = {field.encode_name: field.type for field in msgspec.structs.fields(Condition)}  # type: ignore[arg-type]

    assert {wire: kind.__name__ for wire, kind in types.items() if isinstance(kind, type)} == {
        "type": "str",
        "status": "str",
    }
    assert list(types) == list(CONDITION_FIELDS)
    assert {name for name in dir(Condition) if not name.startswith("_")} == {
        *Condition.__struct_fields__,  # type: ignore[attr-defined]
        *CONDITION_NAMES,
    }


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("core_v1.Secret", "data"),
        ("core_v1.Secret", "string_data"),
        ("authentication_v1.TokenRequestStatus", "token"),
        ("authentication_v1.TokenReviewSpec", "token"),
    ],
)
def test_secrets_and_tokens_are_sensitive(kind: str, field: str) -> None:
    module, _, name = kind.partition(".")
    found = getattr(import_module(f"steersman.kinds.{module}"), name)

    assert field in found._part.sensitive


def test_no_description_of_upstream_is_copied() -> None:
    def descriptions(schema: Any) -> Iterator[str]:
        if isinstance(schema, dict):
            if isinstance(schema.get("description"), str):
                yield schema["description"]
            for each in schema.values():
                yield from descriptions(each)

    assert list(descriptions(schemas())) == []
