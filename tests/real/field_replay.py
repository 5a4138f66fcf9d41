"""The same writes on the real server and with steersman's field management."""

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
from steersman_cluster.testing.calls import HttpCaller
from tests.real.field_scenarios import TRIAL, Object, Step

GROUP = "fields.example.com"
NAME = "it"

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"

_APPLIES = ("apply", "force")
_KEPT_BY_SERVER = ("resourceVersion", "generation")

_KINDS = {
    "ConfigMap": ("", "configmaps", ("v1",)),
    "Service": ("", "services", ("v1",)),
    "Deployment": ("apps", "deployments", ("v1",)),
    "Trial": (GROUP, "trials", ("v1", "v2")),
}
# What the server fills in when no manager can own it any more.
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
    """What came of one write: the managers and the object, or why not."""

    code: int
    managed: Any = None
    why: str = ""
    causes: tuple[str, ...] = ()
    wrote: bool = True


@dataclass(frozen=True, kw_only=True)
class Sides:
    """Both servers, and one object."""

    api: HttpCaller
    namespace: str
    kind: str

    def real(self, step: Step, before: Object | None) -> tuple[Outcome, Object]:
        """What the real server makes of a write."""
        path = self._path(step)
        query = f"?fieldManager={step.manager}&force={str(step.verb == 'force').lower()}"
        match step.verb:
            case "create":
                path = path.rpartition("/")[0] + f"?fieldManager={step.manager}"
                response = self.api.call("POST", path, self._body(step))
            case "put":
                path = f"{path}?fieldManager={step.manager}"
                response = self.api.call("PUT", path, self.sent(step))
            case "merge":
                path = f"{path}?fieldManager={step.manager}"
                response = self.api.call("PATCH", path, step.body, sends=MERGE)
            case _:
                response = self.api.call("PATCH", path + query, self._body(step), sends=APPLY)
        found = response.json()
        if response.status >= 400:
            return _refused(found), found
        changed = before is None or _version(before) != _version(found)
        return _done(found, wrote=changed or step.verb not in _APPLIES), found

    def ours(self, step: Step, before: Object | None, after: Object) -> tuple[Outcome, Object]:
        """What our functions make of it, given the object as the real server had it before.

        For a write that is no apply the real answer is what was written, apart from the managers.
        """
        management = self._management(step)
        entries = after["metadata"].get("managedFields", [])
        time = max((entry.get("time", "") for entry in entries), default="")
        try:
            if step.verb in _APPLIES:
                result = management.apply(
                    before,
                    copy.deepcopy(self._body(step)),
                    manager=step.manager,
                    force=step.verb == "force",
                    time=time,
                )
            else:
                result = self._written(step, before, after)
                management.update(before, result, manager=step.manager, time=time)
        except StatusError as refusal:
            return _refused(refusal.status()), refusal.status()
        wrote = before is None or (result is not before and self._tidied(result) != before)
        return _done(result, wrote=wrote or step.verb not in _APPLIES), result

    def read(self, version: str = "v1") -> Object | None:
        """The object, if it is there."""
        response = self.api.call("GET", self._path(Step(verb="get", manager="", version=version)))
        found: Object = response.json()
        return found if response.status == 200 else None

    def written_by(self, step: Step, result: Object) -> Object:
        """What of our result the server writes: a status as such, everything else otherwise."""
        parts = {"status"} if step.subresource == "status" else set(result) - {"status"}
        kept = {name: result[name] for name in parts if name != "metadata"}
        metadata = result["metadata"]
        if step.subresource:
            return kept
        if self.kind == "Trial" and "half" in (result.get("spec") or {}):
            kept["spec"] = {**result["spec"], "half": {}}  # parts of it are pruned
        ours = {key: metadata[key] for key in metadata if key not in _KEPT_BY_SERVER}
        return {**kept, "metadata": ours}

    def _tidied(self, result: Object) -> Object:
        """Built-in objects have no empty maps at the top."""
        if self.kind == "Trial":
            return result
        return {name: value for name, value in result.items() if value not in (None, {})}

    def sent(self, step: Step) -> Object:
        """What a client puts that has read the object and changed something."""
        obj = self.read(step.version)
        assert obj is not None
        assert step.change is not None
        step.change(obj)
        return obj

    def _written(self, step: Step, before: Object | None, after: Object) -> Object:
        new = copy.deepcopy(after)
        for name in _ALLOCATED.get(self.kind, ()) if before is None else ():
            new["spec"].pop(name, None)
        sent: Object = before or {"metadata": {}}
        if step.verb == "put":
            sent = copy.deepcopy(sent)
            assert step.change is not None
            step.change(sent)
        new["metadata"].pop("managedFields", None)
        if "managedFields" in sent["metadata"]:
            new["metadata"]["managedFields"] = sent["metadata"]["managedFields"]
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

    def _management(self, step: Step) -> FieldManager:
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


def _refused(status: Object) -> Outcome:
    causes = status.get("details", {}).get("causes", [])
    return Outcome(
        code=status["code"],
        # Several errors come in any order.
        why="\n".join(sorted(status["message"].split("\n  "))),
        causes=tuple(sorted(f"{each['message']}: {each['field']}" for each in causes)),
    )


def _done(obj: Object, *, wrote: bool) -> Outcome:
    # As text, because the order counts, too; in custom resources all keys are in one order.
    managed = json.dumps(obj["metadata"].get("managedFields", []), sort_keys=obj["kind"] == "Trial")
    return Outcome(code=200, managed=managed, wrote=wrote)


def _version(obj: Object) -> str:
    return str(obj["metadata"]["resourceVersion"])
