from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from tests.mutation import switches
from tests.mutation.rule_mutants import SWITCHES, instrumented

SOURCE = """
from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.common_defaults import fill
from steersman_cluster.apiserver.meta.field_errors import FieldError, invalid, required
from steersman_cluster.apiserver.meta.name_validation import dns_label, port_number

_MODE = rule.enum("One", "Other")
TABLE = rule.table(
    rule.required("mode", _MODE, detail="names it"),
    rule.given("ports", rule.each(rule.optional("port", port_number))),
    rule.not_negative("count", "size"),
    rule.when(lambda spec: "a" in spec, dns_label, otherwise=[rule.needed("b")]),
)


def _both(spec, path) -> "Iterator[FieldError]":
    if spec.get("both"):
        yield invalid(path, 1, "not both")


def errors(spec, path) -> "list[FieldError]":
    found = []
    found += _both(spec, path)
    found.extend(_both(spec, f"{path}.again"))
    if spec.get("first"):
        found.append(required("first"))
    if not found:
        return list(_both({"both": spec.get("last")}, "last"))
    return [*found, *_both(spec, "third"), required(path)]


def default(spec):
    fill(spec, mode="A", size=1)
    spec.setdefault("kind", "B")
    if "list" in spec:
        spec["items"] = spec["list"]


def unrelated(spec):
    spec["kind"] = "C"
    yield 1
"""

TREE, MUTANTS = instrumented(SOURCE, 10)


@pytest.fixture
def module() -> Iterator[ModuleType]:
    """The instrumented module, in which no mutant is active."""
    module = ModuleType("module")
    setattr(module, SWITCHES, switches)
    exec(compile(TREE, "module", "exec"), module.__dict__)  # noqa: S102
    before, switches.reached = switches.reached, set()
    yield module
    switches.active, switches.reached = -1, before


def number(deleted: str) -> int:
    """The number of the mutant without this part."""
    return next(each.number for each in MUTANTS if each.deleted == deleted)


def paths(found: Any) -> list[str]:
    return [each.field for each in found]


def defaulted(module: ModuleType, **spec: Any) -> dict[str, Any]:
    module.default(spec)
    return spec


def test_each_rule_each_error_and_each_default_is_deleted_once() -> None:
    deleted = [each.deleted for each in sorted(MUTANTS, key=lambda each: each.line)]

    assert deleted == [
        "rule.required",
        "_MODE",
        "port_number",
        '"count"',
        '"size"',
        "dns_label",
        "rule.needed",
        'yield invalid(path, 1, "not both")',
        "found += _both(spec, path)",
        'found.extend(_both(spec, f"{path}.again"))',
        'found.append(required("first"))',
        'list(_both({"both": spec.get("last")}, "last"))',
        '*_both(spec, "third")',
        "required(path)",
        'mode="A"',
        "size=1",
        'spec.setdefault("kind", "B")',
        'spec["items"] = spec["list"]',
    ]
    assert sorted(each.number for each in MUTANTS) == [*range(10, 10 + len(MUTANTS))]


def test_the_instrumented_module_behaves_as_its_source(module: ModuleType) -> None:
    source: dict[str, Any] = {}
    exec(SOURCE, source)  # noqa: S102
    specs: list[dict[str, Any]] = [
        {},
        {"mode": "Odd", "ports": [{"port": 0}], "count": -1, "b": 1},
        {"mode": "One", "both": 1, "first": 1, "list": [1], "last": 1},
    ]

    for spec in specs:
        own, others = {**spec}, {**spec}
        module.default(own)
        source["default"](others)

        assert own == others
        assert module.TABLE(spec, "spec") == source["TABLE"](spec, "spec")
        assert module.errors(spec, "spec") == source["errors"](spec, "spec")


@pytest.mark.parametrize(
    ("deleted", "spec", "remaining"),
    [
        ("_MODE", {"mode": "Odd", "b": 1}, []),
        ("rule.required", {"b": 1}, []),
        ("rule.required", {"mode": "Odd", "b": 1}, ["mode"]),
        ("port_number", {"mode": "One", "ports": [{"port": 0}], "b": 1}, []),
        ('"count"', {"mode": "One", "count": -1, "size": -1, "b": 1}, ["size"]),
        ("rule.needed", {"mode": "One"}, []),
    ],
)
def test_a_table_lacks_only_the_rule_that_is_deleted(
    module: ModuleType, deleted: str, spec: dict[str, Any], remaining: list[str]
) -> None:
    complete = paths(module.TABLE(spec))
    reached = set(switches.reached)
    switches.active = number(deleted)

    assert paths(module.TABLE(spec)) == remaining
    assert complete == remaining or number(deleted) in reached


@pytest.mark.parametrize(
    ("deleted", "spec", "remaining"),
    [
        ('yield invalid(path, 1, "not both")', {"both": 1}, []),
        ("found += _both(spec, path)", {"both": 1}, ["x.again", "third", "x"]),
        ('found.extend(_both(spec, f"{path}.again"))', {"both": 1}, ["x", "third", "x"]),
        ('found.append(required("first"))', {"first": 1}, []),
        ('*_both(spec, "third")', {"both": 1}, ["x", "x.again", "x"]),
        ("required(path)", {"first": 1}, ["first"]),
        ('list(_both({"both": spec.get("last")}, "last"))', {"last": 1}, []),
    ],
)
def test_a_function_lacks_only_the_errors_that_are_deleted(
    module: ModuleType, deleted: str, spec: dict[str, Any], remaining: list[str]
) -> None:
    module.errors(spec, "x")
    assert number(deleted) in switches.reached
    switches.active = number(deleted)

    assert paths(module.errors(spec, "x")) == remaining


def test_a_deleted_default_leaves_the_field_absent(module: ModuleType) -> None:
    complete = defaulted(module, list=[1])

    for deleted, name in (
        ('mode="A"', "mode"),
        ("size=1", "size"),
        ('spec.setdefault("kind", "B")', "kind"),
        ('spec["items"] = spec["list"]', "items"),
    ):
        switches.active = number(deleted)

        assert defaulted(module, list=[1]).keys() == complete.keys() - {name}


@pytest.mark.parametrize(
    "call",
    [
        lambda module: module.TABLE({"mode": "One", "count": 1, "ports": [{"port": 1}], "b": 1}),
        lambda module: defaulted(module, mode="B", size=2, kind="C"),
        lambda module: list(module._both({}, "x")),
    ],
)
def test_a_rule_without_an_error_and_a_default_of_a_present_field_have_no_effect(
    module: ModuleType, call: Callable[[ModuleType], object]
) -> None:
    call(module)

    assert switches.reached == set()
