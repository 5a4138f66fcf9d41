"""The paths of an OpenAPI document: the operations on each resource."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.discovery.discovered_resources import DiscoveredResource
from steersman_cluster.apiserver.request.negotiation import JSON
from steersman_cluster.apiserver.schema.builtin_schemas import META, REF

Json: TypeAlias = dict[str, Any]
# Returns the full name of the schema; None for a kind without one, such as PodExecOptions.
NameOf: TypeAlias = Callable[[GroupVersionKind], str | None]

STATUS = f"{META}.Status"
DELETE_OPTIONS = f"{META}.DeleteOptions"
PATCH = f"{META}.Patch"
WATCH_EVENT = f"{META}.WatchEvent"
API_RESOURCE_LIST = f"{META}.APIResourceList"

# Kinds whose DELETE returns the object; that of other kinds returns a Status.
_KINDS_RETURNED_BY_DELETE = frozenset(
    (
        "CSIDriver",
        "CSINode",
        "DeviceClass",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "Pod",
        "PodTemplate",
        "ResourceClaim",
        "ResourceClaimTemplate",
        "ResourceQuota",
        "ResourceSlice",
        "Service",
        "ServiceAccount",
        "StorageClass",
        "VolumeAttachment",
        "VolumeAttributesClass",
    )
)

_LIST = (
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeoutSeconds",
)
_WRITE = ("dryRun", "fieldManager", "fieldValidation")
_DELETE = (
    "dryRun",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "orphanDependents",
    "propagationPolicy",
)
_TYPES = {
    "allowWatchBookmarks": "boolean",
    "force": "boolean",
    "gracePeriodSeconds": "integer",
    "ignoreStoreReadErrorWithClusterBreakingPotential": "boolean",
    "limit": "integer",
    "orphanDependents": "boolean",
    "sendInitialEvents": "boolean",
    "timeoutSeconds": "integer",
    "watch": "boolean",
}
_MEANINGS = {200: "OK", 201: "Created", 202: "Accepted"}


class _Verb(NamedTuple):
    """The OpenAPI form of a discovery verb."""

    method: str
    action: str
    word: str  # the first word of the operation id
    parameters: tuple[str, ...] = ()
    codes: tuple[int, ...] = (200,)


_ON_COLLECTIONS = {
    "list": _Verb("get", "list", "list", (*sorted((*_LIST, "allowWatchBookmarks", "watch")),)),
    "create": _Verb("post", "post", "create", _WRITE, (200, 201, 202)),
    "deletecollection": _Verb(
        "delete", "deletecollection", "delete", (*sorted((*_LIST, *_DELETE)),)
    ),
}
_ON_OBJECTS = {
    "get": _Verb("get", "get", "read"),
    "update": _Verb("put", "put", "replace", _WRITE, (200, 201)),
    "delete": _Verb("delete", "delete", "delete", _DELETE, (200, 202)),
    "patch": _Verb("patch", "patch", "patch", (*_WRITE, "force"), (200, 201)),
}
_ON_SUBRESOURCES = {**_ON_OBJECTS, "create": _ON_COLLECTIONS["create"]}
# kube-apiserver describes these verbs of custom resources differently.
_ON_CUSTOM = {
    "get": _Verb("get", "get", "read", ("resourceVersion",)),
    "patch": _ON_OBJECTS["patch"]._replace(codes=(200,)),
    "deletecollection": _ON_COLLECTIONS["deletecollection"]._replace(
        parameters=_ON_COLLECTIONS["list"].parameters
    ),
}


def root_of(group: str, version: str) -> str:
    """Return the root path of an API group version: ``api/v1``, ``apis/apps/v1``."""
    return f"apis/{group}/{version}" if group else f"api/{version}"


def paths_of(resource: DiscoveredResource, name_of: NameOf) -> Iterator[tuple[str, Json]]:
    """Yield the paths of ``resource`` and of its subresources, each with its operations.

    ``name_of`` returns the name of a kind's schema, or None for a kind without a schema. Paths
    without a schema are omitted.
    """
    gvk = resource.gvk
    if (schema := name_of(gvk)) is None:
        return
    root = f"/{root_of(gvk.group, gvk.version)}"
    scope = "Namespaced" if resource.namespaced else ""
    collection = f"{root}{'/namespaces/{namespace}' if scope else ''}/{resource.plural}"
    here = _Target(resource=resource, gvk=gvk, schema=schema, scope=scope)
    if operations := here.operations(_ON_COLLECTIONS, resource.verbs):
        yield collection, operations
    if operations := here.operations(_ON_OBJECTS, resource.verbs, named=True):
        yield f"{collection}/{{name}}", operations
    if scope and "list" in resource.verbs:
        everywhere = here._replace(scope="", suffix="ForAllNamespaces")
        yield f"{root}/{resource.plural}", everywhere.operations(_ON_COLLECTIONS, ("list",))
    for each in resource.subresources:
        # The log is plain text and has no schema.
        if each.name != "log" and (schema := name_of(each.gvk)) is not None:
            part = here._replace(gvk=each.gvk, schema=schema, suffix=each.name.capitalize())
            operations = part.operations(_ON_SUBRESOURCES, each.verbs, named=True)
            yield f"{collection}/{{name}}/{each.name}", operations


def operation_prefix(group: str, version: str) -> str:
    """Return the part of operation ids that names the group version: ``AppsV1``, ``CoreV1``."""
    words = group.removesuffix(".k8s.io").replace("-", ".").split(".") if group else ["core"]
    return "".join(_capital(word) for word in [*words, version])


class _Target(NamedTuple):
    """The resource, kind and schema of the operations at one path."""

    resource: DiscoveredResource
    gvk: GroupVersionKind
    schema: str
    scope: str
    suffix: str = ""

    def operations(
        self, known: dict[str, _Verb], verbs: tuple[str, ...], *, named: bool = False
    ) -> Json:
        if self.resource.custom:
            known = {**known, **{verb: _ON_CUSTOM[verb] for verb in known if verb in _ON_CUSTOM}}
        operations = {
            known[verb].method: self._operation(known[verb]) for verb in verbs if verb in known
        }
        if not operations:
            return {}
        in_path = [*(["name"] if named else []), *(["namespace"] if self.scope else [])]
        common = [
            *({**_parameter(name, "path"), "required": True} for name in in_path),
            _parameter("pretty"),
        ]
        if len(operations) == 1:
            # All parameters of a single operation are parameters of the path.
            (only,) = operations.values()
            common = sorted([*common, *only.pop("parameters", ())], key=lambda each: each["name"])
        return {**operations, "parameters": common}

    def _operation(self, verb: _Verb) -> Json:
        own = self.resource.gvk
        about = own if self.resource.custom else self.gvk
        middle = operation_prefix(own.group, own.version)
        if verb.action == "deletecollection":
            middle += "Collection"
        operation: Json = {
            "tags": [_tag(own)],
            "operationId": f"{verb.word}{middle}{self.scope}{own.kind}{self.suffix}",
            "responses": self._responses(verb),
            "x-kubernetes-action": verb.action,
            "x-kubernetes-group-version-kind": {
                "group": about.group,
                "version": about.version,
                "kind": about.kind,
            },
        }
        if verb.parameters:
            operation["parameters"] = [_parameter(name) for name in verb.parameters]
        if (body := self._body(verb)) is not None:
            operation["requestBody"] = body
        return operation

    def _body(self, verb: _Verb) -> Json | None:
        match verb.method:
            case "post" | "put":
                return {"content": self._content(self.schema), "required": True}
            case "delete" if self.resource.custom and verb.action == "deletecollection":
                return None
            case "delete":
                return {"content": self._content(DELETE_OPTIONS)}
            case "patch":
                kinds = ["apply-patch+yaml", "json-patch+json", "merge-patch+json"]
                if not self.resource.custom:
                    kinds.append("strategic-merge-patch+json")
                content = {f"application/{kind}": {"schema": _ref(PATCH)} for kind in kinds}
                return {"content": content, "required": True}
            case _:
                return None

    def _responses(self, verb: _Verb) -> Json:
        content = self._content(self._response_schema(verb))
        if verb.action == "list" and not self.resource.custom:
            content["application/json;stream=watch"] = content["application/json"]
        responses = {
            str(code): {"description": _MEANINGS[code], "content": content} for code in verb.codes
        }
        if self.resource.custom:
            return {**responses, "401": {"description": "Unauthorized"}}
        error = {"description": "Error", "content": _json(STATUS)}
        return {**responses, "default": error}

    def _content(self, name: str) -> Json:
        content = _json(name)
        return {**content, "application/yaml": content[JSON]} if self.resource.custom else content

    def _response_schema(self, verb: _Verb) -> str:
        match verb.action:
            case "list":
                return f"{self.schema}List"
            case "deletecollection":
                return STATUS
            case "delete":
                is_object = self.gvk.kind in _KINDS_RETURNED_BY_DELETE and not self.resource.custom
                return self.schema if is_object else STATUS
            case _:
                return self.schema


def _tag(gvk: GroupVersionKind) -> str:
    prefix = operation_prefix(gvk.group, "")
    return f"{prefix[0].lower()}{prefix[1:]}_{gvk.version}"


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]


def _parameter(name: str, place: str = "query") -> Json:
    schema = {"type": _TYPES.get(name, "string"), "uniqueItems": True}
    return {"name": name, "in": place, "schema": schema}


def _ref(name: str) -> Json:
    return {"$ref": f"{REF}{name}"}


def _json(name: str) -> Json:
    return {JSON: {"schema": _ref(name)}}
