"""Kinds for the administration of a cluster: nodes, quotas, priorities, certificates."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.cluster.flow_schemas import flow_schema_errors
from steersman_cluster.apiserver.builtin.cluster.priority_levels import priority_level_errors
from steersman_cluster.apiserver.builtin.cluster.signing_requests import request_errors
from steersman_cluster.apiserver.builtin.common_defaults import fill, fill_empty
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    immutable,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    path_segment_name,
    subdomain_name,
)
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

if TYPE_CHECKING:
    from steersman_cluster.apiserver.meta.users import User

MOUNTABLE = "kubernetes.io/enforce-mountable-secrets"


def _prepare_account(account: Object, _: StrategyContext) -> None:
    if secrets := account.get("secrets"):
        # Only the name of a reference is stored.
        account["secrets"] = [
            {"name": each["name"]} if each.get("name") else {} for each in secrets
        ]


def _prepare_account_update(account: Object, _: Object, around: StrategyContext) -> None:
    _prepare_account(account, around)


def _account_warnings(account: Object, old: Object | None) -> list[str]:
    for each in (old, account):
        if each is not None and MOUNTABLE in (each["metadata"].get("annotations") or {}):
            why = "deprecated in v1.32+; prefer separate namespaces to isolate access"
            says = f"metadata.annotations[{MOUNTABLE}]: {why} to mounted secrets"
            return [] if each is old else [says]
    return []


def _default_flow_schema(flow_schema: Object) -> None:
    fill_empty(flow_schema.setdefault("spec", {}), matchingPrecedence=1000)


def _default_priority_level(level: Object) -> None:
    spec = level.get("spec", {})
    if (exempt := spec.get("exempt")) is not None:
        fill(exempt, nominalConcurrencyShares=0, lendablePercent=0)
    if (limited := spec.get("limited")) is not None:
        fill(limited, nominalConcurrencyShares=30, lendablePercent=0)
        if (queuing := limited.get("limitResponse", {}).get("queuing")) is not None:
            fill_empty(queuing, handSize=8, queues=64, queueLengthLimit=50)


def _set_requester(request: Object, user: "User") -> None:
    said = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    spec = {key: value for key, value in request.get("spec", {}).items() if key not in said}
    request["spec"] = spec | {key: value for key, value in said.items() if value}


def _prepare_request_update(request: Object, old: Object, _: StrategyContext) -> None:
    request["spec"] = old["spec"]


def _selectable_request(request: Object) -> Mapping[str, str]:
    return {
        "metadata.name": request["metadata"].get("name", ""),
        "spec.signerName": request.get("spec", {}).get("signerName", ""),
    }


def _new_revision_errors(revision: Object) -> list[FieldError]:
    data = revision.get("data")
    if data is None:
        return [required("data", "data is mandatory")]
    return [] if isinstance(data, dict) else [required("data", "data must be a valid JSON object")]


def _revision_change_errors(revision: Object, old: Object) -> list[FieldError]:
    data = revision.get("data")
    # With the keys in the order of the request.
    shown = msgspec.Raw(msgspec.json.encode(data))
    return [immutable("data", shown)] if data != old.get("data") else []


SERVICE_ACCOUNT = Strategy(
    prepare_create=_prepare_account,
    prepare_update=_prepare_account_update,
    warnings=_account_warnings,
    name_errors=subdomain_name,
    return_deleted_object=True,
)
FLOW_SCHEMA = Strategy(
    default=_default_flow_schema,
    validate=flow_schema_errors,
    name_errors=subdomain_name,
    generation_fields=("spec",),
    has_status=True,
)
PRIORITY_LEVEL = Strategy(
    default=_default_priority_level,
    validate=priority_level_errors,
    name_errors=subdomain_name,
    generation_fields=("spec",),
    has_status=True,
)
CERTIFICATE_SIGNING_REQUEST = Strategy(
    set_requester=_set_requester,
    prepare_update=_prepare_request_update,
    validate_create=request_errors,
    name_errors=path_segment_name,
    selectable=_selectable_request,
    has_status=True,
)
CONTROLLER_REVISION = Strategy(
    validate=rule.not_negative("revision"),
    validate_create=_new_revision_errors,
    validate_update=_revision_change_errors,
    name_errors=subdomain_name,
)
