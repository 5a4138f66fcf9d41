from steersman_cluster.apiserver.builtin.common_rules import keeps


def test_a_change_of_an_immutable_field_is_rejected_with_its_new_value() -> None:
    errors = keeps({"spec.name": "", "spec.parameters": None, "spec.mode": None})
    old = {"spec": {"name": "x", "parameters": {"a": "b"}, "mode": "y"}}

    found = errors({"spec": {"mode": "z"}}, old)

    assert [str(each) for each in found] == [
        'spec.name: Invalid value: "": field is immutable',
        "spec.parameters: Invalid value: null: field is immutable",
        'spec.mode: Invalid value: "z": field is immutable',
    ]


def test_an_absent_field_and_an_empty_field_are_equal() -> None:
    errors = keeps({"spec.parameters": None})

    assert errors({"spec": {"parameters": {}}}, {}) == []
