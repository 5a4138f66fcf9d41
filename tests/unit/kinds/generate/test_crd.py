"""Models generated from a CustomResourceDefinition: their source, and that they work."""

import ast
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from steersman.errors import BadName, BadValue
from steersman.kinds import Codec, Condition, Resource
from steersman.kinds.generate import models_from_crd
from steersman.kinds.meta_v1 import ObjectMeta

WIDGETS = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget}
  versions:
    - name: v1beta1
      served: true
      storage: false
      schema:
        openAPIV3Schema:
          type: object
          properties:
            labels: {type: object, x-kubernetes-preserve-unknown-fields: true}
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            apiVersion: {type: string}
            kind: {type: string}
            metadata: {type: object}
            spec:
              type: object
              required: [size, ports, owner]
              properties:
                size: {type: integer, minimum: 0}
                colour: {type: string, enum: [red, green], default: red}
                owner: {type: string, nullable: true}
                ratio: {type: number}
                clusterIPs: {type: array, items: {type: string}}
                from: {type: string, format: date-time}
                key: {type: string, format: byte}
                password: {type: string, format: password}
                maxSurge: {x-kubernetes-int-or-string: true}
                template: {type: object, x-kubernetes-preserve-unknown-fields: true}
                settings: {type: object, additionalProperties: {type: string, nullable: true}}
                anything: {type: object}
                ports:
                  type: array
                  items:
                    type: object
                    required: [port]
                    properties:
                      port: {type: integer, format: int32}
                      protocol: {type: string, default: TCP}
                limits:
                  type: object
                  additionalProperties:
                    type: object
                    properties: {most: {type: integer}}
            status:
              type: object
              properties:
                ready: {type: boolean}
                conditions:
                  type: array
                  items:
                    type: object
                    required: [lastTransitionTime, message, reason, status, type]
                    properties:
                      lastTransitionTime: {type: string, format: date-time}
                      message: {type: string}
                      observedGeneration: {type: integer, format: int64}
                      reason: {type: string}
                      status: {type: string}
                      type: {type: string}
"""

MODELS = '''\
# Generated from the CustomResourceDefinition widgets.shop.example.com.
"""Widget, of shop.example.com/v1, and its parts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from steersman.kinds import Condition, CustomResource, Part
from steersman.units import IntOrString


class WidgetSpecPorts(Part):
    port: int
    protocol: str | None = None


class WidgetSpecLimits(Part):
    most: int | None = None


class WidgetSpec(Part, wire_names={"cluster_ips": "clusterIPs"}, sensitive={"password"}):
    size: int
    colour: Literal["red", "green"] | None = None
    owner: str | None
    ratio: float | None = None
    cluster_ips: tuple[str, ...] | None = None
    from_: datetime | None = None
    key: bytes | None = None
    password: str | None = None
    max_surge: IntOrString | None = None
    template: Mapping[str, Any] | None = None
    settings: Mapping[str, str | None] | None = None
    anything: Mapping[str, Any] | None = None
    ports: tuple[WidgetSpecPorts, ...]
    limits: Mapping[str, WidgetSpecLimits] | None = None


class WidgetStatus(Part):
    ready: bool | None = None
    conditions: tuple[Condition, ...] | None = None


class Widget(
    CustomResource[WidgetSpec, WidgetStatus],
    group="shop.example.com",
    version="v1",
    crd=None,
):
    """Widget, of shop.example.com/v1."""
'''


def crd(schema: Any, *, kind: str = "Widget", **spec: Any) -> dict[str, Any]:
    """A definition with one version, with ``schema``."""
    return {
        "spec": {
            "group": "shop.example.com",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": "things"},
            "versions": [
                {"name": "v1", "storage": True, "schema": {"openAPIV3Schema": schema}},
            ],
            **spec,
        }
    }


def properties(**schemas: Any) -> dict[str, Any]:
    return {"type": "object", "properties": schemas}


def loaded(source: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module with this source."""
    module = ModuleType("models_under_test")
    # Annotations are evaluated in this module when a class is first decoded.
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(source, "models", "exec"), module.__dict__)  # noqa: S102
    return module


def test_models_match_handwritten_ones() -> None:
    assert models_from_crd(yaml.safe_load(WIDGETS)) == MODELS


def test_models_decode_and_encode_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    models = loaded(models_from_crd(yaml.safe_load(WIDGETS)), monkeypatch)
    widget = models.Widget(
        metadata=ObjectMeta(name="one"),
        spec=models.WidgetSpec(
            size=0,
            owner=None,
            cluster_ips=("10.0.0.1",),
            from_=datetime(2026, 1, 2, tzinfo=UTC),
            key=b"\xff",
            password="canary",
            max_surge="25%",
            template={"any": [1]},
            settings={"a": None},
            ports=(models.WidgetSpecPorts(port=80),),
            limits={"cpu": models.WidgetSpecLimits(most=3)},
        ),
        status=models.WidgetStatus(conditions=(Condition(type="Ready", status="True"),)),
    )

    sent = Codec().encode(widget)

    assert msgspec.json.decode(sent) == {
        "apiVersion": "shop.example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "one"},
        "spec": {
            "size": 0,
            "owner": None,
            "clusterIPs": ["10.0.0.1"],
            "from": "2026-01-02T00:00:00Z",
            "key": "/w==",
            "password": "canary",
            "maxSurge": "25%",
            "template": {"any": [1]},
            "settings": {"a": None},
            "ports": [{"port": 80}],
            "limits": {"cpu": {"most": 3}},
        },
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }
    assert Codec().decode(models.Widget, sent, wanted="read") == widget
    assert "canary" not in repr(widget)


def test_a_version_can_be_chosen() -> None:
    source = models_from_crd(yaml.safe_load(WIDGETS), version="v1beta1")

    assert (
        'class Widget(Resource, group="shop.example.com", version="v1beta1", crd=None):' in source
    )
    # Every Resource has a property ``labels``.
    assert "    labels_: Mapping[str, Any] | None = None" in source


def test_the_error_for_a_missing_version_lists_the_available_ones() -> None:
    with pytest.raises(BadValue, match="its versions are: v1beta1, v1"):
        models_from_crd(yaml.safe_load(WIDGETS), version="v2")


def test_an_optional_spec_stays_optional() -> None:
    schema = properties(spec=properties(size={"type": "integer"}), status=properties(ok={}))

    source = models_from_crd(crd(schema))

    assert "    spec: WidgetSpec | None = None\n    status: WidgetStatus | None = None" in source


@pytest.mark.parametrize(
    ("required", "nullable"), [(["spec"], True), (["spec", "status"], False), (["status"], False)]
)
def test_an_unusual_schema_of_spec_or_status_is_declared_explicitly(
    required: list[str], nullable: bool
) -> None:
    spec = {**properties(size={"type": "integer"}), "nullable": nullable}
    schema = {**properties(spec=spec, status=properties(ok={})), "required": required}

    source = models_from_crd(crd(schema))

    assert "class Widget(Resource, " in source
    assert ("    status: WidgetStatus\n" in source) == ("status" in required)


def test_scope_and_plural_are_written_if_not_the_default() -> None:
    source = models_from_crd(crd(properties(), scope="Cluster"))

    assert '    plural="things",\n    namespaced=False,\n' in source


def test_a_condition_with_extra_fields_is_a_condition() -> None:
    usual = {"type": {"type": "string"}, "status": {"type": "string"}}
    own = {"severity": {"type": "string"}, "isTrue": {"type": "boolean"}}
    conditions = {"type": "array", "items": properties(**usual, **own)}

    source = models_from_crd(crd(properties(status=properties(conditions=conditions))))

    assert (
        "class WidgetStatusConditions(Condition):\n"
        "    severity: str | None = None\n"
        "    is_true_: bool | None = None\n"
    ) in source


def test_a_type_that_only_resembles_a_condition_is_not_one() -> None:
    odd = properties(
        type={"type": "string"}, status={"type": "string"}, lastTransitionTime={"type": "string"}
    )
    conditions = {"type": "array", "items": odd}

    source = models_from_crd(crd(properties(status=properties(conditions=conditions))))

    assert "class WidgetStatusConditions(Part):" in source


@pytest.mark.parametrize(
    "kind", ["Part", "Resource", "Any", "None", "Mapping", "Literal", "ObjectMeta", "Quantity"]
)
def test_a_kind_with_a_used_name_gets_another_class_name(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = properties(spec=properties(a={}, b={"type": "object"}))

    models = loaded(models_from_crd(crd(schema, kind=kind)), monkeypatch)

    made = getattr(models, f"{kind}2")
    assert issubclass(made, Resource)
    assert made.resource_type.gvk.kind == kind


@pytest.mark.parametrize(
    ("kind", "name"),
    [("postgresql", "Postgresql"), ("my-kind", "MyKind"), ("part", "Part2"), ("none", "None2")],
)
def test_a_kind_that_is_not_a_class_name_gets_another_class_name(
    kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = properties(spec=properties(size={"type": "integer"}))

    models = loaded(models_from_crd(crd(schema, kind=kind)), monkeypatch)

    made = getattr(models, name)
    sent = Codec().encode(made(metadata=ObjectMeta(name="one")))
    assert made.resource_type.gvk.kind == kind
    assert msgspec.json.decode(sent)["kind"] == kind
    assert type(Codec().decode(made, sent, wanted="read")) is made
    assert hasattr(models, f"{name}Spec")


def test_classes_never_share_a_name() -> None:
    schema = {
        **properties(
            spec=properties(ports=properties(a={})),
            specPorts=properties(b={}),
            spec2=properties(c={}),
        )
    }

    source = models_from_crd(crd(schema))

    assert source.count("class WidgetSpecPorts(") == 1
    assert source.count("class WidgetSpecPorts2(") == 1


speakable = st.characters(exclude_categories=["Cs"], min_codepoint=32, exclude_characters='"\\')
names = st.text(speakable, min_size=1) | st.sampled_from(
    ["x'", "'''", "import os", "__init__", "x: int = 1", "x}", "{x", "#", "x)", "\x85", "\u2028"]
)
nested = st.recursive(
    st.sampled_from([{"type": "string"}, {"type": "array", "items": {}}, {}, {"nullable": True}]),
    lambda inside: st.dictionaries(names, inside, min_size=1, max_size=3).map(
        lambda found: {"type": "object", "properties": found}
    ),
    max_leaves=8,
)


@given(schema=st.dictionaries(names, nested, min_size=1, max_size=3))
def test_every_name_in_a_schema_becomes_only_an_identifier_in_the_source(schema: Any) -> None:
    source = models_from_crd(crd({"type": "object", "properties": schema}))

    tree = ast.parse(source)
    allowed = (ast.ImportFrom, ast.ClassDef, ast.Expr)
    assert all(isinstance(node, allowed) for node in tree.body)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            assert all(isinstance(each, ast.AnnAssign | ast.Expr) for each in node.body)
            assert all(
                isinstance(each.value, ast.Constant)
                for each in node.body
                if isinstance(each, ast.Expr)
            )
    wires = {name for name in schema if name not in {"apiVersion", "kind", "metadata"}}
    assert wires <= all_wire_names(tree)


def all_wire_names(tree: ast.Module) -> set[str]:
    module: dict[str, Any] = {"__name__": "models_under_test"}
    exec(compile(tree, "models", "exec"), module)  # noqa: S102
    found: set[str] = set()
    for each in module.values():
        found |= set(getattr(each, "__struct_encode_fields__", ()))
    return found


@pytest.mark.needs_tools
def test_models_are_formatted_as_by_ruff(tmp_path: Path) -> None:
    long: dict[str, Any] = {
        f"{letter}VeryLongNameOfAFieldThatGoesOnAndOnAndOnHTTP": {} for letter in "abc"
    }
    deep: dict[str, Any] = properties(**long)
    for word in ("someWordThatIsLong", "andAnotherWordThatIsLong", "andYetAnother"):
        deep = properties(**{word: {"type": "array", "items": deep}})
    path = tmp_path / "models.py"
    path.write_text(models_from_crd(crd(deep)), encoding="utf-8")

    ruff = [sys.executable, "-m", "ruff", "format", "--diff", "--line-length", "100", str(path)]
    run = subprocess.run(ruff, capture_output=True, text=True)

    assert (run.returncode, run.stdout) == (0, "")


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"spec": []},
        {"spec": {"names": {}}},
        crd(properties(), versions=None),
        crd(properties(), versions=[1]),
        crd(properties(), versions=[{"name": "v1", "storage": True}]),
        crd(properties(), names={"kind": "Widget"}),
        crd(properties(a=1)),
        crd({"type": "object", "properties": []}),
        crd({"type": "object", "properties": {True: {}}}),
        crd(properties(**{'"': {}})),
        crd(properties(**{"a\nb": {}})),
        crd(properties(**{"\\": {}})),
        crd(properties(**{"\ud800": {}})),
        crd(properties(a={"type": "text"})),
        crd(properties(a={"type": ["string"]})),
        crd(properties(a={"type": "array", "items": [{}]})),
        crd({**properties(a={}), "required": 5}),
        crd({**properties(a={}), "required": [[]]}),
    ],
)
def test_a_document_that_is_not_a_definition_is_rejected(broken: Any) -> None:
    with pytest.raises(BadValue):
        models_from_crd(broken)


@pytest.mark.parametrize(
    "changes",
    [
        {"group": "nodots"},
        {"group": 'a.b", x="'},
        {"names": {"kind": "x y", "plural": "xs"}},
        {"names": {"kind": "X", "plural": "x\ny"}},
    ],
)
def test_names_that_kubernetes_rejects_are_rejected(changes: Any) -> None:
    with pytest.raises(BadName):
        models_from_crd(crd(properties(), **changes))
