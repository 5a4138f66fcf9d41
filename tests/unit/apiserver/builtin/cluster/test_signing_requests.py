from base64 import b64encode
from typing import Any

import pytest

from steersman_cluster.apiserver.builtin.cluster.signing_requests import REQUEST_PEM, request_errors

SPEC = {
    "request": b64encode(REQUEST_PEM).decode(),
    "signerName": "example.com/signer",
    "usages": ["client auth"],
}

WRONG = {
    "no PEM": ({"request": "bm8="}, ["spec.request"]),
    "no usages": ({"usages": []}, ["spec.usages"]),
    "an unknown usage": ({"usages": ["dancing"]}, ["spec.usages[0]"]),
    "a duplicate usage": ({"usages": ["any", "any"]}, ["spec.usages[1]"]),
    "no signer": ({"signerName": ""}, ["spec.signerName"]),
    "no path": ({"signerName": "example.com"}, ["spec.signerName"]),
    "two paths": ({"signerName": "example.com/a/b"}, ["spec.signerName"]),
    "no domain": ({"signerName": "example/a"}, ["spec.signerName"]),
    "an invalid domain": ({"signerName": "Example_.com/a"}, ["spec.signerName"]),
    "an invalid path": ({"signerName": "example.com/A_"}, ["spec.signerName"]),
    "a legacy signer": ({"signerName": "kubernetes.io/legacy-unknown"}, ["spec.signerName"]),
    "a short lifetime": ({"expirationSeconds": 599}, ["spec.expirationSeconds"]),
}


def test_a_valid_signing_request_has_no_errors() -> None:
    assert request_errors({"spec": {**SPEC, "expirationSeconds": 600}}) == []


@pytest.mark.parametrize(("spec", "fields"), WRONG.values(), ids=WRONG)
def test_an_invalid_signing_request_is_rejected_with_the_invalid_fields(
    spec: dict[str, Any], fields: list[str]
) -> None:
    assert [each.field for each in request_errors({"spec": {**SPEC, **spec}})] == fields
