"""Compares managed fields of the real server and of steersman after the same writes."""

import copy
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from steersman.names import GroupResource, GroupVersionKind
from steersman_cluster.apiserver.apply.field_manager import FieldManager
from steersman_cluster.apiserver.meta.reset_fields import reset_fields
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.schema.builtin_schemas import OBJECT_META, BuiltinSchemas
from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.schema.structural import compile_schema
from tests.recorded.field_scenarios import TRIAL, Object, Step
from tests.recorded.module_recording import RecordedCaller

GROUP = "fields.example.com"
NAME = "it"

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"

_APPLIES = ("apply", "force")
_SET_BY_SERVER = ("resourceVersion", "generation")

_KINDS = {
    "ConfigMap": ("", "configmaps", ("v1",)),
    "Service": ("", "services", ("v1",)),
    "Deployment": ("apps", "deployments", ("v1",)),
    "Trial": (GROUP, "trials", ("v1", "v2")),
}
# Fields that the real server sets after it has computed the managed fields.
_ALLOCATED = {"Service": ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")}

DEFINITION: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"trials.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"kind": "Trial", "plural": "trials", "singular": "trial", "listKind": "Trials"},
        "versions": [
            {
                "name": version,
                "served": True,
                "storage": version == "v1",
                "schema": {"openAPIV3Schema": TRIAL},
                "subresources": {"status": {}},
            }
            for version in ("v1", "v2")
        ],
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one write: the managed fields, or the error."""

    code: int
    managed: Any = None
    message: str = ""
    causes: tuple[str, ...] = ()
    wrote: bool = True


@dataclass(frozen=True, kw_only=True)
class FieldComparison:
    """Writes an object on the real server, and computes the same with steersman."""

    api: RecordedCaller
    namespace: str
    kind: str

    def real_outcome(self, step: Step, before: Object | None) -> tuple[Outcome, Object]:
        """The outcome of a write on the real server."""
        path = self._path(step)
        query = f"?fieldManager={step.manager}&force={str(step.verb == 'force').lower()}"
        match step.verb:
            case "create":
                path = path.rpartition("/")[0] + f"?fieldManager={step.manager}"
                response = self.api.call("POST", path, self._body(step))
            case "put":
                path = f"{path}?fieldManager={step.manager}"
                response = self.api.call("PUT", path, self.put_body(step))
            case "merge":
                path = f"{path}?fieldManager={step.manager}"
                response = self.api.call("PATCH", path, step.body, sends=MERGE)
            case _:
                response = self.api.call("PATCH", path + query, self._body(step), sends=APPLY)
        found = response.json()
        if response.status >= 400:
            return _failure(found), found
        changed = before is None or _version(before) != _version(found)
        return _success(found, wrote=changed or step.verb not in _APPLIES), found

    def steersman_outcome(
        self, step: Step, before: Object | None, after: Object
    ) -> tuple[Outcome, Object]:
        """The outcome with steersman, given the objects of the real server before and after it.

        For a write other than an apply, only the managed fields of ``after`` are computed.
        """
        field_manager = self._field_manager(step)
        entries = after["metadata"].get("managedFields", [])
        time = max((entry.get("time", "") for entry in entries), default="")
        try:
            if step.verb in _APPLIES:
                result = field_manager.apply(
                    before,
                    copy.deepcopy(self._body(step)),
                    manager=step.manager,
                    force=step.verb == "force",
                    time=time,
                )
            else:
                result = self._stored_object(step, before, after)
                field_manager.update(before, result, manager=step.manager, time=time)
        except StatusError as error:
            return _failure(error.status()), error.status()
        wrote = before is None or (
            result is not before and self._without_empty_maps(result) != before
        )
        return _success(result, wrote=wrote or step.verb not in _APPLIES), result

    def read(self, version: str = "v1") -> Object | None:
        """The object, or None if it does not exist."""
        response = self.api.call("GET", self._path(Step(verb="get", manager="", version=version)))
        found: Object = response.json()
        return found if response.status == 200 else None

    def without_server_fields(self, step: Step, result: Object) -> Object:
        """The part of the result that the server stores: the status, or all but the status."""
        parts = {"status"} if step.subresource == "status" else set(result) - {"status"}
        kept = {name: result[name] for name in parts if name != "metadata"}
        metadata = result["metadata"]
        if step.subresource:
            return kept
        if self.kind == "Trial" and "half" in (result.get("spec") or {}):
            kept["spec"] = {**result["spec"], "half": {}}  # partly pruned
        stored = {key: metadata[key] for key in metadata if key not in _SET_BY_SERVER}
        return {**kept, "metadata": stored}

    def _without_empty_maps(self, result: Object) -> Object:
        """The result as a built-in kind encodes it: without empty maps at the top level."""
        if self.kind == "Trial":
            return result
        return {name: value for name, value in result.items() if value not in (None, {})}

    def put_body(self, step: Step) -> Object:
        """The object with the change of the step."""
        obj = self.read(step.version)
        assert obj is not None
        assert step.change is not None
        step.change(obj)
        return obj

    def _stored_object(self, step: Step, before: Object | None, after: Object) -> Object:
        new = copy.deepcopy(after)
        for name in _ALLOCATED.get(self.kind, ()) if before is None else ():
            new["spec"].pop(name, None)
        put_body: Object = before or {"metadata": {}}
        if step.verb == "put":
            put_body = copy.deepcopy(put_body)
            assert step.change is not None
            step.change(put_body)
        new["metadata"].pop("managedFields", None)
        if "managedFields" in put_body["metadata"]:
            new["metadata"]["managedFields"] = put_body["metadata"]["managedFields"]
        return new

    def _body(self, step: Step) -> Object:
        gvk = self._gvk(step.version)
        body: Object = {"apiVersion": gvk.api_version, "kind": gvk.kind, **step.body}
        return {**body, "metadata": {"name": NAME, **body.get("metadata", {})}}

    def _gvk(self, version: str) -> GroupVersionKind:
        return GroupVersionKind(group=_KINDS[self.kind][0], version=version, kind=self.kind)

    def _path(self, step: Step) -> str:
        group, plural, _ = _KINDS[self.kind]
        root = f"/apis/{group}/{step.version}" if group else f"/api/{step.version}"
        path = f"{root}/namespaces/{self.namespace}/{plural}/{NAME}"
        return f"{path}/{step.subresource}" if step.subresource else path

    def _field_manager(self, step: Step) -> FieldManager:
        group, plural, versions = _KINDS[self.kind]
        return FieldManager(
            gvk=self._gvk(step.version),
            schemas={self._gvk(each).api_version: self._schema(each) for each in versions},
            subresource=step.subresource,
            reset=reset_fields(
                GroupResource(group, plural),
                step.subresource,
                has_status=self.kind != "ConfigMap",
                custom=group == GROUP,
            ),
        )

    def _schema(self, version: str) -> Schema:
        if self.kind == "Trial":
            return compile_schema(TRIAL, object_meta=self._schemas.named(OBJECT_META))
        return self._schemas.of(self._gvk(version))

    @cached_property
    def _schemas(self) -> BuiltinSchemas:
        return BuiltinSchemas.read()


def _failure(status: Object) -> Outcome:
    causes = status.get("details", {}).get("causes", [])
    return Outcome(
        code=status["code"],
        # The order of errors is random.
        message="\n".join(sorted(status["message"].split("\n  "))),
        causes=tuple(sorted(f"{each['message']}: {each['field']}" for each in causes)),
    )


def _success(obj: Object, *, wrote: bool) -> Outcome:
    # As text, to compare the order of keys, which is random only in custom resources.
    managed = json.dumps(obj["metadata"].get("managedFields", []), sort_keys=obj["kind"] == "Trial")
    return Outcome(code=200, managed=managed, wrote=wrote)


def _version(obj: Object) -> str:
    return str(obj["metadata"]["resourceVersion"])
