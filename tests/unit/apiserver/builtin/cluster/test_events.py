from collections.abc import Callable
from typing import Any

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from tests.embedded import EmbeddedServer
from tests.unit.apiserver.builtin.here import Here

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
    with pytest.raises(StatusError) as refused:
        request()
    return [each["field"] for each in refused.value.status()["details"]["causes"]]


def creating(body: Object) -> Callable[[], Object]:
    return lambda: Here("events.k8s.io/v1", "events").create(body, namespace="default")


def test_the_old_group_takes_an_event_about_almost_nothing() -> None:
    event = Here("v1", "events").create({"metadata": {"name": "It_happened"}}, namespace="default")

    assert (event["reportingComponent"], event["eventTime"]) == ("", None)


def test_the_new_group_wants_to_know_who_did_what_and_when() -> None:
    assert fields_refused(creating({"metadata": {"name": "x"}, "eventTime": MOMENT})) == [
        "reportingController",
        "reportingController",
        "reportingController",
        "reportingInstance",
        "action",
        "reason",
        "type",
    ]


def test_the_new_group_refuses_what_only_the_old_one_has() -> None:
    old_fields = {
        "deprecatedCount": 1,
        "deprecatedSource": {"component": "x"},
        "deprecatedFirstTimestamp": "2026-01-02T03:04:05Z",
        "deprecatedLastTimestamp": "2026-01-02T03:04:05Z",
    }

    refused = fields_refused(creating(complete(**old_fields)))

    assert refused == ["firstTimestamp", "lastTimestamp", "count", "source"]


def test_of_an_event_only_the_series_changes() -> None:
    here = Here("events.k8s.io/v1", "events")
    old = here.create(complete(), namespace="default")
    series = {"count": 2, "lastObservedTime": MOMENT}

    def put(**change: Any) -> Object:
        return here.update({**old, **change}, old, namespace="default", subresource="")

    assert put(series=series)["series"] == series
    assert fields_refused(lambda: put(note="other")) == ["message"]


def test_both_groups_select_by_their_own_words() -> None:
    old, new = Here("v1", "events"), Here("events.k8s.io/v1", "events")
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


async def test_v1_looks_at_the_metadata_of_an_event_only_when_all_else_is_right(
    api: EmbeddedServer,
) -> None:
    answer = await api.ask("POST", "/api/v1/namespaces/kube-public/events", {})

    assert [each["field"] for each in answer.json["details"]["causes"]] == [
        "involvedObject.namespace"
    ]


async def test_an_event_has_no_dependents_to_wait_for(api: EmbeddedServer, namespace: str) -> None:
    events = f"/api/v1/namespaces/{namespace}/events"
    about = {"involvedObject": {"namespace": namespace}}
    await api.asked("POST", events, {"metadata": {"name": "it"}, **about})

    await api.asked("DELETE", f"{events}/it?propagationPolicy=Foreground")

    assert (await api.ask("GET", f"{events}/it")).status == 404


async def test_a_new_event_is_selected_by_what_it_is_about(
    api: EmbeddedServer, namespace: str
) -> None:
    about = {"involvedObject": {"namespace": namespace, "name": "web"}}
    old, new = (f"/{each}/namespaces/{namespace}/events" for each in ("api/v1", NEW_ROOT))
    await api.asked("POST", old, {"metadata": {"name": "it"}, **about})

    found = await api.ask("GET", f"{new}?fieldSelector=regarding.name=web")

    assert found.names == ["it"]
