"""RequestInfo: the verb, resource, namespace and name in the path and query of a request."""

import msgspec

from steersman.names import GroupResource
from steersman.wire import Request

# The verb of each method, for one object and for a collection.
_VERBS = {
    "GET": ("get", "list"),
    "HEAD": ("get", "list"),
    "POST": ("create", "create"),
    "PUT": ("update", "update"),
    "PATCH": ("patch", "patch"),
    "DELETE": ("delete", "deletecollection"),
}

# Subresources of namespaces; any other path segment after a namespace is a resource in it.
_OF_NAMESPACES = frozenset(("status", "finalize"))

# Values of a query parameter that are false; all others are true, even "".
FALSE = frozenset(("0", "false"))


# A struct, because one is created for every request: a frozen dataclass takes ten times as long.
class RequestInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The parsed path and query of a request; ``resource`` is empty for a non-resource path."""

    verb: str
    path: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    rest: tuple[str, ...] = ()  # what follows the subresource: the path of a proxied request
    query: dict[str, list[str]] = {}

    @property
    def group_resource(self) -> GroupResource:
        """The resource without its version."""
        return GroupResource(self.group, self.resource)

    def option(self, name: str) -> str:
        """Return the first value of the query parameter ``name``."""
        return self.query[name][0] if name in self.query else ""

    def flag(self, name: str) -> bool:
        """Return whether the query parameter ``name`` is present and true."""
        return name in self.query and self.query[name][0].lower() not in FALSE


def parse_request_info(request: Request) -> RequestInfo:
    """Parse the path and query; the verb of a non-resource path is the method."""
    query: dict[str, list[str]] = {}
    for option, value in request.query:
        if option in query:
            query[option].append(value)
        else:
            query[option] = [value]
    parts = [part for part in request.path.split("/") if part]
    group, version, rest = _coordinates(parts)
    if not version or not rest:
        return RequestInfo(verb=request.method.lower(), path=request.path, query=query)
    # The deprecated path prefix of watches.
    is_watch = rest[0] == "watch" and len(rest) > 1
    if is_watch:
        rest = rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _OF_NAMESPACES:
            rest = rest[2:]
    resource, name, subresource, *_ = *rest, "", ""
    verb = _VERBS.get(request.method, (request.method.lower(),) * 2)[0 if name else 1]
    if is_watch or (verb == "list" and "watch" in query and query["watch"][0].lower() not in FALSE):
        verb = "watch"
    return RequestInfo(
        verb=verb,
        path=request.path,
        group=group,
        version=version,
        resource=resource,
        subresource=subresource,
        namespace=namespace,
        name=name,
        rest=tuple(rest[3:]),
        query=query,
    )


def _coordinates(parts: list[str]) -> tuple[str, str, list[str]]:
    if len(parts) >= 2 and parts[0] == "api":
        return "", parts[1], parts[2:]
    if len(parts) >= 3 and parts[0] == "apis":
        return parts[1], parts[2], parts[3:]
    return "", "", []
