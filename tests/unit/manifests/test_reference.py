"""The reference describes the whole definition, in well-formed tables."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.errors import BadDefinition
from steersman.manifests import reference_of
from tests.unit.manifests.crds import definition, fields, of_versions, rich, version

TEXT = {"type": "string"}


def row_of(name: str, text: str) -> list[str]:
    """The cells in the row of a field."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"| `{name}` ")]
    return cells(line)


def cells(line: str) -> list[str]:
    return [each.strip() for each in re.split(r"(?<!\\)\|", line)[1:-1]]


def row(schema: dict[str, Any]) -> list[str]:
    return row_of("it", reference_of([definition(fields("it", it=schema))]))


@pytest.mark.parametrize(
    ("schema", "kind", "default", "description"),
    [
        ({"type": "integer", "minimum": 0, "default": 1}, "integer", "`1`", "At least 0."),
        (TEXT | {"description": "A\nname."}, "string", "", "A name."),
        (TEXT | {"enum": ["a", ""]}, "string", "", 'One of `a`, `""`.'),
        (TEXT | {"pattern": "^(a|b)$"}, "string", "", r"Matches `^(a\|b)$`."),
        (
            TEXT | {"minLength": 1, "maxLength": 2},
            "string",
            "",
            "At least 1 character. At most 2 characters.",
        ),
        (TEXT | {"format": "uri", "nullable": True}, "string", "", "Format: `uri`. May be null."),
        ({"x-kubernetes-int-or-string": True}, "integer or string", "", ""),
        (
            {"type": "array", "items": {"type": "array", "items": TEXT}},
            "list of list of string",
            "",
            "",
        ),
        (
            {"type": "array", "items": TEXT | {"enum": ["a"]}},
            "list of string",
            "",
            "Each one of `a`.",
        ),
        ({"type": "object", "additionalProperties": {"type": "boolean"}}, "map of boolean", "", ""),
        (
            {"x-kubernetes-preserve-unknown-fields": True},
            "anything",
            "",
            "Keeps fields that are not listed.",
        ),
        (
            TEXT | {"x-kubernetes-validations": [{"rule": "self != ''", "message": "say it."}]},
            "string",
            "",
            "`self != ''`: say it.",
        ),
        (
            fields() | {"x-kubernetes-embedded-resource": True},
            "Kubernetes object",
            "",
            "",
        ),
    ],
)
def test_a_field_is_a_row_with_its_type_default_and_rules(
    schema: dict[str, Any], kind: str, default: str, description: str
) -> None:
    assert row(schema) == ["`it`", kind, "yes", default, description]


def test_a_nested_object_has_its_own_table_and_a_link_to_it() -> None:
    text = reference_of([definition(fields(ports={"type": "array", "items": fields(port=TEXT)}))])

    assert row_of("ports", text)[1] == "list of [object](#widget-v1-spec-ports)"
    assert '<a id="widget-v1-spec-ports"></a>\n\n#### Widget v1: `spec.ports[]`' in text
    assert row_of("port", text)[1] == "string"


def test_the_same_object_in_two_places_has_one_table() -> None:
    port = fields(port=TEXT)
    text = reference_of([definition(fields(one=port, other=port))])

    assert row_of("one", text)[1] == row_of("other", text)[1]
    assert text.count("| `port` ") == 1


def test_a_kind_with_every_feature_is_described_completely() -> None:
    text = reference_of([rich()])

    for line in (
        "- Names for kubectl: `gadgets`, `gadget`, `gd`, `gdg`",
        "- Categories: `all`, `shop`",
        "- Scope: namespaced",
        "- Versions: v1 (stored)",
        "- `self.low <= self.high`: low is above high.",
        "- Exactly one of `inline`, `reference`.",
        "Conditions in `status.conditions`: `Ready`, `Degraded`.",
        "| Mode   | `.spec.mode`                  | How it runs \\| or not. |",
        "Only with `-o wide`.",
        "Selectable fields: `.spec.mode`.",
        "`/scale` sets `.spec.replicas`, reports `.status.replicas`,"
        " selects Pods by `.status.selector`.",
        "It has &lt;parts>",
        "Example:\n\n```yaml\napiVersion: shop.example.com/v1\nkind: Gadget\n",
    ):
        assert line in text


def test_each_version_is_listed_with_its_status() -> None:
    crd = of_versions(
        version("v1"),
        version("v1beta1", deprecated=True, deprecationWarning="use v1"),
        version("v0", served=False),
        scope="Cluster",
    )

    text = reference_of([crd])

    assert "- Versions: v1 (stored), v1beta1 (deprecated: use v1), v0 (not served)" in text
    assert "- Scope: cluster" in text
    assert "[v1](#widget-v1), [v1beta1](#widget-v1beta1), [v0](#widget-v0)" in text


def test_a_kind_without_a_sample_is_described_without_one() -> None:
    crd = definition(fields("it", it=TEXT | {"pattern": r"^\p{Greek}$"}))

    assert "Example:" not in reference_of([crd])


def test_every_link_has_a_target_and_anchors_are_unique() -> None:
    tricky = definition(fields(a=fields(b=fields(c=TEXT)), **{"a-b": fields(d=TEXT)}))
    text = reference_of([rich(), tricky])

    anchors = re.findall(r'<a id="([^"]+)">', text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= set(anchors)


def test_the_same_definitions_give_the_same_text() -> None:
    assert reference_of([rich(), definition()]) == reference_of([rich(), definition()])
    assert reference_of([rich()]).endswith("```\n")


def test_a_document_that_is_not_a_definition_is_rejected() -> None:
    with pytest.raises(BadDefinition):
        reference_of([{"kind": "Pod"}])


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    ["a | b", "`", "``a", "<b>", "`<b>`", "a\n\nb", "\\|", "| `it` |"]
)


@given(description=words, default=words, pattern=words, message=words)
def test_text_of_an_author_does_not_break_a_table(
    description: str, default: str, pattern: str, message: str
) -> None:
    rules = [{"rule": pattern or "x", "message": message}]
    it = {"description": description, "default": default, "pattern": pattern}
    schema = fields(it={**TEXT, **it, "x-kubernetes-validations": rules})

    text = reference_of([definition(schema)])

    tables = [line for line in text.splitlines() if line.startswith("| ")]
    assert {len(cells(line)) for line in tables} == {5}


def test_nested_objects_precede_siblings() -> None:
    text = reference_of([definition(fields(a=fields(b=fields(c=TEXT)), d=fields(e=TEXT)))])

    places = re.findall(r"^#### Widget v1: `(.*)`$", text, re.MULTILINE)
    assert places == ["spec", "spec.a", "spec.a.b", "spec.d"]
