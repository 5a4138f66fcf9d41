"""The usage of Pods, from annotations or a metrics server."""

from steersman_cluster.workloads.podautoscalers.metrics_client import annotated_usage, server_usage
from steersman_cluster.workloads.podautoscalers.replica_calculator import Usage
from tests.unit.workloads.podautoscalers.samples import NOW, pod

CPU = "nodes.steersman.dev/cpu-usage"


def test_annotations_set_the_usage_of_each_container() -> None:
    both = pod(annotations={CPU: "250m", f"{CPU}.proxy": "10m"}, containers=("main", "proxy"))

    assert annotated_usage([both], "cpu", "", NOW) == {"web-1": Usage(milli=260, time=NOW)}
    assert annotated_usage([both], "cpu", "proxy", NOW) == {"web-1": Usage(milli=10, time=NOW)}


def test_a_pod_without_a_valid_annotation_or_not_running_has_no_usage() -> None:
    given = [
        pod("silent"),
        pod("odd", annotations={CPU: "a lot"}),
        pod("starting", annotations={CPU: "1"}, phase="Pending"),
        pod("other", annotations={CPU: "1"}, containers=("other",)),
    ]

    assert annotated_usage(given, "cpu", "main", NOW) == {}


def test_the_usage_is_read_from_a_metrics_server() -> None:
    item = {
        "metadata": {"name": "web-1"},
        "timestamp": "2026-01-01T12:00:00Z",
        "window": "30s",
        "containers": [
            {"name": "main", "usage": {"cpu": "12345678n", "memory": "1Mi"}},
            {"name": "proxy", "usage": {"cpu": "1m"}},
        ],
    }

    assert server_usage([item], "cpu", "") == {
        "web-1": Usage(milli=14, time=NOW, window_seconds=30.0)
    }
    assert server_usage([item], "memory", "") == {}
    assert list(server_usage([item], "memory", "main")) == ["web-1"]
