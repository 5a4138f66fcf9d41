"""Checks of the PEM blocks of a certificate and its key.

The certificate and the key themselves are not parsed.
"""

import binascii
import re

from steersman_cluster.apiserver.meta.field_errors import shown

_BLOCK = re.compile(
    rb"^-----BEGIN (?P<type>[^\n]*?)-----\s*$(?P<content>.*?)^-----END (?P=type)-----\s*$",
    re.DOTALL | re.MULTILINE,
)


def key_pair_problem(certificate: bytes, key: bytes) -> str | None:
    """Return the error that Go's TLS package reports about the two PEM texts, or None."""
    return _certificate_problem(_block_types(certificate)) or _key_problem(_block_types(key))


def _block_types(pem: bytes) -> list[str]:
    return [each["type"].decode(errors="replace") for each in _BLOCK.finditer(pem)]


def _certificate_problem(types: list[str]) -> str | None:
    if "CERTIFICATE" in types:
        return None
    if not types:
        return "tls: failed to find any PEM data in certificate input"
    if len(types) == 1 and types[0].endswith("PRIVATE KEY"):
        return (
            "tls: failed to find certificate PEM data in certificate input, but did find a private"
            " key; PEM inputs may have been switched"
        )
    return (
        'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks'
        f" of the following types: [{' '.join(types)}]"
    )


def _key_problem(types: list[str]) -> str | None:
    if any(each == "PRIVATE KEY" or each.endswith(" PRIVATE KEY") for each in types):
        return None
    if not types:
        return "tls: failed to find any PEM data in key input"
    if types == ["CERTIFICATE"]:
        return "tls: found a certificate rather than a key in the PEM for the private key"
    return (
        'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after'
        f" skipping PEM blocks of the following types: [{' '.join(types)}]"
    )


def chain_problem(pem: bytes) -> str | None:
    """Return why ``pem`` is not a valid certificate chain from a signer; None if it is valid."""
    blocks = list(_BLOCK.finditer(pem))
    for block in blocks:
        type_, content = block["type"].decode(errors="replace"), block["content"]
        if type_ != "CERTIFICATE":
            return f"only CERTIFICATE PEM blocks are allowed, found {shown(type_)}"
        if b":" in content:
            return "no PEM block headers are permitted"
        try:
            der = binascii.a2b_base64(content)
        except binascii.Error:
            return "must contain at least one CERTIFICATE PEM block"  # Go ignores an invalid block
        if not der:
            return "found CERTIFICATE PEM block containing 0 certificates"
        while der:
            length = _length_of_sequence(der)
            if not 0 < length <= len(der):
                return "x509: malformed certificate"
            der = der[length:]
    return None if blocks else "must contain at least one CERTIFICATE PEM block"


_SEQUENCE, _SHORT_FORM = 0x30, 0x80


def _length_of_sequence(der: bytes) -> int:
    """Return the length of the DER sequence at the start, with its header; 0 if there is none."""
    if len(der) < 2 or der[0] != _SEQUENCE:
        return 0
    if der[1] < _SHORT_FORM:
        return 2 + der[1]
    head = 2 + der[1] - _SHORT_FORM
    return head + int.from_bytes(der[2:head], "big")
