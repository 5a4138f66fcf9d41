"""Approval of a certificate signing request changes only its conditions."""

from base64 import b64encode
from typing import Any

from steersman_cluster.apiserver.builtin.cluster.approvals import (
    SIGNING_REQUEST,
    SIGNING_REQUEST_APPROVAL,
)
from steersman_cluster.apiserver.meta.strategy import Object
from tests.unit.apiserver.builtin.kind_handler import FakeStrategyContext

APPROVED = {"type": "Approved", "status": "True", "reason": "Fine"}
DENIED = {"type": "Denied", "status": "True"}
SIGNED = b64encode(b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n").decode()


def request(*conditions: Object, **status: Any) -> Object:
    if conditions:
        status["conditions"] = [{**each} for each in conditions]
    return {"metadata": {"name": "csr"}, "spec": {"usages": ["any"]}, "status": status}


def approval(new: Object, old: Object) -> list[str]:
    SIGNING_REQUEST_APPROVAL.prepare_update(new, old, FakeStrategyContext())
    return [str(each) for each in SIGNING_REQUEST_APPROVAL.validate_update(new, old)]


def test_an_approval_sets_times_and_changes_only_conditions() -> None:
    new = request(APPROVED, certificate="bmV3")
    new["spec"] = {"usages": ["other"]}

    assert approval(new, request(certificate="b2xk")) == []
    assert new["spec"] == {"usages": ["any"]}
    assert new["status"]["certificate"] == "b2xk"
    (condition,) = new["status"]["conditions"]
    assert condition["lastUpdateTime"] == condition["lastTransitionTime"] != ""


def test_the_approval_or_denial_of_a_certificate_request_is_final() -> None:
    assert any("may not remove" in each for each in approval(request(), request(APPROVED)))
    both = approval(request(APPROVED, DENIED), request(APPROVED))
    assert any("mutually exclusive" in each for each in both)


def test_an_approval_or_denial_is_unique_and_has_the_status_true() -> None:
    doubtful = {**APPROVED, "status": "False"}

    assert any("Unsupported value" in each for each in approval(request(doubtful), request()))
    assert any("Duplicate value" in each for each in approval(request(DENIED, DENIED), request()))


def test_a_status_update_changes_the_certificate_but_not_the_approval() -> None:
    new, old = request(certificate=SIGNED), request(APPROVED)
    new["status"]["conditions"] = [{**APPROVED, "reason": "Mine"}]
    SIGNING_REQUEST.prepare_status(new, old, FakeStrategyContext())

    assert SIGNING_REQUEST.validate_status(new, old) == []
    assert new["status"]["conditions"][0]["reason"] == "Fine"
    added = [str(each) for each in SIGNING_REQUEST.validate_status(request(DENIED), request())]
    assert any("may not add" in each for each in added)


def test_an_issued_certificate_is_valid_and_immutable() -> None:
    def errors(new: str, old: str) -> list[str]:
        found = SIGNING_REQUEST.validate_status(request(certificate=new), request(certificate=old))
        return [str(each) for each in found]

    assert any("<certificate data>" in each for each in errors("bmV3", ""))
    assert any("may not modify" in each for each in errors("", SIGNED))
    assert errors(SIGNED, SIGNED) == errors("bmV3", "bmV3") == []
