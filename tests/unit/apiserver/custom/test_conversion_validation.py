"""Validation of the conversion of a definition."""

from base64 import b64encode
from typing import Any

import pytest

from steersman_cluster.apiserver.custom.conversion_validation import (
    bundle_problem,
    conversion_errors,
)
from tests.unit.apiserver.custom.definition_samples import SERVICE


def pem(inside: bytes) -> str:
    lines = (b"-----BEGIN CERTIFICATE-----", b64encode(inside), b"-----END CERTIFICATE-----", b"")
    return b64encode(b"\n".join(lines)).decode()


def fields_of(conversion: dict[str, Any]) -> list[str]:
    found = conversion_errors({"conversion": conversion}, reads_bundle=True)
    return [each.field.removeprefix("spec.conversion.") for each in found]


def webhook(client: Any, *reviews: str) -> dict[str, Any]:
    settings = {"clientConfig": client, "conversionReviewVersions": list(reviews)}
    return {"strategy": "Webhook", "webhook": settings}


@pytest.mark.parametrize(
    ("conversion", "wrong"),
    [
        ({"strategy": "None"}, []),
        ({"strategy": "Other"}, ["strategy"]),
        (webhook({"url": "https://example.com/x"}, "v1"), []),
        (webhook({"service": SERVICE}, "v1"), []),
        (webhook(None, "v1"), ["webhookClientConfig"]),
        (webhook({"url": "http://x"}, "v1"), ["webhookClientConfig.url"]),
        (webhook({"service": {**SERVICE, "port": 0}}, "v1"), ["webhookClientConfig.service.port"]),
        (webhook({"url": "https://x"}, "v2"), ["conversionReviewVersions"]),
        (webhook({"url": "https://x"}), ["conversionReviewVersions"]),
        ({**webhook({"url": "https://x"}), "strategy": "None"}, ["webhookClientConfig"]),
    ],
)
def test_a_conversion_is_validated_by_its_strategy(
    conversion: dict[str, Any], wrong: list[str]
) -> None:
    assert fields_of(conversion) == wrong


@pytest.mark.parametrize(
    ("bundle", "problem"),
    [
        ("", ""),
        ("YQ==", "unable to parse bytes as PEM block"),
        (pem(b"no certificate"), "failed to parse certificate: x509: malformed certificate"),
        (pem(b"\x30\x00"), ""),
    ],
)
def test_a_ca_bundle_that_contains_no_certificate_is_rejected(bundle: str, problem: str) -> None:
    assert bundle_problem(bundle) == (
        f"unable to load root certificates: {problem}" if problem else ""
    )
