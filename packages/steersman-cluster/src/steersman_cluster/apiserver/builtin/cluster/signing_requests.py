"""Validation of the spec of a CertificateSigningRequest: request, usages and signer."""

from base64 import b64decode
from collections.abc import Iterator

from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
)
from steersman_cluster.apiserver.meta.name_validation import dns_label, dns_subdomain
from steersman_cluster.apiserver.meta.strategy import Object

REQUEST_PEM = b"-----BEGIN CERTIFICATE REQUEST-----"
MIN_SECONDS = 600
MAX_DOMAIN_LENGTH = 253
MAX_SIGNER_LENGTH = MAX_DOMAIN_LENGTH + 1 + MAX_DOMAIN_LENGTH + 63 + 1
LEGACY_SIGNER = "kubernetes.io/legacy-unknown"

USAGES = (
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
)


def request_errors(request: Object) -> list[FieldError]:
    """Return the errors in ``request``, a new CertificateSigningRequest."""
    return list(_errors(request.get("spec", {})))


def _errors(spec: Object) -> Iterator[FieldError]:
    if REQUEST_PEM not in b64decode(spec.get("request") or ""):
        why = "PEM block type must be CERTIFICATE REQUEST"
        yield invalid("spec.request", spec.get("request"), why)
    usages = spec.get("usages") or []
    if not usages:
        yield required("spec.usages")
    for index, usage in enumerate(usages):
        if usage not in USAGES:
            yield not_supported(f"spec.usages[{index}]", usage, USAGES)
    for index, usage in enumerate(usages):
        if usage in usages[:index]:
            yield duplicate(f"spec.usages[{index}]", usage)
    yield from _signer_errors(spec.get("signerName", ""))
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < MIN_SECONDS:
        why = "may not specify a duration less than 600 seconds (10 minutes)"
        yield invalid("spec.expirationSeconds", seconds, why)


def _signer_errors(signer: str) -> Iterator[FieldError]:
    field = "spec.signerName"
    if not signer:
        yield required(field)
        return
    if signer == LEGACY_SIGNER:
        yield invalid(field, signer, "the legacy signerName is not allowed via this API version")
        return
    domain, _, path = signer.partition("/")
    if signer.count("/") != 1:
        why = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        yield invalid(field, signer, why)
        return
    if len(domain) > MAX_DOMAIN_LENGTH:
        yield too_long(field, signer, MAX_DOMAIN_LENGTH)
    for part, check in ((domain, dns_label), (path, dns_subdomain)):
        for label in part.split("."):
            if wrong := check(label):
                for sentence in wrong:
                    yield invalid(field, part, f'validating label "{label}": {sentence}')
                break
        if part is domain and "." not in domain:
            why = "should be a domain with at least two segments separated by dots"
            yield invalid(field, domain, why)
    if len(signer) > MAX_SIGNER_LENGTH:
        yield too_long(field, signer, MAX_SIGNER_LENGTH)
