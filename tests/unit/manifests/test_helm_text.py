"""Documents with holes in them, as the text of templates."""

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


def test_a_document_without_holes_stands_there_as_it_is() -> None:
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
def test_braces_in_a_text_stay_braces(text: str, expected: str) -> None:
    assert literal(text) == expected
    assert f"see {expected}" in template_of({"a": TemplateString("x"), "b": f"see {text}"})


def test_holes_stand_in_their_places() -> None:
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


def test_items_of_lists_have_conditions_and_others_beside_them() -> None:
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


def test_a_condition_on_a_whole_document_takes_nothing_from_the_text_at_its_end() -> None:
    text = template_of({"text": "ends with lines\n\n"}, when="$.wanted")

    assert text == "{{ if $.wanted -}}\ntext: |+\n  ends with lines\n\n{{ end -}}\n"


def test_lines_at_the_end_of_a_text_stay_though_more_comes_after_it() -> None:
    text = template_of({"a": {"text": "x\n\n", "b": TemplateString("y")}})

    assert text == 'a:\n  text: |+\n    x\n\n  b: "y"\n'


@pytest.mark.parametrize("item", [Number("1"), {"a": Conditional("b", "c")}], ids=str)
def test_a_hole_where_there_can_be_none_is_refused(item: Any) -> None:
    with pytest.raises(TypeError, match="hole"):
        template_of({"items": [item]})
