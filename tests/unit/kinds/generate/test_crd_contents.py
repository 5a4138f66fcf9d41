"""Models generated from a CustomResourceDefinition: enums, embedded objects and descriptions."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from steersman.kinds.generate import models_from_crd
from tests.unit.kinds.generate.test_crd import crd, loaded, properties

NASTY = [
    '"""',
    '""" + __import__("os").name + """',
    'ends with "quotes"',
    '"begins" with them',
    '"',
    "\\",
    "a\\",
    "\\N{BULLET} \\x41 \\u0041",
    "{x} %s $x",
    "\x00\x1b[31m\u2028\u202e",
    "  spaces   all\t over ",
    "\n\nlate",
    "word " * 60,
    "x" * 150,
    *("x" * number for number in range(88, 95)),
    *(f'{"x" * number}"' for number in range(86, 94)),
    "one\ntwo\n\n1. three\n* four\n\n\n\nfive\n",
    "'''",
    "# no comment",
]


def test_enum_values_become_a_literal() -> None:
    schema = properties(
        mode={"type": "string", "enum": ["a", "b", None], "nullable": True},
        level={"type": "integer", "enum": [1, 2]},
        modes={"type": "array", "items": {"type": "string", "enum": ["x"]}},
        flag={"type": "boolean", "enum": [True]},
        ratio={"type": "number", "enum": [1, 2]},
    )

    source = models_from_crd(crd(properties(spec=schema)))

    assert '    mode: Literal["a", "b"] | None = None\n' in source
    assert "    level: Literal[1, 2] | None = None\n" in source
    assert '    modes: tuple[Literal["x"], ...] | None = None\n' in source
    assert "    flag: bool | None = None\n    ratio: float | None = None\n" in source


def test_a_required_field_with_a_default_is_optional() -> None:
    schema = properties(
        mode={"type": "string", "default": "a"},
        level={"type": "integer", "default": None},
        inner={**properties(size={"type": "integer", "default": 1}), "required": ["size"]},
    )

    source = models_from_crd(
        crd(properties(spec={**schema, "required": ["mode", "level", "inner"]}))
    )

    assert "    mode: str | None = None\n" in source
    assert "    level: int\n" in source
    assert "    inner: WidgetSpecInner\n" in source
    assert "    size: int | None = None\n" in source


def test_a_long_literal_becomes_a_named_type(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [f"a-rather-long-word-{number}" for number in range(6)]
    schema = properties(spec=properties(mode={"type": "string", "enum": words}))

    source = models_from_crd(crd(schema))

    assert "WidgetSpecMode: TypeAlias = Literal[\n" in source
    assert "    mode: WidgetSpecMode | None = None\n" in source
    spec = loaded(source, monkeypatch).WidgetSpec
    assert msgspec.convert({"mode": words[5]}, spec).mode == words[5]
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"mode": "another"}, spec)


def test_a_condition_with_enum_types_is_a_condition() -> None:
    usual = {
        "type": {"type": "string", "enum": ["Ready"]},
        "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
    }
    conditions = {"type": "array", "items": properties(**usual)}

    source = models_from_crd(crd(properties(status=properties(conditions=conditions))))

    assert "    conditions: tuple[Condition, ...] | None = None" in source


def test_an_int_or_string_with_the_quantity_pattern_is_a_quantity() -> None:
    pattern = r"^[+-]?([0-9.]+)([numkMGTPE]|[KMGTPE]i)?$"
    size = {"x-kubernetes-int-or-string": True, "pattern": pattern}

    source = models_from_crd(crd(properties(spec=properties(size=size))))

    assert "    size: Quantity | None = None" in source
    assert "from steersman.units import Quantity\n" in source


def test_an_embedded_object_gets_the_fields_of_its_schema() -> None:
    embedded = {"x-kubernetes-embedded-resource": True}
    keeps = {"x-kubernetes-preserve-unknown-fields": True}
    schema = properties(
        any={"type": "object", **embedded, **keeps},
        job={**properties(spec=properties(size={"type": "integer"})), **embedded},
    )

    source = models_from_crd(crd(properties(spec=schema)))

    assert "    any: Mapping[str, Any] | None = None\n" in source
    assert (
        "class WidgetSpecJob(Part):\n"
        "    api_version: str\n"
        "    kind: str\n"
        "    metadata: ObjectMeta | None = None\n"
        "    spec: WidgetSpecJobSpec | None = None\n"
    ) in source


def test_descriptions_are_docstrings() -> None:
    spec = properties(
        size={"type": "integer", "description": "How many.\nMore  cost more.\n\n- a\n- b"},
        ports={"type": "array", "description": "All.", "items": {"type": "string"}},
    )
    schema = properties(spec={**spec, "description": "What should be."})

    source = models_from_crd(crd({**schema, "description": "A widget."}))

    assert (
        "class WidgetSpec(Part):\n"
        '    """What should be."""\n'
        "\n"
        "    size: int | None = None\n"
        '    """How many. More cost more.\n'
        "\n"
        "    - a\n"
        "    - b\n"
        '    """\n'
        "    ports: tuple[str, ...] | None = None\n"
        '    """All."""\n'
    ) in source
    assert '    """A widget."""\n' in source
    assert "    spec: WidgetSpec | None = None\n" in source


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_a_description_becomes_only_a_string_literal(text: str) -> None:
    described = {"type": "string", "description": text}
    schema = properties(spec={**properties(it=described), "description": text})

    tree = ast.parse(models_from_crd(crd({**schema, "description": text})))

    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    assert all(isinstance(node, ast.ImportFrom | ast.ClassDef | ast.Expr) for node in tree.body)
    for node in classes.values():
        assert all(isinstance(each, ast.AnnAssign | ast.Expr) for each in node.body)
        texts = [each.value for each in node.body if isinstance(each, ast.Expr)]
        assert all(isinstance(each, ast.Constant) for each in texts)
    seen = "".join(each if each.isprintable() else " " for each in text).replace('"""', "'''")
    assert (ast.get_docstring(classes["WidgetSpec"]) or "").split() == seen.split()


@pytest.mark.needs_tools
def test_generated_models_are_formatted_as_by_ruff(tmp_path: Path) -> None:
    quoted = ["it's", 'say "x"', "'\"", "back\\slash", "é", ""]
    described: dict[str, Any] = {
        f"field{number}": {
            **properties(it={"type": "string", "description": text}),
            "description": text,
        }
        for number, text in enumerate(NASTY)
    }
    long = {"type": "string", "enum": [f"a-rather-long-word-{number}" for number in range(6)]}
    fits = {"type": "string", "enum": ["some-words", "that-would-not-fit", "in-a-line", "of-all"]}
    schema = properties(
        **described, long=long, fits=fits, quoted={"type": "string", "enum": quoted}
    )
    path = tmp_path / "models.py"
    path.write_text(models_from_crd(crd(schema)), encoding="utf-8")

    ruff = [sys.executable, "-m", "ruff", "format", "--diff", "--line-length", "100", str(path)]
    run = subprocess.run(ruff, capture_output=True, text=True)

    assert (run.returncode, run.stdout) == (0, "")
