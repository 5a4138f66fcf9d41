from steersman_cluster.apiserver.builtin.common_rules import keeps, needs


def test_what_is_needed_is_there_and_not_empty() -> None:
    errors = needs("spec.name", "spec.rules", "kind", rules="at least one rule")

    found = errors({"spec": {"name": "x", "rules": []}})

    assert [str(each) for each in found] == [
        "spec.rules: Required value: at least one rule",
        "kind: Required value",
    ]


def test_what_is_kept_is_shown_as_it_would_be_now() -> None:
    errors = keeps({"spec.name": "", "spec.parameters": None, "spec.mode": None})
    old = {"spec": {"name": "x", "parameters": {"a": "b"}, "mode": "y"}}

    found = errors({"spec": {"mode": "z"}}, old)

    assert [str(each) for each in found] == [
        'spec.name: Invalid value: "": field is immutable',
        "spec.parameters: Invalid value: null: field is immutable",
        'spec.mode: Invalid value: "z": field is immutable',
    ]


def test_what_is_not_there_and_what_is_empty_are_the_same() -> None:
    errors = keeps({"spec.parameters": None})

    assert errors({"spec": {"parameters": {}}}, {}) == []
