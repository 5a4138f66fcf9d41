"""The text format of metrics, by the Accept header."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from steersman.observe import metrics_text, new_registry


def counted() -> CollectorRegistry:
    registry = CollectorRegistry()
    Counter("seen", "How many.", registry=registry).inc(2)
    return registry


@pytest.mark.parametrize(
    "accept",
    [
        "application/openmetrics-text",
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
        "text/plain;q=0.1, Application/OpenMetrics-Text;q=0.9",
        "application/openmetrics-text;version=nonsense",
    ],
)
def test_a_client_that_accepts_openmetrics_gets_it(accept: str) -> None:
    content_type, text = metrics_text(counted(), accept=accept)

    assert content_type.startswith("application/openmetrics-text; version=1.0.0")
    (family,) = text_string_to_metric_families(text.decode())  # type: ignore[no-untyped-call]
    assert [each.value for each in family.samples if each.name == "seen_total"] == [2.0]


@pytest.mark.parametrize(
    "accept", ["", "*/*", "text/plain", "application/openmetrics-text;q=0", "text/html, x/y"]
)
def test_other_clients_get_plain_text(accept: str) -> None:
    content_type, text = metrics_text(counted(), accept=accept)

    assert content_type.startswith("text/plain; version=0.0.4")
    assert b"seen_total 2.0\n" in text
    assert b"# EOF" not in text


@given(st.text(max_size=60))
def test_any_accept_header_gets_a_text(accept: str) -> None:
    assert b"seen_total 2.0" in metrics_text(counted(), accept=accept)[1]


def test_a_new_registry_has_process_metrics_in_both_formats() -> None:
    for accept in ("", "application/openmetrics-text"):
        text = metrics_text(new_registry(), accept=accept)[1]

        assert b"process_cpu_seconds_total" in text
        assert b"python_gc_collections_total" in text
