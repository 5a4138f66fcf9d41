"""The number of requests of an operator, from the metrics of the API server."""

from bench.harness.requests import counts_in, difference, flow_schemas, rejected_writes_in


def line(name: str, *, flow_schema: str, value: str) -> str:
    """A line of the server's metrics."""
    labels = f'flow_schema="{flow_schema}",priority_level="exempt"'
    return f"apiserver_flowcontrol_{name}{{{labels}}} {value}\n"


METRICS = (
    "# TYPE apiserver_flowcontrol_dispatched_requests_total counter\n"
    + line("dispatched_requests_total", flow_schema="exempt", value="900")
    + line("dispatched_requests_total", flow_schema="operator-reads", value="7")
    + line("dispatched_requests_total", flow_schema="operator-writes", value="4.1e+03")
    + line("request_execution_seconds_count", flow_schema="operator-reads", value="6")
)


def test_only_requests_of_the_operator_are_counted() -> None:
    assert counts_in(METRICS) == {
        "leases": 0,
        "watches": 0,
        "writes": 4100,
        "reads": 7,
        "discovery": 0,
    }


def test_difference_returns_the_difference_of_two_counts() -> None:
    assert difference({"reads": 3, "writes": 2}, {"reads": 3, "writes": 10}) == {
        "reads": 0,
        "writes": 8,
    }


def test_every_kind_of_request_has_a_counted_flow_schema() -> None:
    names = {each["metadata"]["name"].removeprefix("operator-") for each in flow_schemas()}

    assert names == counts_in("").keys()


def test_a_lease_request_is_not_counted_as_a_read_or_write() -> None:
    by_name = {each["metadata"]["name"]: each["spec"] for each in flow_schemas()}

    first = min(by_name, key=lambda name: by_name[name]["matchingPrecedence"])

    assert first == "operator-leases"
    assert len({spec["matchingPrecedence"] for spec in by_name.values()}) == len(by_name)


def dispatched(*, code: str, verb: str, resource: str, subresource: str = "") -> str:
    """A line of the metrics that counts two requests with this result."""
    labels = f'code="{code}",resource="{resource}",subresource="{subresource}",verb="{verb}"'
    return f"apiserver_request_total{{{labels}}} 2\n"


def test_failed_writes_count_as_rejected() -> None:
    metrics = (
        dispatched(code="409", verb="PUT", resource="appservices", subresource="status")
        + dispatched(code="500", verb="APPLY", resource="deployments")
        + dispatched(code="409", verb="PUT", resource="deployments")
        + dispatched(code="201", verb="POST", resource="services")
        + dispatched(code="404", verb="GET", resource="services")
    )

    assert rejected_writes_in(metrics) == 6


def test_rejected_writes_of_the_deployment_controller_are_not_counted() -> None:
    metrics = dispatched(code="409", verb="PUT", resource="deployments", subresource="status")

    assert rejected_writes_in(metrics) == 0
