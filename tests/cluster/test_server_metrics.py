"""``/metrics`` of the embedded API server, and the headers of all its responses."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from steersman.wire import Request
from steersman_cluster.apiserver import User
from steersman_cluster.apiserver.server.measured_server import MeasuredServer, NetworkServer
from tests.embedded import APPLY, TOKEN, Answer, EmbeddedServer, config_map, turns

MAPS = "/api/v1/namespaces/default/configmaps"
READER = "a-reader's-token"
STRANGER = "a-stranger's-token"
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


class NetworkApi(EmbeddedServer):
    """A server that responds as over a network."""

    def __init__(self) -> None:
        users = {READER: User(name="reader"), STRANGER: User(name="stranger")}
        super().__init__(tokens=users)
        self.bare = self.server
        self.server: Any = NetworkServer(self.bare, clock=self.clock, rng=Random(0))

    async def samples(self, family: str) -> dict[tuple[str, ...], float]:
        """The samples of a metric, by the values of their labels."""
        text = (await self.ask("GET", "/metrics")).body.decode()
        return {
            (sample.name, *(sample.labels[name] for name in sorted(sample.labels))): sample.value
            for each in text_string_to_metric_families(text)
            if each.name == family
            for sample in each.samples
        }


@pytest.fixture
def network() -> NetworkApi:
    return NetworkApi()


def labels(verb: str, *, scope: str, dry_run: str = "", resource: str = "configmaps") -> Any:
    return "apiserver", dry_run, "", resource, scope, "", verb, "v1"


async def test_requests_are_counted_by_verb_code_and_resource(network: NetworkApi) -> None:
    await network.ask("POST", MAPS, config_map("a"))
    await network.ask("POST", MAPS, config_map("a"))
    await network.ask("POST", f"{MAPS}?dryRun=All", config_map("b"))
    await network.ask("GET", f"{MAPS}/a")
    await network.ask("GET", MAPS)
    await network.ask("GET", "/api/v1/configmaps?fieldSelector=metadata.name%3Da")
    await network.ask("PATCH", f"{MAPS}/a?fieldManager=m", config_map("a"), sends=APPLY)
    await network.ask("DELETE", MAPS)

    requests = await network.samples("apiserver_request")

    assert requests == {
        ("apiserver_request_total", code, *labels(verb, **about)): 1
        for code, verb, about in (
            ("201", "POST", {"scope": "resource"}),
            ("409", "POST", {"scope": "resource"}),
            ("201", "POST", {"scope": "resource", "dry_run": "All"}),
            ("200", "GET", {"scope": "resource"}),
            ("200", "LIST", {"scope": "namespace"}),
            ("200", "LIST", {"scope": "resource"}),
            ("200", "APPLY", {"scope": "resource"}),
            ("200", "DELETECOLLECTION", {"scope": "namespace"}),
        )
    }


async def test_request_durations_are_in_a_histogram(network: NetworkApi) -> None:
    await network.ask("GET", MAPS)

    took = await network.samples("apiserver_request_duration_seconds")

    about = labels("LIST", scope="namespace")
    name = "apiserver_request_duration_seconds"
    buckets = [each for key, each in took.items() if key[0] == f"{name}_bucket"]
    assert took[f"{name}_count", *about] == 1
    assert took[f"{name}_sum", *about] == 0
    assert buckets == [1] * 24


async def test_a_request_rejected_before_routing_is_not_counted(
    network: NetworkApi,
) -> None:
    await network.ask("GET", MAPS, token="")
    await network.ask("GET", MAPS, token="unknown")
    await network.ask("GET", "/api/v1/gadgets")
    await network.ask("GET", f"{MAPS}/a/parts")
    await network.ask("OPTIONS", MAPS)
    await network.ask("GET", MAPS, accept="application/xml")

    assert await network.samples("apiserver_request") == {}


async def test_health_checks_are_counted_by_their_paths(network: NetworkApi) -> None:
    await network.ask("GET", "/readyz")

    counted = await network.samples("apiserver_request")

    assert list(counted) == [
        ("apiserver_request_total", "200", "", "", "", "", "", "/readyz", "GET", "")
    ]


async def test_a_watch_is_counted_while_it_is_open_and_once_it_has_ended(
    network: NetworkApi,
) -> None:
    key = "apiserver_longrunning_requests", "apiserver", "", "configmaps", "namespace", "", "WATCH"
    async with network.watch(f"{MAPS}?timeoutSeconds=60") as lines:
        await network.ask("POST", MAPS, config_map("a"))
        await lines.first(1)
        open_ = await network.samples("apiserver_longrunning_requests")
        requests = await network.samples("apiserver_request")
    await turns()

    closed = await network.samples("apiserver_longrunning_requests")
    events = await network.samples("apiserver_watch_events")
    after = await network.samples("apiserver_request")
    assert open_ == {(*key, "v1"): 1}
    assert closed == {(*key, "v1"): 0}
    assert events == {("apiserver_watch_events_total", "", "configmaps", "v1"): 1}
    assert {each[-2] for each in requests} == {"POST"}
    assert {each[-2] for each in after} == {"POST", "WATCH"}


async def test_stored_objects_are_counted_by_resource(network: NetworkApi) -> None:
    for name in ("a", "b"):
        await network.ask("POST", MAPS, config_map(name))
    await network.ask("DELETE", f"{MAPS}/b")
    before = await network.samples("apiserver_resource_objects")

    storage = await network.samples("apiserver_storage_objects")
    resource = await network.samples("apiserver_resource_objects")

    assert before == resource
    maps = len((await network.asked("GET", "/api/v1/configmaps"))["items"])
    assert storage["apiserver_storage_objects", "configmaps"] == maps
    assert resource["apiserver_resource_objects", "", "configmaps"] == maps
    assert resource["apiserver_resource_objects", "apps", "deployments"] == 0
    assert storage["apiserver_storage_objects", "deployments.apps"] == 0
    assert ("apiserver_storage_objects", "bindings") not in storage


async def test_in_process_requests_are_counted(network: NetworkApi) -> None:
    network.server = MeasuredServer(network.bare, clock=network.clock)
    response = await network.ask("GET", MAPS)

    counted = await network.samples("apiserver_request")

    assert len(counted) == 1
    assert response.header("audit-id") is None


def lines_of(text: str) -> Iterator[tuple[str, str, str]]:
    for line in text.splitlines():
        if line.startswith("# "):
            _, what, name, rest = line.split(" ", 3)
            yield what, name, rest


async def test_metrics_pass_the_promtool_rules(network: NetworkApi) -> None:
    await network.ask("GET", MAPS)
    async with network.watch(MAPS):
        text = (await network.ask("GET", "/metrics")).body.decode()

    about = list(lines_of(text))
    helps = {name: rest for what, name, rest in about if what == "HELP"}
    types = {name: rest for what, name, rest in about if what == "TYPE"}
    assert helps.keys() == types.keys()
    assert all(helps.values())
    assert all(name.endswith("_total") for name in types if types[name] == "counter")
    assert not [name for name in types if types[name] != "counter" and name.endswith("_total")]
    assert not [name for name in types if name.endswith(("_count", "_sum", "_bucket", "_created"))]
    assert not re.search(r"_created[ {]", text)
    names = [
        sample.name for each in text_string_to_metric_families(text) for sample in each.samples
    ]
    assert "kubernetes_build_info" in names
    assert "process_cpu_seconds_total" in names


@pytest.mark.parametrize(("token", "status"), [("", 403), (STRANGER, 403), (READER, 200)])
async def test_metrics_require_permission_for_the_url(
    token: str, status: int, network: NetworkApi
) -> None:
    rules = [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    await network.asked("POST", f"{rbac}/clusterroles", {"metadata": {"name": "m"}, "rules": rules})
    binding = {
        "metadata": {"name": "m"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "m"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "reader"}],
    }
    await network.asked("POST", f"{rbac}/clusterrolebindings", binding)

    response = await network.ask("GET", "/metrics", token=token)

    assert response.status == status


PATHS = ("/healthz", MAPS, f"{MAPS}/none", "/nowhere", "/openapi/v3", "/version", "/metrics")


@pytest.mark.parametrize("path", PATHS)
async def test_every_response_has_an_id_and_a_date(path: str, network: NetworkApi) -> None:
    network.clock.advance(0.25)
    first, second = await network.ask("GET", path), await network.ask("GET", path)

    ids = [each.header("audit-id") or "" for each in (first, second)]
    assert all(map(UUID.fullmatch, ids))
    assert ids[0] != ids[1]
    assert date(first) == date(second) == network.clock.now().replace(microsecond=0)


async def test_a_watch_has_an_id_and_a_date(network: NetworkApi) -> None:
    token = (("authorization", f"Bearer {TOKEN}"),)
    request = Request(method="GET", path=MAPS, query=(("watch", "1"),), headers=token)

    reply = await network.server.handle(request)

    assert reply.stream is not None
    await reply.stream.aclose()
    assert {"audit-id", "date"} <= dict(reply.headers).keys()


async def test_a_client_can_set_the_audit_id(network: NetworkApi) -> None:
    response = await network.ask("GET", MAPS, audit_id="mine")

    assert response.header("audit-id") == "mine"


async def test_the_date_follows_the_clock(network: NetworkApi) -> None:
    dates = []
    for seconds in (0.0, 0.9, 0.2, 3600.0):
        network.clock.advance(seconds)
        dates.append((date(await network.ask("GET", "/healthz")), network.clock.now()))

    assert [said for said, _ in dates] == [now.replace(microsecond=0) for _, now in dates]
    assert len({said for said, _ in dates}) == 3


def date(response: Answer) -> datetime:
    said = response.header("date")
    assert said is not None
    assert said.endswith(" GMT")
    return parsedate_to_datetime(said).astimezone(UTC)


SNIFFED = {
    "/nowhere": True,
    "/healthz": True,
    "/readyz?verbose": True,
    "/healthz/none": True,
    "/healthz/ping": False,
    "/version": False,
    MAPS: False,
    f"{MAPS}/none": False,
}


@pytest.mark.parametrize("path", SNIFFED)
async def test_plain_errors_and_health_have_the_nosniff_header(
    path: str, api: EmbeddedServer
) -> None:
    response = await api.ask("GET", path)

    assert response.header("x-content-type-options") == ("nosniff" if SNIFFED[path] else None)


async def test_a_forbidden_response_has_the_nosniff_header(api: EmbeddedServer) -> None:
    denied = await api.ask("GET", MAPS, token="")
    unknown = await api.ask("GET", MAPS, token="unknown")

    assert denied.header("x-content-type-options") == "nosniff"
    assert unknown.header("x-content-type-options") is None


async def test_open_api_has_the_content_types_of_the_real_server(api: EmbeddedServer) -> None:
    index = await api.ask("GET", "/openapi/v3")
    document = await api.ask("GET", "/openapi/v3/apis/apps/v1")
    nothing = await api.ask("GET", "/openapi/v3/none")

    assert index.header("content-type") == "text/plain; charset=utf-8"
    assert document.header("content-type") == "application/json"
    assert (nothing.status, nothing.header("content-type"), nothing.body) == (404, None, b"")


@pytest.mark.parametrize("path", ["/openapi/v2/", "/openapi/v3/", "/openapi/v3/apis/apps/v1/"])
async def test_no_open_api_document_has_a_slash_at_its_end(path: str, api: EmbeddedServer) -> None:
    assert (await api.ask("GET", path)).status == 404


async def test_an_old_hash_of_an_open_api_document_leads_to_the_new_one(
    api: EmbeddedServer,
) -> None:
    moved = await api.ask("GET", "/openapi/v3/apis/apps/v1?hash=OLD")

    there = await api.ask("GET", moved.header("location") or "")
    assert moved.status == 301
    assert moved.header("cache-control") == "no-cache, private"
    assert there.status == 200
    assert there.header("cache-control") == "public, immutable"


async def test_events_in_protobuf_are_counted_one_by_one(network: NetworkApi) -> None:
    for name in ("a", "b", "c"):
        await network.ask("POST", MAPS, config_map(name, letters="\n\n"))

    async with network.pieces(MAPS, accept="application/vnd.kubernetes.protobuf") as pieces:
        await anext(pieces)

    events = await network.samples("apiserver_watch_events")
    assert events == {("apiserver_watch_events_total", "", "configmaps", "v1"): 3}
