"""A short name for a template, the same in every process. Pure.

Not the one that Kubernetes' own controllers would give it, which hash how Go prints their structs:
it is a name, and nobody compares the two.
"""

import msgspec

from steersman.kinds import Codec, Part

# What Kubernetes makes names of: no vowels, so that no words come out.
SAFE_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"

_ENCODE = Codec().encode
_START, _PRIME, _WHOLE = 0x811C9DC5, 0x01000193, 0xFFFFFFFF


def template_hash(template: Part, collisions: int | None = None) -> str:
    """A name for this template; with each collision that is counted, another one."""
    plain = msgspec.json.decode(_ENCODE(template))
    content = msgspec.json.encode(plain, order="sorted")
    if collisions is not None:
        content += collisions.to_bytes(8, "little")
    return safe_name(fnv_1a(content))


def fnv_1a(content: bytes) -> int:
    """The 32 bits of FNV-1a."""
    hashed = _START
    for byte in content:
        hashed = ((hashed ^ byte) * _PRIME) & _WHOLE
    return hashed


def safe_name(number: int) -> str:
    """The digits of a number, as characters that make no words."""
    return "".join(SAFE_ALPHABET[ord(digit) % len(SAFE_ALPHABET)] for digit in str(number))
