"""What is said of rights that are missing, and of those that cannot be checked."""

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
from tests.transports import Answer, Scripted, ScriptedTransport, refusing, saying

PODS = RbacRule(group="", resource="pods", verbs=("get", "list", "watch"))
STATUS = RbacRule(
    group="apps", resource="deployments", subresource="status", verbs=("patch",), namespace="one"
)
LEASE = RbacRule(
    group="coordination.k8s.io", resource="leases", verbs=("get",), names=("a", "b"), namespace="n"
)
EVENTS = RbacRule(group="events.k8s.io", resource="events", verbs=("create",), is_needed=False)


class Scene:
    """A server that allows some things, and what was asked of it and observed."""

    def __init__(self, *denied: str, answer: Scripted | None = None) -> None:
        self.transport = ScriptedTransport(answering=self._answer)
        self.observed: list[Observation] = []
        self.asked: list[dict[str, str]] = []
        self.most_at_once = 0
        self._denied = denied
        self._answer_to_all = answer
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
        if self._answer_to_all is not None:
            return self._answer_to_all
        assert request.body is not None
        review: dict[str, Any] = msgspec.json.decode(bytes(request.body))
        about = review["spec"]["resourceAttributes"]
        self.asked.append(about)
        self.most_at_once = max(self.most_at_once, self.transport.open_answers + 1)
        words = (about["verb"], about["resource"], about.get("name", ""))
        allowed = " ".join(words).strip() not in self._denied
        done = saying({**review, "status": {"allowed": allowed}}, status=201)
        return Answer(status=201, body=done.body, after=_a_turn)


async def _a_turn() -> None:
    await asyncio.sleep(0)  # noqa: TID251 - no wait: one turn of the loop


async def test_nothing_is_missing_where_all_is_allowed() -> None:
    scene = Scene()

    assert await scene.missing(PODS, STATUS, LEASE, EVENTS) == ()
    assert scene.observed == []


async def test_each_verb_is_asked_for_where_it_is_needed_and_by_name() -> None:
    scene = Scene()

    await scene.missing(PODS, STATUS, LEASE)

    pods = [each for each in scene.asked if each["resource"] == "pods"]
    assert [each["verb"] for each in pods] == ["get", "list", "watch"]
    assert all("namespace" not in each for each in pods)
    (status,) = (each for each in scene.asked if each["resource"] == "deployments")
    assert (status["group"], status["subresource"], status["namespace"]) == (
        "apps",
        "status",
        "one",
    )
    leases = [each for each in scene.asked if each["resource"] == "leases"]
    assert [each["name"] for each in leases] == ["a", "b"]


async def test_a_missing_permission_is_named_with_the_rule_that_would_grant_it() -> None:
    scene = Scene("list pods", "watch pods", "create events", "get leases b")

    missing = await scene.missing(PODS, STATUS, LEASE, EVENTS)

    assert [(rule.resource, rule.verbs) for rule in missing] == [
        ("pods", ("list", "watch")),
        ("leases", ("get",)),
        ("events", ("create",)),
    ]
    assert scene.observed == [
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
    scene = Scene(answer=refusing(403, "Forbidden"))

    assert await scene.missing(PODS, STATUS) == ()

    first, second = scene.observed
    assert isinstance(first, PermissionsUnknown)
    assert isinstance(first.error, Forbidden)
    assert isinstance(second, PermissionsUnknown)


async def test_an_unreachable_server_is_one_error_and_no_group() -> None:
    scene = Scene(answer=Unreachable("cannot reach the server"))

    with pytest.raises(Unreachable):
        await scene.missing(PODS, STATUS, LEASE)

    assert len(scene.transport.requests) == 1, "once is enough to know, and to be reported"


async def test_few_reviews_run_at_once() -> None:
    scene = Scene()
    rules = [
        RbacRule(group="", resource="pods", verbs=("get",), namespace=f"n{n}") for n in range(100)
    ]

    await scene.missing(*rules)

    assert len(scene.asked) == 100
    assert scene.most_at_once == 8


async def test_few_reviews_take_two_connections() -> None:
    scene = Scene()

    await scene.missing(PODS, STATUS, LEASE, EVENTS)

    assert scene.most_at_once == 2
