"""Approving a request for a certificate writes conditions, and nothing but conditions."""

from base64 import b64encode
from typing import Any

from steersman_cluster.apiserver.builtin.cluster.approvals import (
    SIGNING_REQUEST,
    SIGNING_REQUEST_APPROVAL,
)
from steersman_cluster.apiserver.meta.strategy import Object
from tests.unit.apiserver.builtin.here import Around

APPROVED = {"type": "Approved", "status": "True", "reason": "Fine"}
DENIED = {"type": "Denied", "status": "True"}
SIGNED = b64encode(b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n").decode()


def request(*conditions: Object, **status: Any) -> Object:
    if conditions:
        status["conditions"] = [{**each} for each in conditions]
    return {"metadata": {"name": "csr"}, "spec": {"usages": ["any"]}, "status": status}


def approval(new: Object, old: Object) -> list[str]:
    SIGNING_REQUEST_APPROVAL.prepare_update(new, old, Around())
    return [str(each) for each in SIGNING_REQUEST_APPROVAL.validate_update(new, old)]


def test_an_approval_gets_its_times_and_leaves_the_rest_alone() -> None:
    new = request(APPROVED, certificate="bmV3")
    new["spec"] = {"usages": ["other"]}

    assert approval(new, request(certificate="b2xk")) == []
    assert new["spec"] == {"usages": ["any"]}
    assert new["status"]["certificate"] == "b2xk"
    (condition,) = new["status"]["conditions"]
    assert condition["lastUpdateTime"] == condition["lastTransitionTime"] != ""


def test_the_decision_about_a_certificate_request_is_final() -> None:
    assert any("may not remove" in each for each in approval(request(), request(APPROVED)))
    both = approval(request(APPROVED, DENIED), request(APPROVED))
    assert any("mutually exclusive" in each for each in both)


def test_a_decision_is_true_or_none() -> None:
    doubtful = {**APPROVED, "status": "False"}

    assert any("Unsupported value" in each for each in approval(request(doubtful), request()))
    assert any("Duplicate value" in each for each in approval(request(DENIED, DENIED), request()))


def test_the_status_takes_certificates_and_no_decisions() -> None:
    new, old = request(certificate=SIGNED), request(APPROVED)
    new["status"]["conditions"] = [{**APPROVED, "reason": "Mine"}]
    SIGNING_REQUEST.prepare_status(new, old, Around())

    assert SIGNING_REQUEST.validate_status(new, old) == []
    assert new["status"]["conditions"][0]["reason"] == "Fine"
    added = [str(each) for each in SIGNING_REQUEST.validate_status(request(DENIED), request())]
    assert any("may not add" in each for each in added)


def test_what_was_signed_is_a_certificate_and_stays_the_same() -> None:
    def errors(new: str, old: str) -> list[str]:
        found = SIGNING_REQUEST.validate_status(request(certificate=new), request(certificate=old))
        return [str(each) for each in found]

    assert any("<certificate data>" in each for each in errors("bmV3", ""))
    assert any("may not modify" in each for each in errors("", SIGNED))
    assert errors(SIGNED, SIGNED) == errors("bmV3", "bmV3") == []
