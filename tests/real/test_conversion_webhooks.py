"""Custom resources converted by a webhook: stored as v1, read in any version."""

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPSConnection
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import pytest

from steersman_cluster.testing import ControlPlane
from steersman_cluster.testing.calls import HttpCaller, HttpResponse
from tests.webhook_server import RawReply, WebhookServer, webhook_server

GROUP = "conversion.example.com"
MAX_REQUESTS = 2000
# The timeout of a watch without events.
WATCH_SECONDS = 30
JSON = "application/json"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"

Conversion = Callable[[Any, str], Any]


def version(name: str, properties: Any, **more: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": properties}},
    }
    return {"name": name, "served": True, "schema": {"openAPIV3Schema": schema}, **more}


def definition(plural: str, client: dict[str, Any]) -> dict[str, Any]:
    kind = plural.capitalize()
    color = {"type": "string", "default": "red"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "plural": plural,
                "singular": plural,
                "kind": kind,
                "listKind": f"{kind}List",
            },
            "versions": [
                version("v1", {"size": {"type": "integer"}}, storage=True),
                version(
                    "v2",
                    {"width": {"type": "string"}, "color": color},
                    storage=False,
                    selectableFields=[{"jsonPath": ".spec.width"}],
                ),
            ],
            "conversion": {
                "strategy": "Webhook",
                "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]},
            },
        },
    }


def resized(obj: Any, api_version: str) -> Any:
    """Convert between v1 with ``size`` and v2 with ``width``, which has a unit."""
    spec = dict(obj.get("spec") or {})
    if api_version.endswith("/v2"):
        if "size" in spec:
            spec["width"] = f"{spec.pop('size')}cm"
        spec["unknown"] = "pruned"
    else:
        spec.pop("color", None)
        if "width" in spec:
            spec["size"] = int(spec.pop("width").removesuffix("cm"))
    labels = {**(obj["metadata"].get("labels") or {}), "converted": api_version.rpartition("/")[2]}
    metadata = {**obj["metadata"], "labels": labels, "generation": 99}
    return {**obj, "apiVersion": api_version, "metadata": metadata, "spec": spec}


def script(
    convert: Conversion, review_fields: Any = None, **changes: Any
) -> Callable[[Any], RawReply]:
    """A webhook that converts objects.

    ``changes`` override fields of its response, and ``review_fields`` those of its review.
    """

    def answer(review: Any) -> RawReply:
        wanted = review["request"]["desiredAPIVersion"]
        converted = [convert(each, wanted) for each in review["request"]["objects"]]
        response = {
            "uid": review["request"]["uid"],
            "result": {"status": "Success"},
            "convertedObjects": converted,
            **changes,
        }
        document = {**review, "request": None, "response": response, **(review_fields or {})}
        body = json.dumps(document).encode()
        return RawReply(body=body, headers={"content-type": "application/json"})

    return answer


def with_metadata(**changes: Any) -> Callable[[Any], RawReply]:
    """A webhook that changes metadata."""
    return script(
        lambda obj, wanted: {
            **resized(obj, wanted),
            "metadata": {**obj["metadata"], **changes},
        }
    )


@pytest.fixture(scope="session")
def webhooks() -> Iterator[WebhookServer]:
    with webhook_server() as server:
        yield server


class ConvertedKind:
    """A custom kind with a conversion webhook, and requests in one namespace."""

    def __init__(
        self,
        cluster: ControlPlane,
        caller: HttpCaller,
        plural: str,
        namespace: str,
        webhooks: WebhookServer,
    ) -> None:
        self._cluster = cluster
        self._caller = caller
        self._namespace = namespace
        self._webhooks = webhooks
        self.plural = plural
        self.set_conversion(script(resized))
        crd = definition(plural, webhooks.client_config(plural))
        self._caller.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
        for _ in range(MAX_REQUESTS):
            if all(self.listed(each).status == 200 for each in ("v1", "v2")):
                break

    def set_conversion(self, responses: Callable[[Any], RawReply]) -> None:
        self._webhooks.scripts[self.plural] = responses

    def path(self, version: str, name: str = "") -> str:
        path = f"/apis/{GROUP}/{version}/namespaces/{self._namespace}/{self.plural}"
        return f"{path}/{name}" if name else path

    def send(self, method: str, path: str, body: Any = None, sends: str = JSON) -> HttpResponse:
        return self._caller.call(method, path, body, sends=sends)

    def patch_on_new_connection(self, method: str, path: str, patch: Any) -> HttpResponse:
        """Send a merge patch on a new connection."""
        with self._cluster.caller() as caller:
            return caller.call(method, path, patch, sends=MERGE)

    def shape(self, version: str, name: str, **spec: Any) -> dict[str, Any]:
        return {
            "apiVersion": f"{GROUP}/{version}",
            "kind": self.plural.capitalize(),
            "metadata": {"name": name},
            "spec": spec,
        }

    def create(self, version: str, name: str, **spec: Any) -> HttpResponse:
        return self.send("POST", self.path(version), self.shape(version, name, **spec))

    def get(self, version: str, name: str) -> HttpResponse:
        return self.send("GET", self.path(version, name))

    def listed(self, version: str, query: str = "") -> HttpResponse:
        return self.send("GET", self.path(version) + query)

    def watched(self, version: str, count: int, query: str = "") -> list[Any]:
        """The first events of a watch, on a new connection."""
        credentials = self._cluster.credentials
        path = f"{self.path(version)}?watch=1&timeoutSeconds={WATCH_SECONDS}{query}"
        connection = HTTPSConnection(
            urlsplit(self._cluster.url).netloc,
            timeout=2 * WATCH_SECONDS,
            context=ssl.create_default_context(cafile=credentials.ca_file),
        )
        with closing(connection):
            headers = {"Authorization": f"Bearer {credentials.admin_token}"}
            connection.request("GET", path, headers=headers)
            return [json.loads(line) for line in islice(connection.getresponse(), count)]


@contextmanager
def defined(
    cluster: ControlPlane, plural: str, namespace: str, webhooks: WebhookServer
) -> Iterator[ConvertedKind]:
    with cluster.caller() as caller:
        kind = ConvertedKind(cluster, caller, plural, namespace, webhooks)
        yield kind
        kind.set_conversion(script(resized))
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.{GROUP}"
        caller.call("DELETE", path)


@pytest.fixture
def kind(
    control_plane: ControlPlane,
    namespace: str,
    webhooks: WebhookServer,
) -> Iterator[ConvertedKind]:
    plural = f"s{namespace.replace('-', '')[-12:]}"
    with defined(control_plane, plural, namespace, webhooks) as kind:
        yield kind


@pytest.fixture(scope="module")
def unconverted(control_plane: ControlPlane, webhooks: WebhookServer) -> Iterator[ConvertedKind]:
    """A kind without objects, shared by tests.

    A real server delays the first create of a new kind by two seconds.
    """
    with defined(control_plane, "unconverted", "default", webhooks) as kind:
        yield kind


def test_an_object_is_stored_in_the_storage_version_and_returned_in_the_requested_version(
    kind: ConvertedKind,
) -> None:
    created = kind.create("v2", "a", width="3cm")

    assert created.status == 201
    assert created.json()["apiVersion"] == f"{GROUP}/v2"
    # Only the storage version is defaulted, and its conversion has no color.
    assert created.json()["spec"] == {"width": "3cm"}
    assert created.json()["metadata"]["labels"] == {"converted": "v2"}
    assert created.json()["metadata"]["generation"] == 1
    assert kind.get("v1", "a").json()["spec"] == {"size": 3}
    assert kind.get("v2", "a").json() == created.json()


def test_an_object_in_the_requested_version_is_not_converted(kind: ConvertedKind) -> None:
    kind.set_conversion(lambda _: RawReply(status=500))

    created = kind.create("v1", "a", size=3)

    assert created.status == 201
    assert "labels" not in created.json()["metadata"]
    assert [each["spec"] for each in kind.listed("v1").json()["items"]] == [{"size": 3}]


def test_a_list_and_a_watch_return_every_object_in_the_requested_version(
    kind: ConvertedKind,
) -> None:
    for number in range(5):
        kind.create("v1" if number % 2 else "v2", f"s{number}", **_spec(number))

    listed = kind.listed("v2").json()
    seen = kind.watched("v2", 5)

    assert listed["apiVersion"] == f"{GROUP}/v2"
    assert [each["spec"]["width"] for each in listed["items"]] == [f"{n}cm" for n in range(5)]
    assert {each["object"]["spec"]["width"] for each in seen} == {f"{n}cm" for n in range(5)}
    assert {each["object"]["apiVersion"] for each in seen} == {f"{GROUP}/v2"}


def _spec(number: int) -> dict[str, Any]:
    return {"size": number} if number % 2 else {"width": f"{number}cm"}


def test_a_watch_sends_each_event_in_the_requested_version(kind: ConvertedKind) -> None:
    before = kind.listed("v1").json()["metadata"]["resourceVersion"]
    kind.create("v1", "a", size=1)
    kind.send("PATCH", kind.path("v1", "a"), {"spec": {"size": 2}}, MERGE)
    kind.send("DELETE", kind.path("v1", "a"))
    # A watch that delivers this one has delivered all earlier ones.
    kind.create("v1", "last", size=1)

    everything = kind.watched("v2", 4, f"&resourceVersion={before}")
    ones = kind.watched("v2", 3, f"&resourceVersion={before}&fieldSelector=spec.width%3D1cm")

    last = ("ADDED", "last", "1cm")
    assert summaries(everything) == [
        ("ADDED", "a", "1cm"),
        ("MODIFIED", "a", "2cm"),
        ("DELETED", "a", "2cm"),
        last,
    ]
    assert summaries(ones) == [("ADDED", "a", "1cm"), ("DELETED", "a", "1cm"), last]


def summaries(events: list[Any]) -> list[tuple[str, str, str]]:
    return [
        (each["type"], each["object"]["metadata"]["name"], each["object"]["spec"]["width"])
        for each in events
    ]


def test_writes_in_either_version_change_the_same_object(kind: ConvertedKind) -> None:
    kind.create("v1", "a", size=3)

    patched = kind.send("PATCH", kind.path("v2", "a"), {"spec": {"width": "5cm"}}, MERGE)
    after_patch = kind.get("v1", "a").json()
    put = kind.send(
        "PUT", kind.path("v2", "a"), {**patched.json(), "spec": {"width": "7cm", "color": "blue"}}
    )

    assert patched.status == 200
    assert patched.json()["spec"] == {"width": "5cm"}
    assert after_patch["spec"] == {"size": 5}
    assert after_patch["metadata"]["generation"] == 2
    assert put.status == 200
    assert kind.get("v1", "a").json()["spec"] == {"size": 7}


def test_apply_creates_and_updates_through_a_conversion(kind: ConvertedKind) -> None:
    path = f"{kind.path('v2', 'a')}?fieldManager=me"

    created = kind.send("PATCH", path, kind.shape("v2", "a", width="3cm"), APPLY)
    applied = kind.send("PATCH", path, kind.shape("v2", "a", width="4cm"), APPLY)

    assert (created.status, applied.status) == (201, 200)
    assert kind.get("v1", "a").json()["spec"] == {"size": 4}


def test_a_dry_run_returns_the_object_converted_from_the_storage_version(
    kind: ConvertedKind,
) -> None:
    path = f"{kind.path('v2')}?dryRun=All"

    response = kind.send("POST", path, kind.shape("v2", "a", width="3cm", color="blue"))

    assert response.status == 201
    assert response.json()["spec"]["width"] == "3cm"
    assert kind.get("v2", "a").status == 404


def test_a_delete_responds_in_the_requested_version(kind: ConvertedKind) -> None:
    held = kind.shape("v2", "held", width="3cm")
    held["metadata"]["finalizers"] = ["example.com/held"]
    kind.send("POST", kind.path("v2"), held)
    kind.create("v2", "free", width="4cm")

    marked = kind.send("DELETE", kind.path("v2", "held"))
    collection = kind.send("DELETE", kind.path("v2"))
    freed = kind.send("PATCH", kind.path("v2", "held"), {"metadata": {"finalizers": None}}, MERGE)

    assert marked.json()["spec"]["width"] == "3cm"
    assert [each["spec"]["width"] for each in collection.json()["items"]] == ["4cm", "3cm"]
    assert freed.status == 200
    assert kind.listed("v1").json()["items"] == []


def test_a_field_selector_is_evaluated_in_the_requested_version(kind: ConvertedKind) -> None:
    for number in range(3):
        kind.create("v1", f"s{number}", size=number)

    listed = kind.listed("v2", "?fieldSelector=spec.width%3D1cm").json()

    assert [each["metadata"]["name"] for each in listed["items"]] == ["s1"]


@pytest.mark.parametrize(
    ("responses", "why"),
    [
        pytest.param(
            script(resized, result={"status": "Failure", "message": "no such width"}),
            "failed: no such width",
            id="refused",
        ),
        pytest.param(
            script(resized, result={"status": "Failure"}),
            "failed: response.result.status was 'Failure', not 'Success'",
            id="rejected-without-a-message",
        ),
        pytest.param(
            script(resized, convertedObjects=[]),
            "returned 0 objects, expected 1",
            id="nothing",
        ),
        pytest.param(
            script(lambda obj, _: obj),
            "returned invalid object at index 0: invalid groupVersion"
            f" (expected {GROUP}/v1, received {GROUP}/v2)",
            id="unconverted",
        ),
        pytest.param(
            script(lambda obj, wanted: {**resized(obj, wanted), "kind": "Other"}),
            "returned invalid object at index 0: invalid kind (expected KIND, received Other)",
            id="another-kind",
        ),
        pytest.param(
            with_metadata(name="b"),
            "returned invalid object: must have the same name: a != b",
            id="another-name",
        ),
        pytest.param(
            with_metadata(labels={"a b": "c"}),
            'returned invalid metadata: metadata.labels: Invalid value: "a b": name part must'
            " consist of alphanumeric characters, '-', '_' or '.', and must start and end with an"
            " alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
            " validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            id="bad-label",
        ),
        pytest.param(
            lambda review: RawReply(
                body=json.dumps({**review, "response": None}).encode(),
                headers={"content-type": "application/json"},
            ),
            "failed: no response provided",
            id="no-response",
        ),
        pytest.param(
            script(resized, review_fields={"kind": "Other"}),
            'failed: no kind "Other" is registered for version "apiextensions.k8s.io/v1"'
            ' in scheme "pkg/runtime/scheme.go:111"',
            id="another-kind-of-review",
        ),
        pytest.param(
            script(resized, review_fields={"apiVersion": "apiextensions.k8s.io/v1beta1"}),
            "failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview):"
            " unknown conversion",
            id="another-version-of-review",
        ),
        pytest.param(
            script(resized, review_fields={"apiVersion": "", "kind": ""}),
            "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview,"
            " got /, Kind=",
            id="no-kind-of-review",
        ),
        pytest.param(
            script(resized, review_fields={"response": "yes"}),
            "failed: json: cannot unmarshal string into Go struct field ConversionReview.response"
            " of type v1.ConversionResponse",
            id="odd-response",
        ),
        pytest.param(
            script(resized, uid=7),
            "failed: json: cannot unmarshal number into Go struct field"
            " ConversionResponse.response.uid of type types.UID",
            id="odd-uid",
        ),
        pytest.param(
            script(resized, result="Success"),
            "failed: json: cannot unmarshal string into Go struct field"
            " ConversionResponse.response.result of type v1.Status",
            id="odd-result",
        ),
        pytest.param(
            script(resized, result={"status": 1}),
            "failed: json: cannot unmarshal number into Go struct field"
            " Status.response.result.status of type string",
            id="odd-status",
        ),
        pytest.param(
            script(resized, convertedObjects={}),
            "failed: json: cannot unmarshal object into Go struct field"
            " ConversionResponse.response.convertedObjects of type []runtime.RawExtension",
            id="odd-list",
        ),
        pytest.param(
            script(lambda obj, wanted: {**resized(obj, wanted), "metadata": "x"}),
            "returned invalid object: must have the same name: a != ",
            id="odd-metadata",
        ),
        pytest.param(
            with_metadata(name=1),
            "returned invalid object: must have the same name: a != ",
            id="odd-name",
        ),
        pytest.param(
            with_metadata(labels="x"),
            "returned invalid metadata: invalid metadata.labels of type string in converted object",
            id="odd-labels",
        ),
        pytest.param(
            with_metadata(annotations={"a": 1}),
            "returned invalid metadata: metadata.annotations[a] must be a string, but is int64"
            " in converted object",
            id="odd-annotation",
        ),
        pytest.param(
            lambda _: RawReply(status=404, body=b"404 page not found\n"),
            "failed: the server could not find the requested resource",
            id="not-found",
        ),
        pytest.param(
            lambda _: RawReply(status=500, body=b"oh no"),
            'failed: an error on the server ("oh no") has prevented the request from succeeding',
            id="broken",
        ),
    ],
)
def test_a_conversion_that_fails_is_reported_to_the_client(
    unconverted: ConvertedKind, responses: Callable[[Any], RawReply], why: str
) -> None:
    unconverted.set_conversion(responses)

    answer = unconverted.create("v2", "a", width="3cm")

    kind = unconverted.plural.capitalize()
    reason = why.replace("KIND", kind)
    assert answer.json() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f"conversion webhook for {GROUP}/v2, Kind={kind} {reason}",
        "code": 500,
    }


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("x", "json: cannot unmarshal string into Go value of type map[string]interface {}"),
        (None, "unexpected end of JSON input"),
    ],
)
def test_a_conversion_that_returns_no_object_is_reported_briefly(
    unconverted: ConvertedKind, answer: Any, why: str
) -> None:
    unconverted.set_conversion(script(resized, convertedObjects=[answer]))

    assert unconverted.create("v2", "a", width="3cm").json()["message"] == why


def test_a_write_succeeds_though_its_response_cannot_be_converted(kind: ConvertedKind) -> None:
    def without_response_conversion(review: Any) -> RawReply:
        is_response = review["request"]["desiredAPIVersion"].endswith("/v2")
        result = {"status": "Failure" if is_response else "Success", "message": "no way back"}
        return script(resized, result=result)(review)

    kind.set_conversion(without_response_conversion)

    created = kind.create("v2", "a", width="3cm")

    assert created.status == 500
    assert kind.get("v1", "a").json()["spec"] == {"size": 3}


def test_an_object_that_cannot_be_converted_is_not_deleted(kind: ConvertedKind) -> None:
    kind.create("v1", "a", size=3)
    kind.set_conversion(script(resized, result={"status": "Failure", "message": "no"}))

    one = kind.send("DELETE", kind.path("v2", "a"))
    every = kind.send("DELETE", kind.path("v2"))

    assert (one.status, every.status) == (500, 500)
    assert [each["spec"] for each in kind.listed("v1").json()["items"]] == [{"size": 3}]


def test_a_long_list_is_converted_completely(kind: ConvertedKind) -> None:
    # Conversion keeps annotations.
    for number in range(45):
        shape = kind.shape("v1", f"s{number:02}", size=number)
        shape["metadata"]["annotations"] = {"large": "x" * 200_000}
        assert kind.send("POST", kind.path("v1"), shape).status == 201

    listed = kind.listed("v2")

    assert listed.status == 200
    assert [each["spec"]["width"] for each in listed.json()["items"]] == [
        f"{number}cm" for number in range(45)
    ]


def test_a_create_whose_conversion_fails_stores_nothing(kind: ConvertedKind) -> None:
    kind.set_conversion(script(resized, result={"status": "Failure", "message": "no"}))

    refused = kind.create("v2", "a", width="3cm")

    assert refused.status == 500
    assert kind.listed("v1").json()["items"] == []


def test_concurrent_writes_during_a_conversion_are_not_lost(
    kind: ConvertedKind,
) -> None:
    kind.create("v1", "a", size=1)
    changed: list[int] = []

    def meanwhile(review: Any) -> RawReply:
        # Another client writes once in v1, when the patch in v2 is converted for storage.
        # Conversions to v2 also happen for the watch cache of the server.
        if not changed and review["request"]["desiredAPIVersion"] == f"{GROUP}/v1":
            changed.append(1)
            with_label = {"metadata": {"annotations": {"meanwhile": "yes"}}}
            changed.append(
                kind.patch_on_new_connection("PATCH", kind.path("v1", "a"), with_label).status
            )
        return script(resized)(review)

    kind.set_conversion(meanwhile)
    patched = kind.send("PATCH", kind.path("v2", "a"), {"spec": {"width": "5cm"}}, MERGE)

    kept = kind.get("v1", "a").json()
    assert changed == [1, 200]
    assert patched.status == 200
    assert kept["spec"] == {"size": 5}
    assert kept["metadata"]["annotations"] == {"meanwhile": "yes"}
