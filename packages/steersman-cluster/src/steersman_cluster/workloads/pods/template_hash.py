"""The hash of a Pod template, which is the same in every process. No I/O.

The hash differs from kube-controller-manager's, which hashes the printed Go structs. The difference
is harmless: the hash is part of names, and no component compares the two.
"""

import msgspec

from steersman.kinds import Codec, Part

# The alphabet of Kubernetes' generated names: no vowels, so that no words appear.
SAFE_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"

_ENCODE = Codec().encode
_START, _PRIME, _WHOLE = 0x811C9DC5, 0x01000193, 0xFFFFFFFF


def template_hash(template: Part, collisions: int | None = None) -> str:
    """Return the hash of ``template`` and ``collisions``.

    ``collisions`` is the number of hash collisions so far.
    """
    plain = msgspec.json.decode(_ENCODE(template))
    content = msgspec.json.encode(plain, order="sorted")
    if collisions is not None:
        content += collisions.to_bytes(8, "little")
    return safe_name(fnv_1a(content))


def fnv_1a(content: bytes) -> int:
    """Return the 32-bit FNV-1a hash of ``content``."""
    hashed = _START
    for byte in content:
        hashed = ((hashed ^ byte) * _PRIME) & _WHOLE
    return hashed


def safe_name(number: int) -> str:
    """Return the digits of ``number``, each replaced by a character of ``SAFE_ALPHABET``."""
    return "".join(SAFE_ALPHABET[ord(digit) % len(SAFE_ALPHABET)] for digit in str(number))
