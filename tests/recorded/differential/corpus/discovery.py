"""Discovery documents, and errors for malformed requests."""

from collections.abc import Iterator

from tests.recorded.differential.corpus.kinds import builtin_kinds
from tests.recorded.differential.scenario import Answer, Json, Raw, Request, Scenario, Settled

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


def scenarios() -> Iterator[Scenario]:
    """Scenarios about a new server, before any definition."""
    versions = sorted({kind.api_version for kind in builtin_kinds().values()} - {"v1"})
    groups = sorted({each.partition("/")[0] for each in versions})
    yield Scenario(
        name="discovery/documents",
        first=True,
        requests=(
            _get("api", "/api"),
            _get("apis", "/apis", until=_has_every_group),
            _get("core", "/api/v1"),
            *(_get(f"group-{group}", f"/apis/{group}") for group in groups),
            *(_get(f"version-{each.replace('/', '-')}", f"/apis/{each}") for each in versions),
            _get("authentication", "/apis/authentication.k8s.io/v1"),
            _get("authorization", "/apis/authorization.k8s.io/v1"),
            _get("unknown-group", "/apis/none.example.com"),
            _get("unknown-version", "/apis/apps/v9"),
            _get("unknown-core-version", "/api/v9"),
            _get("slash", "/apis/apps/"),
            _get("aggregated-api", "/api", accept=AGGREGATED),
            _get("aggregated-apis", "/apis", accept=AGGREGATED),
            _get("yaml", "/api", accept="application/yaml"),
            _get("not-acceptable", "/api", accept="text/html"),
        ),
    )
    yield Scenario(
        name="discovery/server",
        first=True,
        requests=(
            _get("version", "/version"),
            _get("openapi", "/openapi/v3"),
            *(
                _get(f"{name}-slash", f"/openapi/{name}/")
                for name in ("v2", "v3", "v3/apis/apps/v1")
            ),
            *(_get(path.strip("/"), path) for path in ("/healthz", "/livez", "/readyz")),
            _get("ping", "/healthz/ping"),
            _get("unknown-check", "/healthz/none"),
            _get("unknown-path", "/nowhere"),
            _get("unknown-path-below-apis", "/apis/apps/v1/nowhere"),
            _get("unknown-path-below-namespace", "/api/v1/namespaces/default/nowhere"),
            _get("unknown-object-path", "/api/v1/namespaces/default/nowhere/x"),
            _get("too-deep", "/api/v1/namespaces/default/configmaps/a/b/c"),
            _get("namespaced-without-namespace", "/api/v1/configmaps/x"),
            _get("cluster-kind-in-namespace", "/api/v1/namespaces/default/nodes"),
            _get("trailing-slash", "/api/v1/namespaces/default/"),
        ),
    )
    yield Scenario(name="protocol/methods", requests=tuple(_methods()))
    yield Scenario(name="protocol/bodies", requests=tuple(_bodies()))


def _get(
    name: str, path: str, *, accept: str = "application/json", until: Settled | None = None
) -> Request:
    return Request(name=name, method="GET", path=path, headers={"Accept": accept}, until=until)


def _has_every_group(answer: Answer) -> bool:
    named = [group["name"] for group in (answer.json() or {}).get("groups", ())]
    return "apiregistration.k8s.io" in named and "apps" in named and "apiextensions.k8s.io" in named


def _methods() -> Iterator[Request]:
    collection = "/api/v1/namespaces/default/configmaps"
    paths = {
        "collection": (collection, ("PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "FROB")),
        "object": (f"{collection}/none", ("POST", "HEAD", "OPTIONS")),
        "namespaces": ("/api/v1/namespaces", ("DELETE", "PUT")),
        "discovery": ("/api/v1", ("POST", "DELETE")),
        "version": ("/version", ("POST",)),
        "review": ("/apis/authorization.k8s.io/v1/subjectaccessreviews", ("GET", "DELETE")),
        "status": ("/apis/apps/v1/namespaces/default/deployments/none/status", ("POST", "DELETE")),
        "scale": ("/apis/apps/v1/namespaces/default/deployments/none/scale", ("POST", "DELETE")),
        "all-namespaces": ("/api/v1/configmaps", ("POST", "DELETE")),
    }
    for name, (path, methods) in paths.items():
        for method in methods:
            body: Json = {} if method in ("POST", "PUT", "PATCH") else None
            yield Request(name=f"{name}-{method.lower()}", method=method, path=path, body=body)


def _bodies() -> Iterator[Request]:
    path = "/api/v1/namespaces/default/configmaps?dryRun=All"
    small = b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"}'
    cases = {
        "too-large-for-kind": small + b',"data":{"a":"' + b"x" * 1_100_000 + b'"}}',
        "too-large-for-store": small
        + b',"metadata":{"name":"x","annotations":{"a":"'
        + b"x" * 2_000_000
        + b'"}}}',
        "too-large": small + b',"data":{"a":"' + b"x" * 3_200_000 + b'"}}',
        "deeply-nested": b'{"a":' * 12_000 + b"1" + b"}" * 12_000,
        "not-utf-8": small + b',"data":{"a":"\xff\xfe"}}',
        "byte-order-mark": b"\xef\xbb\xbf" + small + b"}",
        "trailing-text": small + b"} and more",
        "two-documents": small + b"}" + small + b"}",
        "null": b"null",
        "number": b"5",
        "unpaired-surrogate": small + b',"data":{"a":"\\ud800"}}',
        "control-character": small + b',"data":{"a":"\x01"}}',
        "large-number": small + b',"data":{"a":1e400}}',
        "key-in-other-case": b'{"Kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"}}',
        "nulls-everywhere": b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x",'
        b'"labels":null,"annotations":{"a":null}},"data":null}',
    }
    for name, body in cases.items():
        yield Request(name=name, method="POST", path=path, body=Raw(body))
    yaml_cases = {
        "yaml-malformed": b"a: [",
        "yaml-two-documents": b"kind: ConfigMap\n---\nkind: ConfigMap\n",
        "yaml-aliases": b"kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n"
        b"data: {a: &a text, b: *a}\n",
        "yaml-number-for-text": b"kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n"
        b"data: {a: 5}\n",
        "yaml-doubled-key": b"kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n"
        b"data: {a: x, a: y}\n",
    }
    for name, body in yaml_cases.items():
        headers = {"Content-Type": "application/yaml"}
        yield Request(name=name, method="POST", path=path, body=Raw(body), headers=headers)
    fine = Raw(small + b"}")
    for name, sends in {
        "with-charset": "application/json; charset=utf-8",
        "no-content-type": "",
        "cbor": "application/cbor",
        "protobuf": "application/vnd.kubernetes.protobuf",
        "malformed-content-type": "json",
    }.items():
        headers = {"Content-Type": sends}
        yield Request(name=name, method="POST", path=path, body=fine, headers=headers)
