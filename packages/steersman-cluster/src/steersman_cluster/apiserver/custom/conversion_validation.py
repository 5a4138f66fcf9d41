"""The validation of a CustomResourceDefinition's ``spec.conversion``."""

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Final

from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.webhooks.client_config import client_errors, review_errors

_STRATEGIES: Final = ("None", "Webhook")
_CERTIFICATE: Final = re.compile(
    rb"^-----BEGIN CERTIFICATE-----\s*$(.*?)^-----END CERTIFICATE-----\s*$",
    re.DOTALL | re.MULTILINE,
)
_SEQUENCE: Final = b"\x30"  # the first byte of every certificate


def conversion_errors(spec: Object, *, reads_bundle: bool) -> Iterator[FieldError]:
    """Yield the errors in the ``conversion`` of ``spec``, the spec of a CRD.

    The CA bundle of the webhook is validated only if ``reads_bundle`` is true.
    """
    path, conversion = "spec.conversion", spec["conversion"]
    strategy = conversion.get("strategy") or ""
    webhook = conversion.get("webhook") or {}
    client, reviews = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    if strategy != "None" and spec.get("preserveUnknownFields"):
        why = "must be None if spec.preserveUnknownFields is true"
        yield invalid(f"{path}.strategy", strategy, why)
    if not strategy:
        yield required(f"{path}.strategy")
    elif strategy not in _STRATEGIES:
        yield not_supported(f"{path}.strategy", strategy, _STRATEGIES)
    config, versions = f"{path}.webhookClientConfig", f"{path}.conversionReviewVersions"
    if strategy == "Webhook":
        if client is None:
            yield required(config, "required when strategy is set to Webhook")
        else:
            yield from client_errors(client, config)
            bundle = client.get("caBundle", "")
            if reads_bundle and (problem := bundle_problem(bundle)):
                yield invalid(f"{config}.caBundle", bundle, problem)
        yield from review_errors(reviews, versions)
    else:
        why = "should not be set when strategy is not set to Webhook"
        if client is not None:
            yield forbidden(config, why)
        if reviews:
            yield forbidden(versions, why)


def bundle_problem(bundle: str) -> str:
    """Return why the base64-encoded CA bundle ``bundle`` is invalid.

    The certificates in it are not parsed.
    """
    if not bundle:
        return ""
    pem = b64decode(bundle)
    blocks = [each[1] for each in _CERTIFICATE.finditer(pem)]
    if not blocks:
        return "unable to load root certificates: unable to parse bytes as PEM block"
    if not all(b64decode(each).startswith(_SEQUENCE) for each in blocks):
        problem = "failed to parse certificate: x509: malformed certificate"
        return f"unable to load root certificates: {problem}"
    return ""
