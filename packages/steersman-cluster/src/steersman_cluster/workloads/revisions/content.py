"""The data of a revision: a patch that restores a Pod template, encoded as Go does. No I/O.

``kubectl rollout undo`` sends this patch unchanged. It also compares the patch with one that it
computes itself.
"""

from types import MappingProxyType
from typing import Any, Final

import msgspec

from steersman.kinds import Codec, apps_v1, core_v1
from steersman_cluster.workloads.pods import safe_name


def _plain(value: Any) -> Any:
    # The data of a revision is immutable, and msgspec encodes a dict.
    if isinstance(value, MappingProxyType):
        return dict(value)
    raise NotImplementedError(f"{type(value).__name__} cannot be encoded as JSON")


_CODEC: Final = Codec()
_SORTED: Final = msgspec.json.Encoder(order="sorted", enc_hook=_plain)

# Go escapes these characters in JSON.
_ESCAPED: Final = (
    (b"&", b"\\u0026"),
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)

# The part of a name, of at most 253 characters, that is left for the owner's name.
_MAX_OWNER_LENGTH: Final = 223

_FNV_START: Final = 0x811C9DC5
_FNV_PRIME: Final = 0x01000193


def template_patch(template: core_v1.PodTemplateSpec) -> bytes:
    """Return a strategic merge patch that sets the Pod template of an object to ``template``."""
    plain = msgspec.json.decode(_CODEC.encode(template))
    return canonical({"spec": {"template": {**plain, "$patch": "replace"}}})


def canonical(data: Any) -> bytes:
    """Return ``data`` as JSON bytes; equal data always results in equal bytes."""
    text = _SORTED.encode(data)
    for plain, escaped in _ESCAPED:
        if plain in text:
            text = text.replace(plain, escaped)
    return text


def template_of(revision: apps_v1.ControllerRevision) -> core_v1.PodTemplateSpec:
    """Return the Pod template that ``revision`` restores."""
    template = dict(revision.data["spec"]["template"])
    template.pop("$patch", None)
    return _CODEC.decode(
        core_v1.PodTemplateSpec, _SORTED.encode(template), wanted=f"the template in {revision.ref}"
    )


def content_hash(content: bytes, collisions: int) -> str:
    """Return the hash of ``content``, the data of a revision, and of ``collisions``.

    ``collisions`` is the number of hash collisions so far.
    """
    # FNV-1, not FNV-1a: names must equal those of kube-controller-manager.
    number = _FNV_START
    for byte in content + str(collisions).encode():
        number = (number * _FNV_PRIME & 0xFFFFFFFF) ^ byte
    return safe_name(number)


def revision_name(owner: str, digest: str) -> str:
    """Return the name of a revision: ``owner``, a hyphen, and ``digest``.

    ``owner`` is the owner's name, and is cut if it is too long.
    """
    return f"{owner[:_MAX_OWNER_LENGTH]}-{digest}"
