"""One scenario run on two servers: their responses, and their requests to webhooks."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import count
from typing import Any, TypeAlias

import pytest

from steersman.clock import SystemClock
from steersman_cluster.testing import ControlPlane, running_embedded_control_plane
from tests.real.differential.servers import HttpsServer
from tests.webhook_server import ReceivedReview, Script, WebhookServer, webhook_server

# Who a server is where it writes by itself: the status of a definition, say, or what it serves.
ITSELF = "system:apiserver"

REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
JSON, MERGE = "application/json", "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"

# How long it may take until a real server knows a new configuration.
READY_SECONDS = 30.0

EVERYTHING = [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}]

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_VERSION = re.compile(r'"resourceVersion": "(\d+)"')
_RECORD = re.compile(r"in record \((\d+)\)")
_MADE_UP = re.compile(r"(made-up-)[a-z0-9]{5}")

_NUMBERS = count(1)


class Stage:
    """A server, webhooks for it, a namespace of its own, and all that has happened so far."""

    def __init__(self, server: HttpsServer, hooks: WebhookServer, *, number: int) -> None:
        self.hooks = hooks
        self.namespace = f"scenario-{number}"
        self.reviews: list[Any] = []
        self._server = server
        self._number = number
        self._configured: list[str] = []
        self._turns = count(1)
        self._versions: dict[str, str] = {}
        self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})

    @property
    def here(self) -> str:
        """The path of the namespace in the core group."""
        return f"/api/v1/namespaces/{self.namespace}"

    def within(self, group_version: str) -> str:
        """The path of the namespace in another group."""
        return f"/apis/{group_version}/namespaces/{self.namespace}"

    @property
    def only_here(self) -> dict[str, Any]:
        """A selector of this namespace."""
        return {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}}

    def ask(
        self, method: str, path: str, body: Any = None, *, sends: str = JSON, as_user: str = ""
    ) -> tuple[int, Any, list[str]]:
        """Ask without recording it."""
        headers = {"authorization": f"Bearer {self._server.token}", "accept": JSON}
        if as_user:
            headers["impersonate-user"] = as_user
        if body is not None:
            headers["content-type"] = sends
            body = json.dumps(body).encode()
        response = self._server.call(method, path, body, headers)
        warnings = [value for name, value in response.headers if name.lower() == "warning"]
        is_json = response.body.startswith(b"{")  # a path that is not served answers in plain text
        return response.status, json.loads(response.body) if is_json else None, warnings

    def step(self, method: str, path: str, body: Any = None, **more: str) -> Any:
        """Send a request, and record the response and the calls of webhooks."""
        if method in ("PUT", "PATCH", "DELETE"):
            self._catch_up(path)
        self.hooks.forget()
        status, response, warnings = self.ask(method, path, body, **more)
        # A real server that writes from an outdated cache notices it, and asks once more.
        received = {
            _order(each): (each.path, each.query, each.review)
            for each in self.hooks.received
            if not each.path.startswith("ready") and self._concerns(each)
        }
        review = {
            "asked": f"{method} {path}",
            "status": status,
            "answer": response,
            "warnings": warnings,
            # Some are asked at the same time, and any may arrive first.
            "received": [received[each] for each in sorted(received)],
        }
        self.reviews.append(self._normal(review))
        return response

    def _concerns(self, received: ReceivedReview) -> bool:
        """Whether the scenario made it happen: elsewhere a server writes when it comes to it."""
        request = received.review["request"]
        who: str = request["userInfo"]["username"]
        where: str | None = request.get("namespace")
        return who != ITSELF or where == self.namespace

    def _catch_up(self, path: str) -> None:
        """Have the caches of a real server know the object: it asks about what they hold first."""
        root, version, *rest = path.partition("?")[0].removeprefix("/").split("/")
        if root == "apis":
            version, rest = f"{version}/{rest[0]}", rest[1:]
        there = "/".join((root, version, *rest[: 4 if rest[0] == "namespaces" and rest[3:] else 2]))
        status, found, _ = self.ask("GET", f"/{there}")
        if status == 200 and "name" in found["metadata"]:
            self.ask("GET", f"/{there}?resourceVersion={found['metadata']['resourceVersion']}")

    def webhook(self, path: str, script: Script | None = None, **more: Any) -> dict[str, Any]:
        """A webhook that looks at everything in this namespace, unless it says otherwise."""
        if script is not None:
            self.hooks.scripts[path] = script
        return {
            "name": f"{path}.example.com",
            "clientConfig": self.hooks.client_config(path),
            "rules": EVERYTHING,
            "namespaceSelector": self.only_here,
            "objectSelector": {"matchExpressions": [{"key": "ready", "operator": "DoesNotExist"}]},
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **more,
        }

    def configure(self, kind: str, *webhooks: Mapping[str, Any], name: str = "") -> None:
        """Have webhooks called from now on; ``kind`` is mutating or validating."""
        name = f"{name or 'scenario'}-{self._number}"
        path = f"{REGISTRATION}/{kind}webhookconfigurations"
        status, response, _ = self.ask(
            "POST", path, {"metadata": {"name": name}, "webhooks": webhooks}
        )
        assert status == 201, response
        self._configured.append(f"{path}/{name}")
        self.settle()

    def settle(self) -> None:
        """Until the server knows all configurations so far."""
        turn = f"{self._number}-{next(self._turns)}"
        paths: list[str] = []
        for kind in ("mutating", "validating"):
            ready = self.webhook(
                f"ready-{kind}-{turn}",
                objectSelector={"matchLabels": {"ready": turn}},
                rules=[{**EVERYTHING[0], "resources": ["configmaps"]}],
            )
            path = f"{REGISTRATION}/{kind}webhookconfigurations"
            body = {"metadata": {"name": f"zz-ready-{turn}"}, "webhooks": [ready]}
            assert self.ask("POST", path, body)[0] == 201
            paths.append(f"{path}/zz-ready-{turn}")
        probe = {"metadata": {"name": "ready", "labels": {"ready": turn}}}
        wanted = {f"ready-{kind}-{turn}" for kind in ("mutating", "validating")}
        until(
            lambda: (
                self.ask("POST", f"{self.here}/configmaps?dryRun=All", probe)[0] > 0
                and wanted <= {each.path for each in self.hooks.received}
            )
        )
        for path in paths:
            self.ask("DELETE", path)

    def policy(self, name: str, bindings: Sequence[Any] = ({},), **spec: Any) -> None:
        """Have a policy for ConfigMaps of this namespace that are labelled with its name."""
        rule = {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"]}
        constraints = {
            "resourceRules": [{**rule, "resources": ["configmaps"]}],
            "namespaceSelector": self.only_here,
            "objectSelector": {"matchLabels": {"policy": name}},
        }
        full = f"{self.namespace}-{name}"
        policies = f"{REGISTRATION}/validatingadmissionpolicies"
        body = {"metadata": {"name": full}, "spec": {"matchConstraints": constraints, **spec}}
        status, response, _ = self.ask("POST", policies, body)
        assert status == 201, response
        self._configured.append(f"{policies}/{full}")
        path = f"{REGISTRATION}/validatingadmissionpolicybindings"
        for number, binding in enumerate(bindings):
            about = {"name": f"{full}-{number}"}
            bound = {"policyName": full, "validationActions": ["Deny"], **binding}
            status, response, _ = self.ask("POST", path, {"metadata": about, "spec": bound})
            assert status == 201, response
            self._configured.append(f"{path}/{about['name']}")

    def settle_policies(self) -> None:
        """Until the server knows all policies so far, which it looks for every second."""
        turn = f"ready-{next(self._turns)}"
        bindings = [{"validationActions": ["Warn"]}]
        self.policy(turn, bindings, validations=[{"expression": "false", "message": turn}])
        probe = {"metadata": {"name": "ready", "labels": {"policy": turn}}}
        path = f"{self.here}/configmaps?dryRun=All"
        until(lambda: turn in str(self.ask("POST", path, probe)[2]))

    def leave(self) -> None:
        """Take away what would disturb others."""
        for path in self._configured:
            self.ask("DELETE", path)

    def _normal(self, review: Any) -> Any:
        text = without_chance(
            json.dumps(review, sort_keys=True), port=self.hooks.port, namespace=self.namespace
        )
        text = _VERSION.sub(
            lambda found: '"resourceVersion": "{}"'.format(
                self._versions.setdefault(found[1], f"version {len(self._versions) + 1}")
            ),
            text,
        )
        return _with_owners_in_order(json.loads(text))


def without_chance(text: str, *, port: int, namespace: str) -> str:
    """The text without values that differ on each run."""
    text = _MADE_UP.sub(r"\1XXXXX", _TIME.sub("TIME", _UID.sub("UID", text)))
    text = _RECORD.sub("in record (VERSION)", text)
    # With its colon: the same five digits may stand in a version.
    return text.replace(f":{port}", ":PORT").replace(namespace, "NAMESPACE")


def _with_owners_in_order(review: Any) -> Any:
    """Owners of fields stand in the order of their times, which depends on when seconds end."""
    if isinstance(review, list):
        return [_with_owners_in_order(each) for each in review]
    if not isinstance(review, dict):
        return review
    found = {name: _with_owners_in_order(value) for name, value in review.items()}
    if isinstance(owners := found.get("managedFields"), list):
        found["managedFields"] = sorted(owners, key=json.dumps)
    return found


def _order(received: ReceivedReview) -> tuple[str, str]:
    text = json.dumps(received.review, sort_keys=True)
    return received.path, _VERSION.sub("", _TIME.sub("", _UID.sub("", text)))


Scenario: TypeAlias = Callable[[Stage], None]


def until(holds: Callable[[], bool]) -> None:
    """Ask again and again, until a real server has done what it does in its own time."""
    clock = SystemClock()
    deadline_at = clock.monotonic() + READY_SECONDS
    while not holds():
        assert clock.monotonic() < deadline_at, "it never came about"


@contextmanager
def asked(cluster: ControlPlane) -> Iterator[HttpsServer]:
    """A cluster's server, as the administrator."""
    who = cluster.credentials
    server = HttpsServer(cluster.url, ca_file=str(who.ca_file), token=who.admin_token)
    with closing(server):
        yield server


def tell(scenario: Scenario, server: HttpsServer, *names: str, number: int) -> list[Any]:
    """What one server makes of a scenario."""
    with webhook_server(*names) as hooks:
        stage = Stage(server, hooks, number=number)
        try:
            scenario(stage)
        finally:
            stage.leave()
        return stage.reviews


def next_number() -> int:
    """A number for the next scenario, the same on both servers."""
    return next(_NUMBERS)


@pytest.fixture(scope="module")
def both(control_plane: ControlPlane) -> Iterator[tuple[HttpsServer, HttpsServer]]:
    """The real server, and the embedded one."""
    with (
        running_embedded_control_plane(clock=SystemClock()) as embedded,
        asked(control_plane) as first,
        asked(embedded) as second,
    ):
        yield first, second
