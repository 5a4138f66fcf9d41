"""POST of a TokenRequest, which issues a token of a service account."""

from datetime import timedelta
from typing import Any

from steersman.names import GroupResource
from steersman.units import format_time
from steersman_cluster.apiserver.authn.account_tokens import ACCOUNTS, BINDABLE, claims_of
from steersman_cluster.apiserver.meta import field_errors, object_meta, status_errors
from steersman_cluster.apiserver.meta.field_errors import FieldError
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.registry.request_scope import APIResponse, RequestScope
from steersman_cluster.apiserver.registry.subresources.posted_body import read_post
from steersman_cluster.apiserver.request.api_request import APIRequest

USUAL_SECONDS = 3600
MIN_SECONDS = 600
MAX_SECONDS = 2**32

# The lifetime that the kubelet requests for Pods. kube-apiserver extends it to a year, for clients
# that do not reload tokens, and records the requested expiry in the token.
POD_SECONDS = 3607
POD_EXTENDED_SECONDS = 365 * 24 * 3600

_NODES = BINDABLE["node"]
_KINDS = {kind.capitalize(): kind for kind in BINDABLE}
_GROUP_KIND = "TokenRequest.authentication.k8s.io"
_KIND = GroupResource("authentication.k8s.io", "TokenRequest")


def request_token(request: APIRequest, scope: RequestScope) -> APIResponse:
    """Return the TokenRequest with the token in its status."""
    wanted, options = read_post(request, scope)
    now = scope.store.clock.now()
    _default(wanted["spec"])
    scope.field_manager(request).update(
        None, wanted, manager=options.field_manager or request.agent, time=format_time(now)
    )
    if not scope.admission.is_idle:
        wanted = scope.admission.mutated(request, wanted, None)
        _default(wanted["spec"])
    about, spec = wanted["metadata"], wanted["spec"]
    account = _account(request, scope, about)
    own = scope.account_tokens.audiences
    audiences = spec["audiences"] = spec.get("audiences") or list(own)
    seconds: int = spec["expirationSeconds"]
    if errors := _duration_errors(seconds):
        raise status_errors.invalid(_GROUP_KIND, "", errors)
    about["uid"] = account["metadata"]["uid"]
    about["creationTimestamp"] = format_time(now)
    scope.admission.check(request, wanted, None)
    bound = _bound(request, scope, spec.get("boundObjectRef"))
    extended = "pod" in bound and seconds == POD_SECONDS and set(audiences) <= set(own)
    claims = claims_of(
        account,
        bound=bound,
        audiences=audiences,
        now=now,
        seconds=POD_EXTENDED_SECONDS if extended else seconds,
        warn_after_seconds=seconds if extended else 0,
        token_id=object_meta.new_uid(scope.store.rng),
    )
    wanted["status"] = {
        "token": scope.account_tokens.issue(claims),
        "expirationTimestamp": format_time(now + timedelta(seconds=seconds)),
    }
    return APIResponse(201, request.encoder.other(wanted))


def _default(spec: dict[str, Any]) -> None:
    if spec.get("expirationSeconds") is None:
        spec["expirationSeconds"] = USUAL_SECONDS


def _account(request: APIRequest, scope: RequestScope, about: dict[str, Any]) -> Object:
    name = request.info.name
    if about.setdefault("name", name) != name:
        detail = "must match the service account name if specified"
        error = field_errors.invalid("metadata.name", about["name"], detail)
        raise status_errors.invalid(_GROUP_KIND, name, [error])
    account = _found(scope, ACCOUNTS, request.info.namespace, name)
    wanted, actual = about.get("uid"), account["metadata"]["uid"]
    if wanted and wanted != actual:
        raise status_errors.conflict(
            _KIND,
            name,
            f"the UID in the token request ({wanted}) does not match the UID of the service"
            f" account ({actual})",
        )
    return account


def _duration_errors(seconds: int) -> list[FieldError]:
    why = ""
    if seconds < MIN_SECONDS:
        why = "may not specify a duration less than 10 minutes"
    elif seconds > MAX_SECONDS:
        why = "may not specify a duration larger than 2^32 seconds"
    return [field_errors.invalid("spec.expirationSeconds", seconds, why)] if why else []


def _bound(
    request: APIRequest, scope: RequestScope, ref: dict[str, Any] | None
) -> dict[str, Object]:
    """Return the objects to which the token is bound, by kind.

    These are the referenced object and, if it is a Pod, the node of the Pod.
    """
    if ref is None:
        return {}
    group, _, version = ref.get("apiVersion", "").rpartition("/")
    kind = _KINDS.get(ref.get("kind", ""))
    if group or kind is None:
        shown = f"{group}/{version}, Kind={ref.get('kind', '')}"
        raise status_errors.bad_request(f"cannot bind token to object of type {shown}")
    namespace = "" if kind == "node" else request.info.namespace
    bound = {kind: _found(scope, BINDABLE[kind], namespace, ref.get("name", ""))}
    if kind == "pod":
        bound |= _node_of(request, scope, bound["pod"])
    wanted = ref.get("uid")
    if wanted and wanted != bound[kind]["metadata"]["uid"]:
        raise status_errors.conflict(
            GroupResource("", ref["kind"]),
            ref.get("name", ""),
            f"the UID in the bound object reference ({wanted}) does not match the UID in record."
            " The object might have been deleted and then recreated",
        )
    return bound


def _node_of(request: APIRequest, scope: RequestScope, pod: Object) -> dict[str, Object]:
    account, spec = request.info.name, pod["spec"]
    if spec.get("serviceAccountName", "") != account:
        raise status_errors.bad_request(
            f'cannot bind token for serviceaccount "{account}" to pod running with different'
            " serviceaccount name."
        )
    if not (name := spec.get("nodeName")):
        return {}
    return {"node": scope.store.find(_NODES, "", name) or {"metadata": {"name": name}}}


def _found(scope: RequestScope, resource: GroupResource, namespace: str, name: str) -> Object:
    found = scope.store.find(resource, namespace, name)
    if found is None:
        raise status_errors.not_found(resource, name)
    return found
