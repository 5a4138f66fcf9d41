from collections.abc import Callable
from typing import Any

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from tests.embedded import EmbeddedServer
from tests.unit.apiserver.builtin.kind_handler import KindHandler

NEW_ROOT = "apis/events.k8s.io/v1"
MOMENT = "2026-01-02T03:04:05.678901Z"


def complete(**parts: Any) -> Object:
    return {
        "metadata": {"name": "it-happened"},
        "eventTime": MOMENT,
        "reportingController": "example.com/x",
        "reportingInstance": "one",
        "action": "Acting",
        "reason": "Because",
        "type": "Normal",
        "regarding": {"kind": "Pod", "name": "x", "namespace": "default"},
        **parts,
    }


def fields_refused(request: Callable[[], Object]) -> list[str]:
    with pytest.raises(StatusError) as raised:
        request()
    return [each["field"] for each in raised.value.status()["details"]["causes"]]


def creating(body: Object) -> Callable[[], Object]:
    return lambda: KindHandler("events.k8s.io/v1", "events").create(body, namespace="default")


def test_the_core_group_accepts_an_event_with_only_a_name() -> None:
    event = KindHandler("v1", "events").create(
        {"metadata": {"name": "It_happened"}}, namespace="default"
    )

    assert (event["reportingComponent"], event["eventTime"]) == ("", None)


def test_the_events_group_requires_reporter_action_reason_and_type() -> None:
    assert fields_refused(creating({"metadata": {"name": "x"}, "eventTime": MOMENT})) == [
        "reportingController",
        "reportingController",
        "reportingController",
        "reportingInstance",
        "action",
        "reason",
        "type",
    ]


def test_the_events_group_rejects_deprecated_fields() -> None:
    old_fields = {
        "deprecatedCount": 1,
        "deprecatedSource": {"component": "x"},
        "deprecatedFirstTimestamp": "2026-01-02T03:04:05Z",
        "deprecatedLastTimestamp": "2026-01-02T03:04:05Z",
    }

    raised = fields_refused(creating(complete(**old_fields)))

    assert raised == ["firstTimestamp", "lastTimestamp", "count", "source"]


def test_an_update_of_an_event_can_change_only_its_series() -> None:
    handler = KindHandler("events.k8s.io/v1", "events")
    old = handler.create(complete(), namespace="default")
    series = {"count": 2, "lastObservedTime": MOMENT}

    def put(**change: Any) -> Object:
        return handler.update({**old, **change}, old, namespace="default", subresource="")

    assert put(series=series)["series"] == series
    assert fields_refused(lambda: put(note="other")) == ["message"]


def test_each_group_selects_events_by_its_own_field_names() -> None:
    old, new = KindHandler("v1", "events"), KindHandler("events.k8s.io/v1", "events")
    stored = old.create(
        {
            "metadata": {"name": "it-happened"},
            "involvedObject": {"kind": "Pod", "namespace": "default"},
            "source": {"component": "kubelet"},
        },
        namespace="default",
    )

    assert old.strategy.selectable(stored)["involvedObject.kind"] == "Pod"
    assert old.strategy.selectable(stored)["source"] == "kubelet"
    assert new.strategy.selectable(stored)["regarding.kind"] == "Pod"
    assert "source" not in new.strategy.selectable(stored)


async def test_the_core_group_validates_the_namespace_of_an_event_before_its_metadata(
    api: EmbeddedServer,
) -> None:
    answer = await api.ask("POST", "/api/v1/namespaces/kube-public/events", {})

    assert [each["field"] for each in answer.json["details"]["causes"]] == [
        "involvedObject.namespace"
    ]


async def test_foreground_deletion_removes_an_event_immediately(
    api: EmbeddedServer, namespace: str
) -> None:
    events = f"/api/v1/namespaces/{namespace}/events"
    about = {"involvedObject": {"namespace": namespace}}
    await api.asked("POST", events, {"metadata": {"name": "it"}, **about})

    await api.asked("DELETE", f"{events}/it?propagationPolicy=Foreground")

    assert (await api.ask("GET", f"{events}/it")).status == 404


async def test_a_core_event_is_selected_by_a_field_of_the_events_group(
    api: EmbeddedServer, namespace: str
) -> None:
    about = {"involvedObject": {"namespace": namespace, "name": "web"}}
    old, new = (f"/{each}/namespaces/{namespace}/events" for each in ("api/v1", NEW_ROOT))
    await api.asked("POST", old, {"metadata": {"name": "it"}, **about})

    found = await api.ask("GET", f"{new}?fieldSelector=regarding.name=web")

    assert found.names == ["it"]
