"""The responses to probes and to requests for metrics."""

from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge

from steersman.manager.endpoints.probes import (
    Check,
    Page,
    Routes,
    failing,
    metrics_pages,
    named_objects,
    probe_pages,
)
from steersman.names import ObjectRef
from steersman.observe import Observation, ResponseFailed, ignore
from steersman.wire import Reply, Request

SECRET = "hunter2"
REF = ObjectRef("Widget", "here", "one")

FINE = Check("caches", lambda: None)
BROKEN = Check("lease", lambda: f"cannot reach https://10.0.0.1 with {SECRET}")


def raising() -> str | None:
    raise RuntimeError(SECRET)


BUGGY = Check("buggy", raising)


def routes(*, live: tuple[Check, ...] = (), ready: tuple[Check, ...] = (), **pages: Page) -> Routes:
    probes = probe_pages(live=lambda: live, ready=lambda: ready)
    more = {f"/{name}": page for name, page in pages.items()}
    return Routes({**probes, **more}, observe=ignore)


async def get(handler: Routes, path: str, *, method: str = "GET", **rest: Any) -> Reply:
    query = rest.pop("query", ())
    request = Request(method=method, path=path, query=query, **rest)
    return await handler.handle(request, certificate=None)


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_probe_whose_checks_pass_is_ok(path: str, method: str) -> None:
    reply = await get(routes(live=(FINE,), ready=(FINE,)), path, method=method)

    assert (reply.status, reply.body) == (200, b"ok\n")


async def test_a_probe_without_checks_is_ok() -> None:
    assert (await get(routes(), "/readyz")).status == 200


async def test_readiness_fails_while_liveness_passes() -> None:
    handler = routes(live=(FINE,), ready=(FINE, BROKEN))

    assert (await get(handler, "/readyz")).status == 503
    assert (await get(handler, "/livez")).status == 200
    assert (await get(handler, "/healthz")).status == 200


async def test_a_failing_probe_has_one_line_for_each_check_that_fails() -> None:
    reply = await get(routes(ready=(BROKEN, FINE, BUGGY)), "/readyz")

    assert reply.status == 503
    assert reply.body == b"[-]lease failed\n[-]buggy failed\nreadyz check failed\n"


async def test_a_verbose_probe_lists_every_check() -> None:
    verbose = (("verbose", ""),)

    well = await get(routes(live=(FINE,)), "/livez", query=verbose)
    ill = await get(routes(live=(FINE, BROKEN)), "/healthz", query=verbose)

    assert well.body == b"[+]caches ok\nlivez check passed\n"
    assert ill.body == b"[+]caches ok\n[-]lease failed\nhealthz check failed\n"


async def test_a_verbose_probe_has_the_details_of_checks() -> None:
    objects = Check("objects", lambda: None, detail=lambda: named_objects("hang", [REF] * 12))
    handler = routes(
        ready=(objects, Check("none", lambda: None, detail=lambda: named_objects("x", [])))
    )

    short = await get(handler, "/readyz")
    verbose = await get(handler, "/readyz", query=(("verbose", ""),))

    assert short.body == b"ok\n"
    named = ", ".join(["Widget here/one"] * 10)
    assert verbose.body.decode() == (
        f"[+]objects ok: 12 hang: {named} and 2 more\n[+]none ok\nreadyz check passed\n"
    )


async def test_two_checks_of_one_name_are_reported_separately() -> None:
    reply = await get(
        routes(live=(FINE, Check(FINE.name, lambda: "no"))), "/livez", query=(("verbose", ""),)
    )

    assert reply.body == b"[+]caches ok\n[-]caches failed\nlivez check failed\n"


async def test_the_reason_of_a_failed_check_is_in_no_response() -> None:
    handler = routes(live=(BROKEN, BUGGY), ready=(BROKEN, BUGGY))

    for path in handler.paths:
        for query in ((), (("verbose", "true"),)):
            reply = await get(handler, path, query=query)
            assert SECRET.encode() not in reply.body
            assert b"10.0.0.1" not in reply.body


def test_the_reason_of_a_failed_check_is_available_to_the_log() -> None:
    assert failing((FINE, BROKEN, BUGGY)) == (
        ("lease", f"cannot reach https://10.0.0.1 with {SECRET}"),
        ("buggy", "the check itself failed: RuntimeError"),
    )


async def test_checks_run_at_each_probe() -> None:
    checks: list[Check] = []
    handler = Routes(probe_pages(live=lambda: (), ready=lambda: checks), observe=ignore)
    before = await get(handler, "/readyz")

    checks.append(BROKEN)

    assert before.status == 200
    assert (await get(handler, "/readyz")).status == 503


def test_health_has_these_pages_and_no_others() -> None:
    handler = routes()

    assert sorted(handler.paths) == ["/healthz", "/livez", "/readyz"]


@pytest.mark.parametrize(
    "path", ["/", "", "/metrics", "/debug/pprof", "/healthz/", "//healthz", "/HEALTHZ"]
)
async def test_an_unknown_page_is_not_found(path: str) -> None:
    assert (await get(routes(), path)).status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
async def test_only_reads_are_allowed_and_requests_are_not_echoed(method: str) -> None:
    handler = routes(live=(FINE,))
    sent = {"body": SECRET.encode(), "headers": (("x-said", SECRET),)}

    reply = await get(handler, "/healthz", method=method, **sent)

    assert reply.status == 405
    assert ("Allow", "GET, HEAD") in reply.headers
    assert SECRET.encode() not in reply.body


async def test_metrics_are_the_text_of_the_registry() -> None:
    registry = CollectorRegistry()
    Gauge("depth", "How deep.", registry=registry).set(3)

    reply = await get(Routes(metrics_pages(registry), observe=ignore), "/metrics")

    assert reply.status == 200
    assert b"\ndepth 3.0\n" in reply.body
    assert dict(reply.headers)["Content-Type"].startswith("text/plain; version=0.0.4")


async def test_metrics_are_openmetrics_if_the_client_accepts_it() -> None:
    registry = CollectorRegistry()
    Counter("seen", "How many.", registry=registry).inc()
    accept = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2"

    reply = await get(
        Routes(metrics_pages(registry), observe=ignore),
        "/metrics",
        headers=(("Accept", accept),),
    )

    assert dict(reply.headers)["Content-Type"].startswith("application/openmetrics-text")
    assert reply.body.endswith(b"# EOF\n")


async def test_a_page_that_raises_is_observed_and_its_error_not_shown() -> None:
    observed: list[Observation] = []

    def page(request: Request) -> Reply:
        raise RuntimeError(SECRET)

    reply = await get(Routes({"/metrics": page}, observe=observed.append), "/metrics")

    assert reply.status == 500
    assert SECRET.encode() not in reply.body
    (failed,) = observed
    assert isinstance(failed, ResponseFailed)
    assert (failed.path, str(failed.error)) == ("/metrics", SECRET)
