"""A certificate and its key, as far as one can tell without reading them: which PEM is where."""

import re

_BLOCK = re.compile(
    rb"^-----BEGIN (?P<type>[^\n]*?)-----\s*$.*?^-----END (?P=type)-----\s*$",
    re.DOTALL | re.MULTILINE,
)


def key_pair_problem(certificate: bytes, key: bytes) -> str | None:
    """What Go's TLS would say of the two, or None."""
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
