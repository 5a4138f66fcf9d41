"""Runs scenarios on two servers, and records responses and requests to webhooks."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import count
from typing import Any, TypeAlias

import pytest

from steersman.clock import SystemClock
from steersman_cluster.testing import ControlPlane, running_embedded_control_plane
from tests.recorded.differential.servers import HttpsServer
from tests.webhook_server import ReceivedReview, Script, WebhookServer, webhook_server

# The user of a server's own writes, such as the status of a definition.
API_SERVER_USER = "system:apiserver"

REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
JSON, MERGE = "application/json", "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"

# The longest time until a real server uses a new configuration.
READY_SECONDS = 30.0

MATCH_ALL = [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}]

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_VERSION = re.compile(r'"resourceVersion": "(\d+)"')
_RECORD = re.compile(r"in record \((\d+)\)")
_GENERATED = re.compile(r"(made-up-)[a-z0-9]{5}")


class Stage:
    """A server, its webhooks, a namespace for one scenario, and the recorded steps."""

    def __init__(self, server: HttpsServer, hooks: WebhookServer, *, number: int) -> None:
        self.hooks = hooks
        self.namespace = f"scenario-{number}"
        self.reviews: list[Any] = []
        self._server = server
        self._number = number
        self._configured: list[str] = []
        self._markers = count(1)
        self._versions: dict[str, str] = {}
        self.send("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})

    @property
    def namespace_path(self) -> str:
        """The path of the namespace in the core group."""
        return f"/api/v1/namespaces/{self.namespace}"

    def group_path(self, group_version: str) -> str:
        """The path of the namespace in another group."""
        return f"/apis/{group_version}/namespaces/{self.namespace}"

    @property
    def namespace_selector(self) -> dict[str, Any]:
        """A selector of this namespace."""
        return {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}}

    def send(
        self, method: str, path: str, body: Any = None, *, sends: str = JSON, as_user: str = ""
    ) -> tuple[int, Any, list[str]]:
        """Send a request without recording it."""
        headers = {"authorization": f"Bearer {self._server.token}", "accept": JSON}
        if as_user:
            headers["impersonate-user"] = as_user
        if body is not None:
            headers["content-type"] = sends
            body = json.dumps(body).encode()
        response = self._server.call(method, path, body, headers)
        warnings = [value for name, value in response.headers if name.lower() == "warning"]
        is_json = response.body.startswith(b"{")  # the 404 of an unserved path is plain text
        return response.status, json.loads(response.body) if is_json else None, warnings

    def step(self, method: str, path: str, body: Any = None, **more: str) -> Any:
        """Send a request, and record the response and the calls of webhooks."""
        if method in ("PUT", "PATCH", "DELETE"):
            self._wait_for_watch_cache(path)
        self.hooks.forget()
        status, response, warnings = self.send(method, path, body, **more)
        # A real server that writes from an outdated cache calls webhooks again, so repeated calls
        # count once.
        received = {
            _order(each): (each.path, each.query, each.review)
            for each in self.hooks.received
            if not each.path.startswith("ready") and self._is_caused_by_scenario(each)
        }
        review = {
            "request": f"{method} {path}",
            "status": status,
            "response": response,
            "warnings": warnings,
            # Some webhooks are called concurrently, in random order.
            "received": [received[each] for each in sorted(received)],
        }
        self.reviews.append(self._normal(review))
        return response

    def _is_caused_by_scenario(self, received: ReceivedReview) -> bool:
        """Whether the scenario caused the review: a server also writes by itself."""
        request = received.review["request"]
        user: str = request["userInfo"]["username"]
        namespace: str | None = request.get("namespace")
        return user != API_SERVER_USER or namespace == self.namespace

    def _wait_for_watch_cache(self, path: str) -> None:
        """Wait until the watch cache of a real server has the object, which updates start from."""
        root, version, *rest = path.partition("?")[0].removeprefix("/").split("/")
        if root == "apis":
            version, rest = f"{version}/{rest[0]}", rest[1:]
        object_path = "/".join(
            (root, version, *rest[: 4 if rest[0] == "namespaces" and rest[3:] else 2])
        )
        status, found, _ = self.send("GET", f"/{object_path}")
        if status == 200 and "name" in found["metadata"]:
            self.send(
                "GET", f"/{object_path}?resourceVersion={found['metadata']['resourceVersion']}"
            )

    def webhook(self, path: str, script: Script | None = None, **more: Any) -> dict[str, Any]:
        """The configuration of a webhook, by default for all requests in this namespace."""
        if script is not None:
            self.hooks.scripts[path] = script
        return {
            "name": f"{path}.example.com",
            "clientConfig": self.hooks.client_config(path),
            "rules": MATCH_ALL,
            "namespaceSelector": self.namespace_selector,
            "objectSelector": {"matchExpressions": [{"key": "ready", "operator": "DoesNotExist"}]},
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **more,
        }

    def configure(self, kind: str, *webhooks: Mapping[str, Any], name: str = "") -> None:
        """Configure webhooks, and wait for them; ``kind`` is mutating or validating."""
        name = f"{name or 'scenario'}-{self._number}"
        path = f"{REGISTRATION}/{kind}webhookconfigurations"
        status, response, _ = self.send(
            "POST", path, {"metadata": {"name": name}, "webhooks": webhooks}
        )
        assert status == 201, response
        self._configured.append(f"{path}/{name}")
        self.wait_for_webhooks()

    def wait_for_webhooks(self) -> None:
        """Wait until the server uses all webhook configurations."""
        marker = f"{self._number}-{next(self._markers)}"
        paths: list[str] = []
        for kind in ("mutating", "validating"):
            ready = self.webhook(
                f"ready-{kind}-{marker}",
                objectSelector={"matchLabels": {"ready": marker}},
                rules=[{**MATCH_ALL[0], "resources": ["configmaps"]}],
            )
            path = f"{REGISTRATION}/{kind}webhookconfigurations"
            body = {"metadata": {"name": f"zz-ready-{marker}"}, "webhooks": [ready]}
            assert self.send("POST", path, body)[0] == 201
            paths.append(f"{path}/zz-ready-{marker}")
        probe = {"metadata": {"name": "ready", "labels": {"ready": marker}}}
        wanted = {f"ready-{kind}-{marker}" for kind in ("mutating", "validating")}
        until(
            lambda: (
                self.send("POST", f"{self.namespace_path}/configmaps?dryRun=All", probe)[0] > 0
                and wanted <= {each.path for each in self.hooks.received}
            )
        )
        for path in paths:
            self.send("DELETE", path)

    def policy(self, name: str, bindings: Sequence[Any] = ({},), **spec: Any) -> None:
        """Create a policy for ConfigMaps of this namespace that have its name as a label."""
        rule = {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"]}
        constraints = {
            "resourceRules": [{**rule, "resources": ["configmaps"]}],
            "namespaceSelector": self.namespace_selector,
            "objectSelector": {"matchLabels": {"policy": name}},
        }
        full = f"{self.namespace}-{name}"
        policies = f"{REGISTRATION}/validatingadmissionpolicies"
        body = {"metadata": {"name": full}, "spec": {"matchConstraints": constraints, **spec}}
        status, response, _ = self.send("POST", policies, body)
        assert status == 201, response
        self._configured.append(f"{policies}/{full}")
        path = f"{REGISTRATION}/validatingadmissionpolicybindings"
        for number, binding in enumerate(bindings):
            metadata = {"name": f"{full}-{number}"}
            bound = {"policyName": full, "validationActions": ["Deny"], **binding}
            status, response, _ = self.send("POST", path, {"metadata": metadata, "spec": bound})
            assert status == 201, response
            self._configured.append(f"{path}/{metadata['name']}")

    def wait_for_policies(self) -> None:
        """Wait until the server uses all policies, which it reloads every second."""
        marker = f"ready-{next(self._markers)}"
        bindings = [{"validationActions": ["Warn"]}]
        self.policy(marker, bindings, validations=[{"expression": "false", "message": marker}])
        probe = {"metadata": {"name": "ready", "labels": {"policy": marker}}}
        path = f"{self.namespace_path}/configmaps?dryRun=All"
        until(lambda: marker in str(self.send("POST", path, probe)[2]))

    def clean_up(self) -> None:
        """Delete the webhook configurations and policies."""
        for path in self._configured:
            self.send("DELETE", path)

    def _normal(self, review: Any) -> Any:
        text = without_random_values(
            json.dumps(review, sort_keys=True), port=self.hooks.port, namespace=self.namespace
        )
        text = _VERSION.sub(
            lambda found: '"resourceVersion": "{}"'.format(
                self._versions.setdefault(found[1], f"version {len(self._versions) + 1}")
            ),
            text,
        )
        return _with_sorted_managed_fields(json.loads(text))


def without_random_values(text: str, *, port: int, namespace: str) -> str:
    """The text without values that differ on each run."""
    text = _GENERATED.sub(r"\1XXXXX", _TIME.sub("TIME", _UID.sub("UID", text)))
    text = _RECORD.sub("in record (VERSION)", text)
    # With its colon, because a version may contain the same digits.
    return text.replace(f":{port}", ":PORT").replace(namespace, "NAMESPACE")


def _with_sorted_managed_fields(review: Any) -> Any:
    """Sort managed fields: the order depends on times, which are in full seconds."""
    if isinstance(review, list):
        return [_with_sorted_managed_fields(each) for each in review]
    if not isinstance(review, dict):
        return review
    found = {name: _with_sorted_managed_fields(value) for name, value in review.items()}
    if isinstance(owners := found.get("managedFields"), list):
        found["managedFields"] = sorted(owners, key=json.dumps)
    return found


def _order(received: ReceivedReview) -> tuple[str, str]:
    text = json.dumps(received.review, sort_keys=True)
    return received.path, _VERSION.sub("", _TIME.sub("", _UID.sub("", text)))


Scenario: TypeAlias = Callable[[Stage], None]


def until(condition: Callable[[], bool]) -> None:
    """Poll until the condition is true."""
    clock = SystemClock()
    deadline_at = clock.monotonic() + READY_SECONDS
    while not condition():
        assert clock.monotonic() < deadline_at, "the condition was not met"


@contextmanager
def open_server(cluster: ControlPlane) -> Iterator[HttpsServer]:
    """A connection to the server of a cluster, as its admin."""
    credentials = cluster.credentials
    server = HttpsServer(
        cluster.url, ca_file=str(credentials.ca_file), token=credentials.admin_token
    )
    with closing(server):
        yield server


def run_scenario(scenario: Scenario, server: HttpsServer, *names: str, number: int) -> list[Any]:
    """Run a scenario on one server, and return the recorded steps."""
    with webhook_server(*names) as hooks:
        stage = Stage(server, hooks, number=number)
        try:
            scenario(stage)
        finally:
            stage.clean_up()
        return stage.reviews


def run_on(plane: ControlPlane, scenario: Scenario, *names: str, number: int) -> list[Any]:
    """Run a scenario on the server of a cluster, and return the recorded steps."""
    with open_server(plane) as server:
        return run_scenario(scenario, server, *names, number=number)


@pytest.fixture(scope="module")
def embedded() -> Iterator[ControlPlane]:
    """The embedded server."""
    with running_embedded_control_plane(clock=SystemClock()) as plane:
        yield plane
