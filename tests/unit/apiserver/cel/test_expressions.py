"""CEL expressions, compared with recorded results of kube-apiserver's library."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from steersman_cluster.apiserver.cel import (
    AuthorizerDecision,
    CelAuthorizer,
    CelType,
    CostExceeded,
    Expression,
    NotCompiled,
    NotEvaluated,
    ResourceCheck,
    cel_types,
)
from steersman_cluster.apiserver.cel.library.operators import to_string
from steersman_cluster.apiserver.cel.library.string_format import type_name
from steersman_cluster.apiserver.cel.library.times import duration_text, timestamp_text
from steersman_cluster.apiserver.cel.values import Duration, Optional, Timestamp
from steersman_cluster.apiserver.meta.go_messages import go_text

# Each expression with its value or error in kube-apiserver 1.36.3.
ANSWERS: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("expressions.json").read_text(encoding="utf-8")
)
# Go prints these values differently.
PRINTED_DIFFERENTLY = ("timestamp(", "duration(", "getQuery", "url('a:b')", "null", "sortBy", "[[")


def shown(value: Any) -> str:
    match value:
        case bytes():
            return f"[{' '.join(map(str, value))}]"
        case Optional():
            return shown(value.value) if value.has_value else "<nil>"
        case CelType():
            return type_name(value)
        case Timestamp():
            return timestamp_text(value)
        case Duration():
            return duration_text(value)
        case float():
            return to_string(value)
        case _:
            return go_text(value)


def result(text: str) -> dict[str, Any]:
    try:
        expression = Expression.compile(text, variables={}, result=None)
        value, cost = expression.evaluate_with_cost({})
    except NotCompiled as error:
        return {"error": str(error)}
    except NotEvaluated as error:
        return {"failed": str(error), "cost": error.cost}
    return {"value": shown(value), "cost": cost}


@pytest.mark.parametrize("text", ANSWERS)
def test_an_expression_has_the_same_value_and_cost_as_in_kube_apiserver(text: str) -> None:
    found, wanted = result(text), ANSWERS[text]

    if any(each in text for each in PRINTED_DIFFERENTLY):
        found.pop("value", None)
        wanted = {key: each for key, each in wanted.items() if key != "value"}
    if "sort()" in text:  # a failed sort has another cost
        assert found.get("failed") == wanted.get("failed")
    else:
        assert found == wanted


def test_a_compiled_expression_can_be_evaluated_several_times() -> None:
    expression = Expression.compile("object.spec.replicas > 2", variables={"object": "dyn"})

    found = [expression.evaluate({"object": {"spec": {"replicas": n}}}) for n in (1, 2, 3)]

    assert found == [False, False, True]


def test_an_expression_that_kube_apiserver_rejects_is_rejected_with_the_same_message() -> None:
    with pytest.raises(NotCompiled) as raised:
        Expression.compile("objct.spec", variables={"object": "dyn"})

    assert str(raised.value) == (
        "compilation failed: ERROR: <input>:1:1: undeclared reference to 'objct' (in container '')"
        "\n | objct.spec\n | ^"
    )


def test_an_expression_of_the_wrong_type_is_rejected() -> None:
    with pytest.raises(NotCompiled, match="must evaluate to bool but got string"):
        Expression.compile("'a'", variables={})


def test_an_evaluation_never_costs_more_than_kube_apiserver_allows() -> None:
    pairs = Expression.compile(
        "object.all(x, object.all(y, x <= y || x > y))", variables={"object": "dyn"}
    )

    with pytest.raises(CostExceeded, match="actual cost limit exceeded"):
        pairs.evaluate({"object": list(range(1000))})


@pytest.mark.parametrize(
    "text",
    [
        "lists.range(9000000000000000000).size() > 0",
        f"text{'.replace(text, text + text)' * 25} == ''",
        f"[many]{'.map(x, x + x)' * 25}.size() == 1",
        "many.map(x, many).flatten().size() == 0",
        "many.map(x, text).join(text) == ''",
    ],
)
def test_an_evaluation_with_huge_values_exceeds_the_cost_limit(text: str) -> None:
    expression = Expression.compile(text, variables={"text": "dyn", "many": "dyn"})

    with pytest.raises(CostExceeded):
        expression.evaluate({"text": "a" * 1000, "many": [1] * 10_000})


@pytest.mark.parametrize("text", ["int(n)", "uint(n)", "semver('1.2.' + n)", "duration(n + 's')"])
def test_a_number_with_too_many_digits_is_an_evaluation_error(text: str) -> None:
    expression = Expression.compile(text, variables={"n": cel_types.STRING}, result=None)

    with pytest.raises(NotEvaluated):
        expression.evaluate({"n": "9" * 5000})


@pytest.mark.parametrize(
    ("version", "what_now"),
    [((3, 14), "it comes with steersman[dev]"), ((3, 15), "use Python 3.14")],
)
def test_a_missing_parser_is_reported_by_the_first_compilation(
    version: tuple[int, int], what_now: str
) -> None:
    script = (
        "import sys\n"
        "sys.modules['cel_expr_python'] = None\n"
        "from steersman_cluster.apiserver.cel import Expression\n"
        "from steersman_cluster.apiserver.meta.status_errors import StatusError\n"
        f"sys.version_info = {version}\n"
        "try:\n"
        "    Expression.compile('true', variables={})\n"
        "except StatusError as refused:\n"
        "    assert 'package cel-expr-python, which is not installed' in refused.message, refused\n"
        f"    assert {what_now!r} in refused.message, refused\n"
        "else:\n"
        "    raise AssertionError\n"
    )

    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_parser_is_loaded_by_the_first_compilation() -> None:
    pytest.importorskip("cel_expr_python", reason="cel-expr-python is not installed")
    script = (
        "import sys, steersman_cluster.apiserver, steersman_cluster.apiserver.cel as cel\n"
        "assert not any(name.startswith('cel_expr') for name in sys.modules)\n"
        "cel.Expression.compile('true', variables={})\n"
        "assert 'cel_expr_python.cel' in sys.modules\n"
    )

    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_variable_name_may_contain_a_dot() -> None:
    who = CelAuthorizer(
        lambda about, _: AuthorizerDecision(allowed=about["verb"] == "get", reason="so")
    )
    types = {
        "authorizer": cel_types.opaque("kubernetes.authorization.Authorizer"),
        "authorizer.requestResource": cel_types.opaque("kubernetes.authorization.ResourceCheck"),
    }
    values = {
        "authorizer": who,
        "authorizer.requestResource": ResourceCheck(who, {"resource": "pods"}),
    }

    def value(text: str) -> Any:
        return Expression.compile(text, variables=types, result=None).evaluate(values)

    assert value("authorizer.group('apps').resource('deployments').check('get').allowed()")
    assert not value("authorizer.requestResource.check('delete').allowed()")
    assert value("authorizer.path('/healthz').check('get').reason()") == "so"
    assert not value(
        "authorizer.serviceAccount('ns', 'sa').group('').resource('a').check('x').allowed()"
    )


def test_an_object_type_has_its_declared_fields() -> None:
    request = CelType("object", "Request", fields={"uid": cel_types.STRING})

    with pytest.raises(NotCompiled, match="undefined field 'name'"):
        Expression.compile("request.name == ''", variables={"request": request})
    assert Expression.compile("has(request.uid)", variables={"request": request}).evaluate(
        {"request": {"uid": "x"}}
    )


@given(some.lists(some.integers(-(2**40), 2**40), max_size=20))
def test_macros_have_the_same_result_as_python_comprehensions(numbers: list[int]) -> None:
    def value(text: str) -> Any:
        return Expression.compile(text, variables={"n": "dyn"}, result=None).evaluate(
            {"n": numbers}
        )

    assert value("n.map(x, x * 2)") == [each * 2 for each in numbers]
    assert value("n.filter(x, x > 0)") == [each for each in numbers if each > 0]
    assert value("n.all(x, x > 0)") == all(each > 0 for each in numbers)
    assert value("n.exists_one(x, x == 1)") == (numbers.count(1) == 1)
    assert value("dyn(n).map(x, x).sort()") == sorted(numbers)
    assert value("n.transformList(i, x, i)") == list(range(len(numbers)))


@given(some.integers(-(2**63), 2**63 - 1), some.integers(-(2**63), 2**63 - 1))
def test_integer_arithmetic_overflows_at_64_bits(first: int, second: int) -> None:
    def value(text: str) -> Any:
        types = {"a": cel_types.INT, "b": cel_types.INT}
        try:
            return Expression.compile(text, variables=types, result=None).evaluate(
                {"a": first, "b": second}
            )
        except NotEvaluated as error:
            return str(error)

    def within(number: int) -> int | str:
        return number if -(2**63) <= number < 2**63 else "integer overflow"

    assert value("a + b") == within(first + second)
    assert value("a - b") == within(first - second)
    assert value("a * b") == within(first * second)
    assert value("-a") == within(-first)
    if second:
        assert value("a == b * (a / b) + a % b") in (True, "integer overflow")


@given(some.text(max_size=30), some.text(max_size=3))
def test_joining_a_split_string_restores_it(text: str, separator: str) -> None:
    expression = Expression.compile(
        "t.split(s).join(s) == t", variables={"t": cel_types.STRING, "s": cel_types.STRING}
    )

    assert expression.evaluate({"t": text, "s": separator})


@given(some.text(max_size=40))
def test_any_text_compiles_or_is_rejected(text: str) -> None:
    with suppress(NotCompiled):
        assert Expression.compile(text, variables={"self": "dyn"}, result=None).text == text


def test_an_expression_that_is_nested_too_deeply_is_rejected() -> None:
    with pytest.raises(NotCompiled, match="expression recursion limit exceeded: 250"):
        Expression.compile("(" * 300 + "true" + ")" * 300, variables={})


def test_an_expression_that_is_too_long_is_rejected() -> None:
    with pytest.raises(NotCompiled, match="size exceeds limit: size: 100006, limit 100000"):
        Expression.compile(f"'{'a' * 100_000}' =='", variables={})
