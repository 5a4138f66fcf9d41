"""The report of missing permissions, and of permissions that cannot be checked."""

import asyncio
from random import Random
from typing import Any

import msgspec
import pytest

from steersman.client import Client, ClientSettings, RetryPolicy
from steersman.controller.rbac import RbacRule
from steersman.errors import Forbidden, Unreachable
from steersman.manager.preflight import missing_permissions
from steersman.observe import Observation, PermissionMissing, PermissionsUnknown
from steersman.wire import Request
from tests.clocks import FakeClock
from tests.transports import (
    FakeResponse,
    Scripted,
    ScriptedTransport,
    error_response,
    json_response,
)

PODS = RbacRule(group="", resource="pods", verbs=("get", "list", "watch"))
STATUS = RbacRule(
    group="apps", resource="deployments", subresource="status", verbs=("patch",), namespace="one"
)
LEASE = RbacRule(
    group="coordination.k8s.io", resource="leases", verbs=("get",), names=("a", "b"), namespace="n"
)
EVENTS = RbacRule(group="events.k8s.io", resource="events", verbs=("create",), is_needed=False)


class PreflightFixture:
    """A server that denies some permissions, with its reviews and the observations."""

    def __init__(self, *denied: str, answer: Scripted | None = None) -> None:
        self.transport = ScriptedTransport(respond=self._answer)
        self.observed: list[Observation] = []
        self.reviewed: list[dict[str, str]] = []
        self.most_at_once = 0
        self._denied = denied
        self._fixed_answer = answer
        self._client = Client(
            self.transport,
            clock=FakeClock(),
            rng=Random(0),
            observe=lambda _: None,
            settings=ClientSettings(retry=RetryPolicy(attempts=1)),
        )

    async def missing(self, *rules: RbacRule) -> tuple[RbacRule, ...]:
        return await missing_permissions(self._client, rules, observe=self.observed.append)

    def _answer(self, request: Request) -> Scripted:
        if self._fixed_answer is not None:
            return self._fixed_answer
        assert request.body is not None
        review: dict[str, Any] = msgspec.json.decode(bytes(request.body))
        about = review["spec"]["resourceAttributes"]
        self.reviewed.append(about)
        self.most_at_once = max(self.most_at_once, self.transport.open_responses + 1)
        words = (about["verb"], about["resource"], about.get("name", ""))
        allowed = " ".join(words).strip() not in self._denied
        done = json_response({**review, "status": {"allowed": allowed}}, status=201)
        return FakeResponse(status=201, body=done.body, after=_yield_once)


async def _yield_once() -> None:
    await asyncio.sleep(0)  # noqa: TID251 - no wait: one turn of the loop


async def test_no_permission_is_missing_if_all_are_allowed() -> None:
    fixture = PreflightFixture()

    assert await fixture.missing(PODS, STATUS, LEASE, EVENTS) == ()
    assert fixture.observed == []


async def test_each_verb_is_reviewed_in_its_namespace_and_by_name() -> None:
    fixture = PreflightFixture()

    await fixture.missing(PODS, STATUS, LEASE)

    pods = [each for each in fixture.reviewed if each["resource"] == "pods"]
    assert [each["verb"] for each in pods] == ["get", "list", "watch"]
    assert all("namespace" not in each for each in pods)
    (status,) = (each for each in fixture.reviewed if each["resource"] == "deployments")
    assert (status["group"], status["subresource"], status["namespace"]) == (
        "apps",
        "status",
        "one",
    )
    leases = [each for each in fixture.reviewed if each["resource"] == "leases"]
    assert [each["name"] for each in leases] == ["a", "b"]


async def test_a_missing_permission_is_named_with_the_rule_that_would_grant_it() -> None:
    fixture = PreflightFixture("list pods", "watch pods", "create events", "get leases b")

    missing = await fixture.missing(PODS, STATUS, LEASE, EVENTS)

    assert [(rule.resource, rule.verbs) for rule in missing] == [
        ("pods", ("list", "watch")),
        ("leases", ("get",)),
        ("events", ("create",)),
    ]
    assert fixture.observed == [
        PermissionMissing(
            what="list, watch pods in the whole cluster",
            rule='- {apiGroups: [""], resources: [pods], verbs: [list, watch]}',
            is_needed=True,
        ),
        PermissionMissing(
            what="get leases.coordination.k8s.io a, b in namespace n",
            rule="- {apiGroups: [coordination.k8s.io], resources: [leases],"
            " resourceNames: [a, b], verbs: [get]}",
            is_needed=True,
        ),
        PermissionMissing(
            what="create events.events.k8s.io in the whole cluster",
            rule="- {apiGroups: [events.k8s.io], resources: [events], verbs: [create]}",
            is_needed=False,
        ),
    ]


async def test_without_permission_for_reviews_the_operator_continues() -> None:
    fixture = PreflightFixture(answer=error_response(403, "Forbidden"))

    assert await fixture.missing(PODS, STATUS) == ()

    first, second = fixture.observed
    assert isinstance(first, PermissionsUnknown)
    assert isinstance(first.error, Forbidden)
    assert isinstance(second, PermissionsUnknown)


async def test_an_unreachable_server_is_one_error_and_no_group() -> None:
    fixture = PreflightFixture(answer=Unreachable("cannot reach the server"))

    with pytest.raises(Unreachable):
        await fixture.missing(PODS, STATUS, LEASE)

    assert len(fixture.transport.requests) == 1, "once is enough to know, and to be reported"


async def test_few_reviews_run_at_once() -> None:
    fixture = PreflightFixture()
    rules = [
        RbacRule(group="", resource="pods", verbs=("get",), namespace=f"n{n}") for n in range(100)
    ]

    await fixture.missing(*rules)

    assert len(fixture.reviewed) == 100
    assert fixture.most_at_once == 8


async def test_few_reviews_take_two_connections() -> None:
    fixture = PreflightFixture()

    await fixture.missing(PODS, STATUS, LEASE, EVENTS)

    assert fixture.most_at_once == 2
