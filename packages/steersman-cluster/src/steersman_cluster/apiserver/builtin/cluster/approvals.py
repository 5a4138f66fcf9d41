"""Validation of a CertificateSigningRequest's approval, and of the status that a signer writes."""

from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace

from steersman.units import format_time
from steersman_cluster.apiserver.builtin.cluster.cluster_kinds import (
    CERTIFICATE_SIGNING_REQUEST as REQUEST,
)
from steersman_cluster.apiserver.builtin.cluster.key_pairs import chain_problem
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext

_CONDITIONS = "status.conditions"
_DECIDED = ("Approved", "Denied")
_LASTING = (*_DECIDED, "Failed")


def _conditions(request: Object, *types: str) -> list[Object]:
    found = (request.get("status") or {}).get("conditions") or []
    return [each for each in found if not types or each.get("type") in types]


def _set_times(request: Object, old: Object, around: StrategyContext) -> None:
    now = format_time(around.clock.now())
    for condition in _conditions(request):
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = now
        before = (
            each["lastTransitionTime"]
            for each in _conditions(old)
            if (each.get("type"), each.get("status"))
            == (condition.get("type"), condition.get("status"))
            and each.get("lastTransitionTime")
        )
        if not condition.get("lastTransitionTime"):
            condition["lastTransitionTime"] = next(before, now)


def _prepare_approval(request: Object, old: Object, around: StrategyContext) -> None:
    _set_times(request, old, around)
    conditions = _conditions(request)
    status = {**(old.get("status") or {})}
    status.pop("conditions", None)
    request["spec"] = old["spec"]
    request["status"] = status | ({"conditions": conditions} if conditions else {})


def _prepare_status(request: Object, old: Object, around: StrategyContext) -> None:
    for type_ in _DECIDED:
        olds, news = _conditions(old, type_), _conditions(request, type_)
        if len(olds) == len(news):
            for was, condition in zip(olds, news, strict=True):
                condition.clear()
                condition.update(was)
    _set_times(request, old, around)


def _certificate(request: Object) -> bytes:
    return b64decode((request.get("status") or {}).get("certificate") or "")


def _errors(request: Object, old: Object) -> Iterator[FieldError]:
    both_before = {each.get("type") for each in _conditions(old)}.issuperset(_DECIDED)
    seen: set[str] = set()
    for index, condition in enumerate(_conditions(request)):
        at, type_ = f"{_CONDITIONS}[{index}]", condition.get("type", "")
        if not type_:
            yield required(f"{at}.type")
        status = condition.get("status", "")
        allowed = ("True",) if type_ in _LASTING else ("False", "True", "Unknown")
        if not status:
            yield required(f"{at}.status")
        elif status not in allowed:
            yield not_supported(f"{at}.status", status, allowed)
        if type_ in _DECIDED and not both_before and seen & ({*_DECIDED} - {type_}):
            detail = "Approved and Denied conditions are mutually exclusive"
            yield invalid(_CONDITIONS, type_, detail)
        if type_ in seen:
            yield duplicate(f"{at}.type", type_)
        seen.add(type_)
    before, after = _certificate(old), _certificate(request)
    is_judged = after and after != before and not (before and chain_problem(before))
    if is_judged and (problem := chain_problem(after)):
        yield invalid("status.certificate", "<certificate data>", problem)
    for type_ in _LASTING:
        if len(_conditions(request, type_)) < len(_conditions(old, type_)):
            yield forbidden(_CONDITIONS, f'updates may not remove a condition of type "{type_}"')


def _approval_errors(request: Object, old: Object) -> list[FieldError]:
    return list(_errors(request, old))


def _status_errors(request: Object, old: Object) -> list[FieldError]:
    errors = list(_errors(request, old))
    errors += [
        forbidden(_CONDITIONS, f'updates may not add a condition of type "{type_}"')
        for type_ in _DECIDED
        if len(_conditions(request, type_)) > len(_conditions(old, type_))
    ]
    before = _certificate(old)
    if before and before != _certificate(request):
        why = "updates may not modify existing certificate content"
        errors.append(forbidden("status.certificate", why))
    return errors


SIGNING_REQUEST = replace(REQUEST, prepare_status=_prepare_status, validate_status=_status_errors)
SIGNING_REQUEST_APPROVAL = replace(
    REQUEST,
    prepare_update=_prepare_approval,
    validate_update=_approval_errors,
    has_status=False,  # the strategy keeps the status, except its conditions
)
