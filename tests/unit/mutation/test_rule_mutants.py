from typing import Any

from steersman_cluster.apiserver.builtin import rule
from tests.mutation.rule_mutants import mutants

SOURCE = """
from steersman_cluster.apiserver.builtin import rule

_NAME: Final = rule.enum("One", "Other")
_TABLE: Final = rule.table(
    rule.required("name", _NAME, detail="names it"),
    rule.given("ports", rule.each(rule.optional("port", port_number))),
    rule.not_negative("count", "size"),
)


def _errors(spec, path) -> Iterator[FieldError]:
    if spec.get("both"):
        yield invalid(path, spec, "not both")


def _more(spec, path) -> list[FieldError]:
    errors = []
    errors += _errors(spec, path)
    return [*errors, required(path)]


def _default(spec):
    fill(spec, mode="A", size=1)
    spec.setdefault("kind", "B")


def unrelated(spec):
    spec["kind"] = "C"
    yield 1
"""


def deleted() -> list[str]:
    return [" ".join(each.deleted.split()) for each in mutants(SOURCE)]


def test_each_rule_in_a_table_is_deleted_once() -> None:
    rows = [each for each in deleted() if "path" not in each][:5]

    assert rows == ["rule.required", "_NAME", "port_number", '"count"', '"size"']


def test_each_error_and_each_default_is_deleted_once() -> None:
    assert deleted()[5:] == [
        'yield invalid(path, spec, "not both")',
        "errors += _errors(spec, path)",
        "required(path)",
        'mode="A"',
        "size=1",
        'spec.setdefault("kind", "B")',
    ]


def test_a_mutant_differs_from_the_source_only_in_the_deleted_rule() -> None:
    port = next(each for each in mutants(SOURCE) if each.deleted == "port_number")

    assert port.source == SOURCE.replace('"port", port_number', '"port", *()')
    compile(port.source, "mutant", "exec")


def test_a_row_without_its_own_rule_keeps_the_other_rules() -> None:
    row = 'rule.required("name", rule.enum("One"), detail="names it")'
    weaker = next(each for each in mutants(row) if each.deleted == "rule.required").source
    names: dict[str, Any] = {"rule": rule}
    check = eval(weaker, names)  # noqa: S307

    assert check({}, "") == []
    assert len(check({"name": "Other"}, "")) == 1


def test_the_words_of_a_mutant_include_those_of_a_named_rule() -> None:
    named = next(each for each in mutants(SOURCE) if each.deleted == "_NAME")

    assert {"One", "Other", "name", "names"} <= named.words
