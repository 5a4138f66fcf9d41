"""CEL expressions in webhook configurations and policies: their variables and types."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from steersman_cluster.apiserver.cel import CelType, Expression, NotCompiled
from steersman_cluster.apiserver.cel.cel_types import (
    BOOL,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    list_of,
    map_of,
    opaque,
)
from steersman_cluster.apiserver.meta.strategy import Object

# A compiled expression, or its errors.
Compiled: TypeAlias = Expression | NotCompiled


def _object(name: str, /, **fields: CelType) -> CelType:
    return CelType("object", f"kubernetes.{name}", fields=fields)


_KIND: Final = _object("GroupVersionKind", group=STRING, version=STRING, kind=STRING)
_RESOURCE: Final = _object("GroupVersionResource", group=STRING, version=STRING, resource=STRING)
_USER: Final = _object(
    "UserInfo",
    username=STRING,
    uid=STRING,
    groups=list_of(STRING),
    extra=map_of(STRING, list_of(STRING)),
)
_REQUEST: Final = _object(
    "AdmissionRequest",
    kind=_KIND,
    resource=_RESOURCE,
    subResource=STRING,
    requestKind=_KIND,
    requestResource=_RESOURCE,
    requestSubResource=STRING,
    name=STRING,
    namespace=STRING,
    operation=STRING,
    userInfo=_USER,
    dryRun=BOOL,
    options=DYN,
)
_NAMESPACE: Final = _object(
    "Namespace",
    metadata=_object(
        "NamespaceMetadata",
        name=STRING,
        generateName=STRING,
        namespace=STRING,
        labels=map_of(STRING, STRING),
        annotations=map_of(STRING, STRING),
        UID=STRING,
        creationTimestamp=TIMESTAMP,
        deletionGracePeriodSeconds=INT,
        deletionTimestamp=TIMESTAMP,
        generation=INT,
        resourceVersion=STRING,
        finalizers=list_of(STRING),
    ),
    spec=_object("NamespaceSpec", finalizers=list_of(STRING)),
    status=_object(
        "NamespaceStatus",
        conditions=list_of(
            _object(
                "NamespaceCondition",
                status=STRING,
                type=STRING,
                lastTransitionTime=TIMESTAMP,
                message=STRING,
                reason=STRING,
            )
        ),
        phase=STRING,
    ),
)
_COMMON: Final[Mapping[str, CelType]] = {
    "object": DYN,
    "oldObject": DYN,
    "namespaceObject": _NAMESPACE,
    "request": _REQUEST,
}
_AUTHORIZER: Final[Mapping[str, CelType]] = {
    "authorizer": opaque("kubernetes.authorization.Authorizer"),
    "authorizer.requestResource": opaque("kubernetes.authorization.ResourceCheck"),
}


def declared(*, params: bool, authorizer: bool = True) -> Mapping[str, CelType]:
    """Return the types of all variables that a CEL expression may use, by name.

    ``params`` and ``authorizer``: whether the variables with these names exist.
    """
    return {
        **_COMMON,
        **(_AUTHORIZER if authorizer else {}),
        **({"params": DYN} if params else {}),
    }


def compiled(
    text: str, variables: Mapping[str, CelType], *, result: type | CelType | None = bool
) -> Compiled:
    """Compile the CEL expression ``text``; return the error if that fails.

    ``text`` may use ``variables``, and its value must be of the type ``result``.
    """
    try:
        return Expression.compile(text, variables=variables, result=result)
    except NotCompiled as problem:
        return problem


def variables_of(spec: Object) -> Mapping[str, Compiled]:
    """Return the compiled expressions of a policy's ``variables``, by name and in order.

    Each expression may use the variables before it.
    """
    found: dict[str, Compiled] = {}
    common = declared(params=spec.get("paramKind") is not None)
    for each in spec.get("variables") or ():
        known = with_variables(common, found)
        found[each.get("name", "")] = compiled(each.get("expression", ""), known, result=None)
    return found


def with_variables(
    variables: Mapping[str, CelType], named: Mapping[str, Compiled]
) -> Mapping[str, CelType]:
    """Return ``variables`` plus the variable ``variables`` of a policy's CEL expressions.

    The additional variable is an object whose fields are ``named``, the variables that the policy
    defines.
    """
    fields = {
        name: each.result if isinstance(each, Expression) else DYN for name, each in named.items()
    }
    return {**variables, "variables": CelType("object", "kubernetes.variables", fields=fields)}
