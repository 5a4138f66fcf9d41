"""Documents with template expressions, as text."""

from typing import Any

import pytest

from steersman.manifests.distribution.chart_templates import (
    Conditional,
    Number,
    OptionalExpression,
    TemplateString,
    literal,
    template_of,
)


def test_a_document_without_expressions_is_unchanged() -> None:
    document = {"kind": "ConfigMap", "data": {"a": "1", "b": ["c", {"d": 2}]}}

    text = template_of(document)

    assert text == "kind: ConfigMap\ndata:\n  a: '1'\n  b:\n  - c\n  - d: 2\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ .Values.a }}", '{{ "{{" }} .Values.a }}'),
        ("{{- x -}}", '{{ "{{" }}- x -}}'),
        ("{{{{", '{{ "{{" }}{{ "{{" }}'),
        ("{{{", '{{ "{{" }}{'),
        ("{ {}}", "{ {}}"),
    ],
)
def test_braces_in_a_text_are_escaped(text: str, expected: str) -> None:
    assert literal(text) == expected
    assert f"see {expected}" in template_of({"a": TemplateString("x"), "b": f"see {text}"})


def test_expressions_are_inserted_at_their_positions() -> None:
    document = {
        "metadata": {
            "name": TemplateString("{{ $.name }}-metrics"),
            "labels": {"a": "b", OptionalExpression("$.l"): 0},
        },
        "spec": {"replicas": Number("$.replicas"), "affinity": OptionalExpression("$.affinity")},
    }

    text = template_of(document)

    assert text == (
        "metadata:\n"
        '  name: "{{ $.name }}-metrics"\n'
        "  labels:\n"
        "    a: b\n"
        "    {{- with $.l }}\n"
        "    {{- toYaml . | nindent 4 }}\n"
        "    {{- end }}\n"
        "spec:\n"
        "  replicas: {{ int $.replicas }}\n"
        "  {{- with $.affinity }}\n"
        "  affinity:\n"
        "    {{- toYaml . | nindent 4 }}\n"
        "  {{- end }}\n"
    )


def test_list_items_can_have_conditions() -> None:
    items = [
        "first",
        TemplateString("{{ $.half }}"),
        Conditional("$.more", ["second", {"third": TemplateString("{{ $.third }}")}]),
        OptionalExpression("$.rest"),
        {"fourth": 4, "fifth": Conditional("$.fifth", 5)},
    ]

    text = template_of({"items": items})

    assert text == (
        "items:\n"
        "- first\n"
        '- "{{ $.half }}"\n'
        "{{- if $.more }}\n"
        "- second\n"
        '- third: "{{ $.third }}"\n'
        "{{- end }}\n"
        "{{- with $.rest }}\n"
        "{{- toYaml . | nindent 0 }}\n"
        "{{- end }}\n"
        "- fourth: 4\n"
        "  {{- if $.fifth }}\n"
        "  fifth: 5\n"
        "  {{- end }}\n"
    )


def test_a_condition_on_a_document_keeps_the_text_at_its_end() -> None:
    text = template_of({"text": "ends with lines\n\n"}, when="$.wanted")

    assert text == "{{ if $.wanted -}}\ntext: |+\n  ends with lines\n\n{{ end -}}\n"


def test_trailing_lines_of_a_text_are_kept_before_other_fields() -> None:
    text = template_of({"a": {"text": "x\n\n", "b": TemplateString("y")}})

    assert text == 'a:\n  text: |+\n    x\n\n  b: "y"\n'


@pytest.mark.parametrize("item", [Number("1"), {"a": Conditional("b", "c")}], ids=str)
def test_an_expression_at_an_invalid_position_is_rejected(item: Any) -> None:
    with pytest.raises(TypeError, match="placeholder"):
        template_of({"items": [item]})
