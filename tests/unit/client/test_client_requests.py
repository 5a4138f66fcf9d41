"""The request that each verb sends."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from steersman.client import (
    Client,
    ClientSettings,
    Fields,
    JsonPatch,
    Labels,
    MergePatch,
    Preconditions,
    StrategicMergePatch,
)
from steersman.kinds import (
    authentication_v1,
    autoscaling_v1,
    meta_v1,
    policy_v1,
)
from tests.transports import FakeResponse, Scripted, json_response
from tests.unit.client.scripted_client import (
    TYPED,
    Galaxy,
    LooseWidget,
    ScriptedClient,
    Widget,
    WidgetSpec,
    widget,
    widgets,
)

Verb = Callable[[Client], Awaitable[object]]

TYPED_JSON = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"size": 3},
}
STRICT = "fieldValidation=Strict"
ROOT = "/apis/example.com/v1"
HOME = f"{ROOT}/namespaces/default/widgets"
DELETE_OPTIONS = {"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions"}

APP_LABELS = Labels.equal({"app": "web"})
NAME_FIELD = Fields.equal({"metadata.name": "web"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A call, and the request that it must send."""

    verb: Verb
    sent: str
    body: object = None
    content_type: str | None = None
    answer: Scripted = json_response(widget())


async def watched(client: Client, **options: Any) -> None:
    async with client.watch(Widget, **options) as events:
        assert [event async for event in events] == []


JSON = "application/json"
READING = {
    "get": Case(verb=lambda c: c.get(Widget, "web", namespace="default"), sent=f"GET {HOME}/web"),
    "get an old one": Case(
        verb=lambda c: c.get(Widget, "web", namespace="default", resource_version="0"),
        sent=f"GET {HOME}/web?resourceVersion=0",
    ),
    "get unstructured": Case(
        verb=lambda c: c.get(LooseWidget, "web", namespace="default"), sent=f"GET {HOME}/web"
    ),
    "get what is cluster-scoped": Case(
        verb=lambda c: c.get(Galaxy, "milky way"),
        sent=f"GET {ROOT}/galaxies/milky%20way",
        answer=json_response(widget() | {"kind": "Galaxy"}),
    ),
    "list everywhere": Case(
        verb=lambda c: c.list(Widget),
        sent=f"GET {ROOT}/widgets?limit=500",
        answer=json_response(widgets()),
    ),
    "list with every option": Case(
        verb=lambda c: c.list(
            Widget,
            namespace="default",
            labels=APP_LABELS,
            fields=NAME_FIELD,
            resource_version="5",
            resource_version_match="NotOlderThan",
            page_size=7,
        ),
        sent=f"GET {HOME}?limit=7&resourceVersion=5&resourceVersionMatch=NotOlderThan"
        "&labelSelector=app%3Dweb&fieldSelector=metadata.name%3Dweb",
        answer=json_response(widgets()),
    ),
    "list with a selector of nothing": Case(
        verb=lambda c: c.list(Widget, labels=Labels(), fields=Fields()),
        sent=f"GET {ROOT}/widgets?limit=500",
        answer=json_response(widgets()),
    ),
    "watch": Case(
        verb=lambda c: watched(c, namespace="default", resource_version="5"),
        sent=f"GET {HOME}?watch=true&resourceVersion=5&allowWatchBookmarks=true",
        answer=FakeResponse(),
    ),
    "watch from the beginning": Case(
        verb=lambda c: watched(c, initial_events=True, bookmarks=False),
        sent=f"GET {ROOT}/widgets?watch=true&allowWatchBookmarks=true&sendInitialEvents=true"
        "&resourceVersionMatch=NotOlderThan",
        answer=FakeResponse(),
    ),
    "watch with every other option": Case(
        verb=lambda c: watched(
            c, labels=APP_LABELS, fields=NAME_FIELD, bookmarks=False, timeout_seconds=0.2
        ),
        sent=f"GET {ROOT}/widgets?watch=true&timeoutSeconds=1"
        "&labelSelector=app%3Dweb&fieldSelector=metadata.name%3Dweb",
        answer=FakeResponse(),
    ),
    "get status": Case(
        verb=lambda c: c.status(Widget, "web", namespace="default").get(),
        sent=f"GET {HOME}/web/status",
    ),
}
WRITING = {
    "create": Case(
        verb=lambda c: c.create(TYPED),
        sent=f"POST {HOME}?{STRICT}",
        body=TYPED_JSON,
        content_type=JSON,
    ),
    "create as a manager, as a dry run": Case(
        verb=lambda c: c.create(TYPED, field_manager="me & you", dry_run=True),
        sent=f"POST {HOME}?fieldManager=me+%26+you&{STRICT}&dryRun=All",
        body=TYPED_JSON,
        content_type=JSON,
    ),
    "create with a name that the server makes": Case(
        verb=lambda c: c.create(
            Widget(
                metadata=meta_v1.ObjectMeta(generate_name="web-", namespace="default"),
                spec=WidgetSpec(size=3),
            )
        ),
        sent=f"POST {HOME}?{STRICT}",
        body=TYPED_JSON | {"metadata": {"generateName": "web-", "namespace": "default"}},
        content_type=JSON,
    ),
    "create unstructured": Case(
        verb=lambda c: c.create(LooseWidget(widget() | {"extra": None})),
        sent=f"POST {HOME}?{STRICT}",
        body=widget() | {"extra": None},
        content_type=JSON,
    ),
    "update": Case(
        verb=lambda c: c.update(LooseWidget(widget()), field_manager="me"),
        sent=f"PUT {HOME}/web?fieldManager=me&{STRICT}",
        body=widget(),
        content_type=JSON,
    ),
    "merge patch": Case(
        verb=lambda c: c.patch(
            Widget, "web", MergePatch({"spec": {"colour": None}}), namespace="default"
        ),
        sent=f"PATCH {HOME}/web?{STRICT}",
        body={"spec": {"colour": None}},
        content_type="application/merge-patch+json",
    ),
    "strategic merge patch": Case(
        verb=lambda c: c.patch(
            Widget, "web", StrategicMergePatch({"spec": {}}), namespace="default", dry_run=True
        ),
        sent=f"PATCH {HOME}/web?{STRICT}&dryRun=All",
        body={"spec": {}},
        content_type="application/strategic-merge-patch+json",
    ),
    "json patch": Case(
        verb=lambda c: c.patch(
            Widget, "web", JsonPatch(JsonPatch.remove("/spec/colour")), namespace="default"
        ),
        sent=f"PATCH {HOME}/web?{STRICT}",
        body=[{"op": "remove", "path": "/spec/colour"}],
        content_type="application/json-patch+json",
    ),
    "apply": Case(
        verb=lambda c: c.apply(TYPED, field_manager="me"),
        sent=f"PATCH {HOME}/web?fieldManager=me&{STRICT}",
        body=TYPED_JSON,
        content_type="application/apply-patch+yaml",
    ),
    "apply by force": Case(
        verb=lambda c: c.apply(TYPED, field_manager="me", force=True, dry_run=True),
        sent=f"PATCH {HOME}/web?fieldManager=me&{STRICT}&dryRun=All&force=true",
        body=TYPED_JSON,
        content_type="application/apply-patch+yaml",
    ),
    "delete": Case(
        verb=lambda c: c.delete(Widget, "web", namespace="default"), sent=f"DELETE {HOME}/web"
    ),
    "delete on conditions": Case(
        verb=lambda c: c.delete(
            Widget,
            "web",
            namespace="default",
            preconditions=Preconditions(uid="u-1", resource_version="7"),
            propagation="Foreground",
            grace_seconds=0,
            # In the body: given a body, the server ignores the query, and would delete.
            dry_run=True,
        ),
        sent=f"DELETE {HOME}/web",
        body=DELETE_OPTIONS
        | {
            "dryRun": ["All"],
            "preconditions": {"uid": "u-1", "resourceVersion": "7"},
            "propagationPolicy": "Foreground",
            "gracePeriodSeconds": 0,
        },
        content_type=JSON,
    ),
    "delete all": Case(
        verb=lambda c: c.delete_all(
            Widget,
            namespace="default",
            labels=APP_LABELS,
            fields=NAME_FIELD,
            propagation="Orphan",
            grace_seconds=5,
            dry_run=True,
        ),
        sent=f"DELETE {HOME}?labelSelector=app%3Dweb&fieldSelector=metadata.name%3Dweb",
        body=DELETE_OPTIONS
        | {"dryRun": ["All"], "propagationPolicy": "Orphan", "gracePeriodSeconds": 5},
        content_type=JSON,
        answer=json_response(widgets()),
    ),
    "patch status": Case(
        verb=lambda c: c.status(Widget, "web", namespace="default").patch(
            MergePatch({"status": {}}), field_manager="me", dry_run=True
        ),
        sent=f"PATCH {HOME}/web/status?fieldManager=me&{STRICT}&dryRun=All",
        body={"status": {}},
        content_type="application/merge-patch+json",
    ),
    "apply status": Case(
        verb=lambda c: c.status(Widget, "web", namespace="default").apply(
            TYPED, field_manager="me", force=True
        ),
        sent=f"PATCH {HOME}/web/status?fieldManager=me&{STRICT}&force=true",
        body=TYPED_JSON,
        content_type="application/apply-patch+yaml",
    ),
    "update an unstructured status": Case(
        verb=lambda c: c.status(LooseWidget, "web", namespace="default").update(
            LooseWidget(widget())
        ),
        sent=f"PUT {HOME}/web/status?{STRICT}",
        body=widget(),
        content_type=JSON,
    ),
    "update scale": Case(
        verb=lambda c: c.scale(Widget, "web", namespace="default").update(
            autoscaling_v1.Scale(
                metadata=meta_v1.ObjectMeta(resource_version="7"),
                spec=autoscaling_v1.ScaleSpec(replicas=4),
            )
        ),
        sent=f"PUT {HOME}/web/scale?{STRICT}",
        body={
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": {"resourceVersion": "7"},
            "spec": {"replicas": 4},
        },
        content_type=JSON,
        answer=json_response(
            {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 4}}
        ),
    ),
    "evict": Case(
        verb=lambda c: c.eviction("web", namespace="default").create(
            policy_v1.Eviction(metadata=meta_v1.ObjectMeta(name="web"))
        ),
        sent=f"POST /api/v1/namespaces/default/pods/web/eviction?{STRICT}",
        body={"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}},
        content_type=JSON,
        answer=json_response(
            {"kind": "Status", "apiVersion": "v1", "status": "Success"}, status=201
        ),
    ),
    "ask for a token": Case(
        verb=lambda c: c.token("me", namespace="default").create(
            authentication_v1.TokenRequest(
                spec=authentication_v1.TokenRequestSpec(audiences=("api",))
            )
        ),
        sent=f"POST /api/v1/namespaces/default/serviceaccounts/me/token?{STRICT}",
        body={
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "metadata": {},
            "spec": {"audiences": ["api"]},
        },
        content_type=JSON,
        answer=json_response(
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {"audiences": ["api"]},
                "status": {"token": "t", "expirationTimestamp": "2026-01-01T00:00:00Z"},
            },
            status=201,
        ),
    ),
    "any subresource": Case(
        verb=lambda c: c.subresource(Galaxy, "milky", "spin", of=LooseWidget).create(
            LooseWidget(widget())
        ),
        sent=f"POST {ROOT}/galaxies/milky/spin?{STRICT}",
        body=widget(),
        content_type=JSON,
    ),
}


@pytest.mark.parametrize("name", [*READING, *WRITING])
async def test_each_verb_has_the_request_that_the_server_expects(name: str) -> None:
    case = {**READING, **WRITING}[name]
    fixture = ScriptedClient(case.answer)

    await case.verb(fixture.client)

    (request,) = fixture.server.requests
    assert fixture.server.sent == [case.sent]
    assert (None if request.body is None else json.loads(request.body)) == case.body
    headers = dict(request.headers)
    assert headers.get("Content-Type") == case.content_type
    assert headers["Accept"] == "application/json"
    assert headers["User-Agent"] == "steersman"


@pytest.mark.parametrize("name", WRITING)
async def test_every_method_of_a_dry_run_client_is_a_dry_run(name: str) -> None:
    case = WRITING[name]
    fixture = ScriptedClient(case.answer, settings=ClientSettings(dry_run=True))

    await case.verb(fixture.client)

    (request,) = fixture.server.requests
    if request.method == "DELETE":
        assert json.loads(request.body or b"{}")["dryRun"] == ["All"]
    else:
        assert ("dryRun", "All") in request.query


async def test_a_single_call_of_a_dry_run_client_can_be_a_real_write() -> None:
    fixture = ScriptedClient(json_response(widget()), settings=ClientSettings(dry_run=True))

    await fixture.client.create(TYPED, dry_run=False)

    assert fixture.server.sent == [f"POST {HOME}?{STRICT}"]


async def test_unknown_fields_can_cause_warnings_instead_of_errors() -> None:
    fixture = ScriptedClient(
        json_response(widget()), settings=ClientSettings(field_validation="Warn")
    )

    await fixture.client.create(TYPED)

    assert ("fieldValidation", "Warn") in fixture.server.requests[0].query
