"""Random requests, valid and invalid, to every resource that a server serves."""

import copy
import json
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import yaml

from steersman.wire import Request
from steersman_cluster.apiserver import ApiServer
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas
from tests.fuzz.definitions import Definitions
from tests.fuzz.nonsense import (
    ACCEPTED,
    METHODS,
    PATCHES,
    PLACES,
    YAML_TRAPS,
)
from tests.fuzz.objects import Objects
from tests.fuzz.options import Options, Pairs
from tests.fuzz.patches import Patches
from tests.fuzz.values import Oddities
from tests.fuzz.wire_messages import Messages

TOKEN = "fuzz"
NAMESPACES = ("default", "fuzz-a", "fuzz-b")

_SAMPLES = Path(__file__).parents[1] / "recorded/differential/samples.yaml"
_DEFINITIONS = "customresourcedefinitions"


@dataclass(frozen=True, slots=True)
class Known:
    """An object from an earlier response."""

    served: ServedResource
    namespace: str
    name: str
    obj: dict[str, Any]


def samples() -> dict[str, list[dict[str, Any]]]:
    """Valid objects of most built-in kinds, by apiVersion and plural."""
    text = _SAMPLES.read_text(encoding="utf-8").replace("NAMESPACE", "default")
    return {
        name: found if isinstance(found, list) else [found]
        for name, found in yaml.safe_load(text).items()
    }


def path_of(served: ServedResource, namespace: str = "", name: str = "") -> str:
    """The path of a resource, or of one object."""
    gvk = served.gvk
    root = f"/apis/{gvk.group}/{gvk.version}" if gvk.group else f"/api/{gvk.version}"
    within = f"/namespaces/{namespace}" if served.namespaced and namespace else ""
    return f"{root}{within}/{served.plural}" + (f"/{name}" if name else "")


class RequestGenerator:
    """Generates requests, and remembers the objects of earlier responses."""

    def __init__(
        self, server: ApiServer, rng: Random, valid: dict[str, list[dict[str, Any]]]
    ) -> None:
        self._server = server
        self._rng = rng
        self._valid = valid
        self._odd = Oddities(rng)
        self._objects = Objects(rng)
        self._definitions = Definitions(rng)
        self._messages = Messages(rng)
        self._patches = Patches(rng)
        self._options = Options(rng)
        self._tokens = [TOKEN]
        self._continued: deque[str] = deque(maxlen=10)
        self._known: deque[Known] = deque(maxlen=60)

    def request(self) -> Request:
        """The next request."""
        rng = self._rng
        made = rng.choices(
            (
                self._create,
                self._define,
                self._update,
                self._patch,
                self._read,
                self._list,
                self._delete,
                self._act,
                self._elsewhere,
            ),
            (30, 4, 12, 22, 6, 12, 6, 4, 4),
        )[0]()
        return self._spoilt(made) if self._odd.chance(0.02) else made

    def seen(self, obj: Any) -> None:
        """Remember an object from a response."""
        if not isinstance(obj, dict) or not isinstance(about := obj.get("metadata"), dict):
            return
        if about.get("continue"):
            self._continued.append(about["continue"])
        if obj.get("kind") == "TokenRequest" and "token" in obj.get("status", {}):
            self._tokens = [TOKEN, obj["status"]["token"]]
        group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
        found = [
            each
            for each in self._server.registry
            if each.gvk.kind == obj.get("kind")
            and (each.gvk.group, each.gvk.version) == (group, version)
        ]
        if found and "name" in about and "uid" in about:
            # An object too deep to copy is too deep to mutate.
            with suppress(RecursionError):
                kept = copy.deepcopy(obj)
                place = about.get("namespace", ""), about["name"]
                self._known.append(Known(found[0], *place, kept))

    # One method for each sort of request.

    def _create(self) -> Request:
        served = self._served()
        namespace = self._namespace(served)
        obj = self._object(served)
        content_type, body = self._body(served, obj)
        return self._request("POST", path_of(served, namespace), body, content_type=content_type)

    def _define(self) -> Request:
        crd = self._definitions.definition()
        if self._odd.chance(0.4):
            self._odd.bend(crd["spec"], self._rng.randrange(1, 4))
        path = f"/apis/apiextensions.k8s.io/v1/{_DEFINITIONS}"
        name = crd["metadata"]["name"]
        match self._rng.randrange(6):
            case 0:
                return self._request("DELETE", f"{path}/{name}")
            case 1:
                return self._request(
                    "PATCH",
                    f"{path}/{name}",
                    self._odd.encoded({"spec": crd["spec"]}),
                    content_type=PATCHES["merge"],
                )
            case 2:
                return self._request(
                    "PATCH",
                    f"{path}/{name}",
                    self._odd.encoded(crd),
                    content_type=PATCHES["apply"],
                    query=[("fieldManager", "m"), ("force", "1")],
                )
            case _:
                return self._request("POST", path, self._odd.encoded(crd))

    def _update(self) -> Request:
        known = self._one_known()
        obj = copy.deepcopy(known.obj)
        if self._odd.chance(0.9):
            self._odd.bend(obj, self._rng.randrange(1, 4))
        if self._odd.chance(0.2) and isinstance(obj.get("metadata"), dict):
            obj["metadata"].pop("resourceVersion", None)
        content_type, body = self._body(known.served, obj)
        path = path_of(known.served, known.namespace, known.name)
        sub = self._part_of(known.served)
        return self._request("PUT", path + sub, body, content_type=content_type)

    def _patch(self) -> Request:
        known = self._one_known()
        language = self._rng.choice(tuple(PATCHES))
        query: Pairs = []
        match language:
            case "json":
                patch: Any = self._patches.json_patch(known.obj)
            case "merge":
                patch = self._part(known)
            case "strategic":
                patch = self._part(known)
                self._patches.direct(patch)
            case _:
                patch = self._part(known)
                patch |= {name: known.obj.get(name) for name in ("kind", "apiVersion")}
                query.append(("fieldManager", self._rng.choice(("one", "two", self._odd.text()))))
                if self._odd.chance(0.5):
                    query.append(("force", self._rng.choice(("true", "1", "false", "x"))))
        body = self._odd.encoded(patch)
        if language == "apply" and self._odd.chance(0.1):
            body = self._rng.choice(YAML_TRAPS)
        path = path_of(known.served, known.namespace, known.name)
        if language == "apply" and self._odd.chance(0.3):
            path = path_of(known.served, known.namespace, self._name())
        sub = self._part_of(known.served)
        return self._request("PATCH", path + sub, body, content_type=PATCHES[language], query=query)

    def _read(self) -> Request:
        known = self._one_known()
        sub = self._part_of(known.served)
        path = path_of(known.served, known.namespace, known.name) + sub
        return self._request("GET", path, query=self._list_query() if self._odd.chance(0.3) else [])

    def _list(self) -> Request:
        served = self._served()
        namespace = self._rng.choice(("", self._namespace(served)))
        return self._request("GET", path_of(served, namespace), query=self._list_query())

    def _delete(self) -> Request:
        known = self._one_known()
        if self._odd.chance(0.1):
            path = path_of(known.served, known.namespace)
            return self._request("DELETE", path, query=self._list_query())
        path = path_of(known.served, known.namespace, known.name)
        rng = self._rng
        if self._odd.chance(0.4):
            return self._request("DELETE", path)
        options: dict[str, Any] = {
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "gracePeriodSeconds": rng.choice((0, 1, 30, -1)),
            "propagationPolicy": rng.choice(("Foreground", "Orphan", "Background")),
        }
        if self._odd.chance(0.3):
            uid = known.obj.get("metadata", {}).get("uid")
            options["preconditions"] = {"uid": rng.choice((uid, "x"))}
        if self._odd.chance(0.4):
            self._odd.bend(options, 1)
        if self._odd.chance(0.3):
            query = [
                (name, str(value) if self._odd.chance(0.8) else self._odd.text())
                for name, value in options.items()
            ]
            return self._request("DELETE", path, query=_printable(query))
        return self._request("DELETE", path, self._odd.encoded(options))

    def _act(self) -> Request:
        """POST to a subresource that does something."""
        served = self._rng.choice([each for each in self._server.registry if each.subresources])
        sub = self._rng.choice(tuple(served.subresources))
        gvk = served.kind_of(sub)
        same = [each for each in self._known if each.served is served]
        where = self._rng.choice(same) if same else self._one_known()
        body: Any = {"kind": gvk.kind, "apiVersion": gvk.api_version}
        try:
            schema = BuiltinSchemas.read().of(gvk)
            body |= self._objects.of(schema)
        except KeyError:
            pass
        body |= {"kind": gvk.kind, "apiVersion": gvk.api_version}
        if self._odd.chance(0.3):
            self._odd.bend(body, 1)
        path = f"{path_of(served, where.namespace, where.name)}/{sub}"
        return self._request(
            self._rng.choice(("POST", "PUT", "GET")), path, self._odd.encoded(body)
        )

    def _elsewhere(self) -> Request:
        """A request to a path that is no resource, or to a resource that does not exist."""
        rng = self._rng
        path = rng.choice(PLACES)
        if self._odd.chance(0.2):
            path += "/" + _text_of_a_path(self._odd.text())
        if self._odd.chance(0.2):
            parts = path.split("/")
            parts.insert(rng.randrange(len(parts) + 1), _text_of_a_path(self._odd.text()))
            path = "/".join(parts)
        method = rng.choice(METHODS) if self._odd.chance(0.4) else "GET"
        return self._request(method, path, self._odd.encoded(self._odd.value()))

    # The parts of requests.

    def _request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        content_type: str = "application/json",
        query: Pairs | None = None,
    ) -> Request:
        rng, query = self._rng, list(query or [])
        headers: Pairs = [("Authorization", f"Bearer {rng.choice(self._tokens)}")]
        if body is not None:
            headers.append(("Content-Type", content_type))
        if self._odd.chance(0.04):
            headers.append(("Accept", rng.choice(ACCEPTED)))
        if self._odd.chance(0.08):
            headers += self._options.impersonated()
        if self._odd.chance(0.1):
            agents = ("kubectl/v1.36", "curl/8", "", "é/1", "a" * 300, "\x7f\x01x")
            headers.append(("User-Agent", rng.choice(agents)))
        if method in ("POST", "PUT", "PATCH") and self._odd.chance(0.2):
            query += self._options.of_a_write()
        return Request(
            method=method,
            path=_text_of_a_path(path),
            query=tuple(_printable(query)),
            headers=tuple(headers),
            body=body,
        )

    def _list_query(self) -> Pairs:
        revision = self._server.store.log.revision
        return self._options.of_a_list(revision=revision, tokens=self._continued)

    def _served(self) -> ServedResource:
        every = list(self._server.registry)
        custom = [each for each in every if each.custom]
        return self._rng.choice(custom if custom and self._odd.chance(0.25) else every)

    def _part_of(self, served: ServedResource) -> str:
        """A subresource as the end of a path; or ``""``."""
        if self._odd.chance(0.02):
            return f"/{self._rng.choice(('status', 'scale', self._odd.text()))}"
        if not served.subresources or self._odd.chance(0.6):
            return ""
        return f"/{self._rng.choice(tuple(served.subresources))}"

    def _namespace(self, served: ServedResource) -> str:
        if not served.namespaced:
            return ""
        if self._odd.chance(0.03):
            return _text_of_a_path(self._odd.text())
        return self._rng.choice(NAMESPACES)

    def _name(self) -> str:
        return self._odd.word() if self._odd.chance(0.9) else self._odd.text()

    def _object(self, served: ServedResource) -> dict[str, Any]:
        gvk = served.gvk
        valid = self._valid.get(f"{gvk.api_version} {served.plural}")
        if gvk.kind == "CustomResourceDefinition":
            obj = self._definitions.definition()
        elif valid and self._odd.chance(0.7):
            obj = copy.deepcopy(self._rng.choice(valid))
            if self._odd.chance(0.2):
                obj |= {"spec": self._objects.of(served.schema).get("spec")}
        else:
            made = self._objects.of(served.schema)
            obj = made if isinstance(made, dict) else {}
        about = obj.get("metadata") if self._odd.chance(0.3) else None
        about = obj["metadata"] = about if isinstance(about, dict) else {}
        about["name"] = about.get("name") or self._name()
        if gvk.kind == "CustomResourceDefinition" and "spec" in obj:
            about["name"] = f"{obj['spec']['names']['plural']}.{obj['spec']['group']}"
        if self._odd.chance(0.1):
            about["generateName"] = about.pop("name")
        if self._odd.chance(0.15):
            about["finalizers"] = ["example.com/hold"]
        if self._odd.chance(0.3):
            about["labels"] = {"a": self._rng.choice("bc"), "x": "y"}
        for unwanted in ("namespace", "resourceVersion"):
            if self._odd.chance(0.9):
                about.pop(unwanted, None)
        obj |= {"kind": gvk.kind, "apiVersion": gvk.api_version}
        if self._odd.chance(0.45):
            self._odd.bend(obj, self._rng.randrange(1, 4))
        return obj

    def _body(self, served: ServedResource, obj: dict[str, Any]) -> tuple[str, bytes]:
        rng, gvk = self._rng, served.gvk
        if self._odd.chance(0.04):
            body = self._messages.body(served.schema, api_version=gvk.api_version, kind=gvk.kind)
            return "application/vnd.kubernetes.protobuf", body
        if self._odd.chance(0.02):
            return "application/yaml", rng.choice(YAML_TRAPS)
        if self._odd.chance(0.01):
            types = (
                "text/plain",
                "",
                "application/json; charset=latin-1",
                ";;",
                "APPLICATION/JSON",
            )
            return rng.choice(types), self._odd.encoded(obj)
        body = self._odd.encoded(self._odd.value() if self._odd.chance(0.01) else obj)
        return rng.choice(("application/json",) * 9 + ("application/yaml",)), body

    def _one_known(self) -> Known:
        if self._known and self._odd.chance(0.97):
            return self._rng.choice(self._known)
        served = self._served()
        gvk = served.gvk
        obj = {"kind": gvk.kind, "apiVersion": gvk.api_version, "metadata": {"name": "a"}}
        return Known(served, self._namespace(served), self._name(), obj)

    def _part(self, known: Known) -> dict[str, Any]:
        """Some fields that an object of that kind may have."""
        obj = self._object(known.served) if self._odd.chance(0.6) else copy.deepcopy(known.obj)
        if isinstance(about := obj.get("metadata"), dict):
            for name in ("resourceVersion", "uid", "name", "namespace", "managedFields"):
                if self._odd.chance(0.85):
                    about.pop(name, None)
        for name in tuple(obj):
            if self._odd.chance(0.3):
                del obj[name]
        return obj

    def _spoilt(self, request: Request) -> Request:
        rng = self._rng
        method, path, headers = request.method, request.path, list(request.headers)
        body = request.body
        match rng.randrange(5):
            case 0:
                method = rng.choice(METHODS)
            case 1:
                at = rng.randrange(len(path) + 1)
                path = path[:at] + _text_of_a_path(self._odd.text()) + path[at:]
            case 2:
                odd = ("", "Bearer", "Bearer x", "Basic eDp4", "Bearer a.b.c", "Bearer é")
                headers[0] = ("Authorization", rng.choice(odd))
            case 3:
                body = None if body else self._odd.encoded(self._odd.value())
            case _:
                body = self._odd.garbled(body or b"")
        return Request(
            method=method, path=path, query=request.query, headers=tuple(headers), body=body
        )


def _text_of_a_path(text: str) -> str:
    """The path as it arrives on a socket, where any bytes are decoded to text."""
    return text.encode("utf-8", "replace").decode()


def _printable(query: Pairs) -> Pairs:
    return [(_text_of_a_path(name), _text_of_a_path(str(value))) for name, value in query]


def in_words(request: Request) -> str:
    """A request for people to read and to repeat."""
    body = None if request.body is None else request.body[:900]
    shown = {"headers": [pair for pair in request.headers if pair[0] != "Authorization"]}
    return f"{request.method} {request.target} {json.dumps(shown)}\n    body={body!r}"
