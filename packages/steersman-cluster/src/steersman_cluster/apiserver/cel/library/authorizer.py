"""Authorization checks in CEL expressions: ``authorizer.group('').resource('pods')…``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

from steersman_cluster.apiserver.cel.errors import NotEvaluated
from steersman_cluster.apiserver.cel.values import Function


@dataclass(frozen=True, slots=True)
class AuthorizerDecision:
    """Whether an action is authorized, and the reason."""

    cel_name: ClassVar[str] = "kubernetes.authorization.Decision"
    allowed: bool
    reason: str = ""
    error: str = ""


# Decides on attributes (verb, and either path or group, resource, subresource, namespace, name,
# fieldSelector and labelSelector), optionally for the service account in the second argument.
Decide = Callable[[Mapping[str, str], tuple[str, str] | None], AuthorizerDecision]


@dataclass(frozen=True, slots=True)
class CelAuthorizer:
    """The CEL value ``authorizer``, which checks the permissions of one user.

    That is the user who sent the request, or the ServiceAccount ``account`` if it is set, which the
    CEL method ``serviceAccount`` does.
    """

    cel_name: ClassVar[str] = "kubernetes.authorization.Authorizer"
    decide: Decide = field(compare=False)
    account: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class _Check:
    who: CelAuthorizer
    about: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PathCheck(_Check):
    cel_name: ClassVar[str] = "kubernetes.authorization.PathCheck"


@dataclass(frozen=True, slots=True)
class GroupCheck(_Check):
    cel_name: ClassVar[str] = "kubernetes.authorization.GroupCheck"


@dataclass(frozen=True, slots=True)
class ResourceCheck(_Check):
    """A permission check on a resource; ``authorizer.requestResource`` also has this type."""

    cel_name: ClassVar[str] = "kubernetes.authorization.ResourceCheck"


def _path(who: CelAuthorizer, path: str) -> PathCheck:
    if not path:
        raise NotEvaluated("path must not be empty")
    return PathCheck(who, {"path": path})


def _resource(check: GroupCheck, resource: str) -> ResourceCheck:
    if not resource:
        raise NotEvaluated("resource must not be empty")
    return ResourceCheck(check.who, {**check.about, "resource": resource})


def _with(name: str) -> Function:
    def narrow(check: ResourceCheck, value: str) -> ResourceCheck:
        return replace(check, about={**check.about, name: value})

    return narrow


def _check(check: Any, verb: str) -> AuthorizerDecision:
    verdict: AuthorizerDecision = check.who.decide({**check.about, "verb": verb}, check.who.account)
    return verdict


IMPLEMENTATIONS: Final[Mapping[str, Function]] = {
    "allowed": lambda verdict: verdict.allowed,
    "check": _check,
    "error": lambda verdict: verdict.error,
    "errored": lambda verdict: bool(verdict.error),
    "fieldSelector": _with("fieldSelector"),
    "group": lambda who, group: GroupCheck(who, {"group": group}),
    "labelSelector": _with("labelSelector"),
    "name": _with("name"),
    "namespace": _with("namespace"),
    "path": _path,
    "reason": lambda verdict: verdict.reason,
    "resource": _resource,
    "serviceAccount": lambda who, namespace, name: replace(who, account=(namespace, name)),
    "subresource": _with("subresource"),
}
