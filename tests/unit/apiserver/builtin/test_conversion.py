from typing import Any

import pytest

from steersman_cluster.apiserver.builtin.conversion import to_served, to_stored
from steersman_cluster.apiserver.meta.strategy import Object

MOMENT = "2026-01-02T03:04:05.678901Z"


def an_event(**parts: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "it-happened"},
        "involvedObject": {"kind": "Pod", "name": "x"},
        "source": {"component": "kubelet"},
        "firstTimestamp": None,
        "lastTimestamp": None,
        "eventTime": MOMENT,
        "reportingComponent": "",
        "reportingInstance": "",
        **parts,
    }


def an_autoscaler(*metrics: Object, **parts: Any) -> Object:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "annotations": {"mine": "stays"}},
        "spec": {"maxReplicas": 3, "minReplicas": 1, "metrics": list(metrics)},
        "status": {"desiredReplicas": 0, "currentMetrics": None},
        **parts,
    }


UTILIZATION = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
}
METRICS = [
    {
        "type": "Resource",
        "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}},
    },
    {
        "type": "Pods",
        "pods": {
            "metric": {"name": "rps", "selector": {"matchLabels": {"a": "b"}}},
            "target": {"type": "AverageValue", "averageValue": "100"},
        },
    },
    {
        "type": "Object",
        "object": {
            "describedObject": {"kind": "Ingress", "name": "i"},
            "metric": {"name": "rps"},
            "target": {"type": "Value", "value": "10k"},
        },
    },
    {
        "type": "Object",
        "object": {
            "describedObject": {"kind": "Ingress", "name": "i"},
            "metric": {"name": "rps"},
            "target": {"type": "AverageValue", "averageValue": "10k"},
        },
    },
    {
        "type": "External",
        "external": {"metric": {"name": "q"}, "target": {"type": "Value", "value": "30"}},
    },
    {
        "type": "External",
        "external": {
            "metric": {"name": "q"},
            "target": {"type": "AverageValue", "averageValue": "30"},
        },
    },
    {
        "type": "ContainerResource",
        "containerResource": {
            "name": "cpu",
            "container": "main",
            "target": {"type": "Utilization", "averageUtilization": 60},
        },
    },
]


@pytest.mark.parametrize(
    "event",
    [
        an_event(),
        an_event(reportingComponent="example.com/x", reportingInstance="one", action="Acting"),
        an_event(message="m", count=3, series={"count": 2, "lastObservedTime": MOMENT}),
        an_event(related={"kind": "Node", "name": "n"}, type="Normal", reason="Because"),
    ],
)
def test_an_event_is_unchanged_after_conversion_to_its_other_group_and_back(event: Object) -> None:
    assert to_stored(to_served(event, "events.k8s.io/v1")) == event


def test_an_event_is_served_with_the_field_names_of_the_requested_group() -> None:
    event = an_event(message="m", count=3, reportingComponent="example.com/x")

    assert to_served(event, "events.k8s.io/v1") == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "it-happened"},
        "regarding": {"kind": "Pod", "name": "x"},
        "deprecatedSource": {"component": "kubelet"},
        "deprecatedFirstTimestamp": None,
        "deprecatedLastTimestamp": None,
        "deprecatedCount": 3,
        "note": "m",
        "eventTime": MOMENT,
        "reportingController": "example.com/x",
    }


def test_conversion_to_the_stored_version_returns_the_same_object() -> None:
    event, autoscaler = an_event(), an_autoscaler()

    assert to_stored(event) is event
    assert to_served(event, "v1") is event
    assert to_stored(autoscaler) is autoscaler


@pytest.mark.parametrize(
    "autoscaler",
    [
        an_autoscaler(UTILIZATION),
        *(an_autoscaler(each) for each in METRICS),
        *(an_autoscaler(each, UTILIZATION) for each in METRICS),
        an_autoscaler(
            UTILIZATION,
            status={
                "currentReplicas": 2,
                "desiredReplicas": 3,
                "conditions": [{"type": "AbleToScale", "status": "True"}],
                "currentMetrics": [
                    {
                        "type": "Resource",
                        "resource": {
                            "name": "cpu",
                            "current": {"averageUtilization": 40, "averageValue": "100m"},
                        },
                    },
                    {
                        "type": "Pods",
                        "pods": {"metric": {"name": "rps"}, "current": {"averageValue": "3"}},
                    },
                ],
            },
        ),
    ],
)
def test_an_autoscaler_is_unchanged_after_conversion_to_its_first_version_and_back(
    autoscaler: Object,
) -> None:
    assert to_stored(to_served(autoscaler, "autoscaling/v1")) == autoscaler


def test_autoscaling_v1_contains_the_utilization_and_annotations_for_other_metrics() -> None:
    served = to_served(an_autoscaler(METRICS[0], UTILIZATION), "autoscaling/v1")

    assert served["spec"] == {
        "maxReplicas": 3,
        "minReplicas": 1,
        "targetCPUUtilizationPercentage": 50,
    }
    assert served["metadata"]["annotations"] == {
        "mine": "stays",
        "autoscaling.alpha.kubernetes.io/metrics": (
            '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]'
        ),
    }


def test_the_behavior_of_an_autoscaler_is_restored_from_its_annotation() -> None:
    spec = {"maxReplicas": 3, "metrics": [UTILIZATION]}
    down = {"selectPolicy": "Min", "policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]}
    up = {
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}],
    }
    stored = an_autoscaler(spec={**spec, "behavior": {"scaleUp": up, "scaleDown": down}})

    served = to_served(stored, "autoscaling/v1")

    carried = served["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/behavior"]
    assert carried.startswith('{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max"')
    assert to_stored(served) == stored


def test_invalid_conversion_annotations_are_dropped() -> None:
    first = {
        **to_served(an_autoscaler(UTILIZATION), "autoscaling/v1"),
        "metadata": {
            "name": "web",
            "annotations": {
                "autoscaling.alpha.kubernetes.io/metrics": "no JSON",
                "autoscaling.alpha.kubernetes.io/conditions": '"no list"',
            },
        },
    }

    stored = to_stored(first)

    assert stored["metadata"] == {"name": "web"}
    assert stored["spec"]["metrics"] == [UTILIZATION]


def test_the_default_target_of_autoscaling_v1_is_80_percent() -> None:
    first = to_served(an_autoscaler(), "autoscaling/v1")

    target = to_stored(first)["spec"]["metrics"][0]["resource"]["target"]

    assert target == {"type": "Utilization", "averageUtilization": 80}


@pytest.mark.parametrize(
    "written",
    ["[1]", '[{"type":5}]', '{"ScaleUp":5}', '{"ScaleUp":{"Policies":[7]}}', "[" * 5000, "null"],
)
@pytest.mark.parametrize("name", ["metrics", "current-metrics", "conditions", "behavior"])
def test_an_autoscaler_with_an_invalid_annotation_is_converted_both_ways(
    name: str, written: str
) -> None:
    first = to_served(an_autoscaler(UTILIZATION), "autoscaling/v1")
    key = f"autoscaling.alpha.kubernetes.io/{name}"
    odd = {**first, "metadata": {"name": "web", "annotations": {key: written}}}

    stored = to_stored(odd)

    assert UTILIZATION in stored["spec"]["metrics"]
    assert to_served(stored, "autoscaling/v1")["spec"] == first["spec"]
