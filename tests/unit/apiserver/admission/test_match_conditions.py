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
from tests.unit.apiserver.admission.reviewers import MAP, MAPS, request


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
def test_a_condition_knows_the_request(expression: str, holds: bool) -> None:
    assert conditions(expression).all_match(values()) == holds


def test_no_conditions_always_hold() -> None:
    assert not conditions()
    assert conditions().all_match(values())


def test_one_that_is_false_settles_it_whatever_the_others_do() -> None:
    assert not conditions("object.data.nothing == 1", "false").all_match(values())


def test_one_that_fails_is_a_failure_where_none_is_false() -> None:
    with pytest.raises(ConditionFailed) as raised:
        conditions("true", "object.data.nothing == 'z'").all_match(values())

    assert str(raised.value) == (
        "expression 'object.data.nothing == 'z'' resulted in error: no such key: nothing"
    )


def test_one_that_fails_and_may_be_ignored_does_not_hold() -> None:
    assert not conditions("object.data.nothing == 1", ignores_failure=True).all_match(values())


def test_problems_are_reported_together_and_each_once() -> None:
    assert aggregated(["a"]) == "a"
    assert aggregated(["a", "b", "a"]) == "[a, b]"


def test_no_more_than_the_budget_is_spent() -> None:
    budget = Budget(10)
    budget.spend(10)

    with pytest.raises(OutOfBudget):
        budget.spend(1)


def test_variables_are_evaluated_when_they_are_looked_at() -> None:
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


def test_what_does_not_compile_is_kept_with_its_reason() -> None:
    found = compiled("'text'", declared(params=False))

    assert str(found) == "must evaluate to bool but got string"
