from typing import Any

import pytest

from steersman_cluster.apiserver.admission.evaluation import (
    Budget,
    OutOfBudget,
    Variables,
    aggregated,
)
from steersman_cluster.apiserver.admission.match_conditions import ConditionFailed, MatchConditions
from steersman_cluster.apiserver.admission.matcher import MatchedResource
from steersman_cluster.apiserver.admission.variables import values_of
from steersman_cluster.apiserver.builtin.cluster.admission_expressions import (
    compiled,
    declared,
    variables_of,
)
from steersman_cluster.apiserver.cel import AuthorizerDecision, CelAuthorizer, NotEvaluated
from steersman_cluster.apiserver.meta.users import User
from tests.unit.apiserver.admission.admission_requests import MAP, MAPS, request


def authorizer(user: User) -> CelAuthorizer:
    return CelAuthorizer(
        decide=lambda about, _: AuthorizerDecision(allowed=about["verb"] == "create")
    )


def values(**changes: Any) -> Any:
    wanted = request(**changes)
    return values_of(wanted, wanted, MatchedResource(MAPS, MAP), authorizers=authorizer)


def conditions(*expressions: str, ignores_failure: bool = False) -> MatchConditions:
    written = [{"name": f"c{index}", "expression": each} for index, each in enumerate(expressions)]
    return MatchConditions(written, declared(params=False), ignores_failure=ignores_failure)


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("object.data.x == 'y'", True),
        ("oldObject != null", False),
        ("request.operation == 'CREATE' && request.userInfo.username == 'ann'", True),
        ("request.resource.resource == 'secrets'", False),
        ("authorizer.requestResource.check('create').allowed()", True),
        ("authorizer.group('').resource('pods').check('delete').allowed()", False),
        ("namespaceObject == null", True),
    ],
)
def test_a_condition_can_read_the_request(expression: str, holds: bool) -> None:
    assert conditions(expression).all_match(values()) == holds


def test_an_empty_list_of_conditions_matches() -> None:
    assert not conditions()
    assert conditions().all_match(values())


def test_a_false_condition_takes_precedence_over_a_failing_one() -> None:
    assert not conditions("object.data.nothing == 1", "false").all_match(values())


def test_a_failing_condition_raises_an_error() -> None:
    with pytest.raises(ConditionFailed) as raised:
        conditions("true", "object.data.nothing == 'z'").all_match(values())

    assert str(raised.value) == (
        "expression 'object.data.nothing == 'z'' resulted in error: no such key: nothing"
    )


def test_a_failing_condition_does_not_match_if_failures_are_ignored() -> None:
    assert not conditions("object.data.nothing == 1", ignores_failure=True).all_match(values())


def test_errors_are_aggregated_without_duplicates() -> None:
    assert aggregated(["a"]) == "a"
    assert aggregated(["a", "b", "a"]) == "[a, b]"


def test_spending_more_than_the_budget_raises_an_error() -> None:
    budget = Budget(10)
    budget.spend(10)

    with pytest.raises(OutOfBudget):
        budget.spend(1)


def test_a_variable_is_evaluated_when_it_is_first_read() -> None:
    spec = {
        "variables": [
            {"name": "one", "expression": "1"},
            {"name": "two", "expression": "variables.one + 1"},
            {"name": "broken", "expression": "object.data.nothing"},
            {"name": "unread", "expression": "unknown"},
        ]
    }
    budget = Budget(1000)
    variables = Variables(variables_of(spec), values(), budget)

    assert variables.get("two") == 2
    assert dict.keys(variables) == {"one", "two"}
    with pytest.raises(NotEvaluated, match=r'^composited variable "broken" fails to evaluate: no'):
        variables.get("broken")
    with pytest.raises(NotEvaluated, match=r'^composited variable "unread" fails to compile: '):
        variables.get("unread")
    assert budget.left < 1000


def test_an_expression_that_does_not_compile_keeps_its_error() -> None:
    found = compiled("'text'", declared(params=False))

    assert str(found) == "must evaluate to bool but got string"
