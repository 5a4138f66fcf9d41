"""A key that signs: ES256, as JSON Web Tokens have it. Needs ``cryptography``."""

import hashlib
from base64 import urlsafe_b64encode

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

from steersman.wire import new_key

_ES256 = ec.ECDSA(hashes.SHA256())
# A signature is two numbers of so many bytes each, one after the other.
_NUMBER_BYTES = 32


class SigningKey:
    """Signs, and knows what it has signed."""

    def __init__(self) -> None:
        self._private = new_key()
        self._public = self._private.public_key()
        published = self._public.public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.id = urlsafe_b64encode(hashlib.sha256(published).digest()).decode().rstrip("=")

    def sign(self, message: bytes) -> bytes:
        """A signature of ``message``."""
        numbers = decode_dss_signature(self._private.sign(message, _ES256))
        return b"".join(number.to_bytes(_NUMBER_BYTES, "big") for number in numbers)

    def has_signed(self, message: bytes, signature: bytes) -> bool:
        """Whether ``signature`` is one of this key's, of ``message``."""
        if len(signature) != 2 * _NUMBER_BYTES:
            return False
        numbers = (signature[:_NUMBER_BYTES], signature[_NUMBER_BYTES:])
        encoded = encode_dss_signature(*(int.from_bytes(each, "big") for each in numbers))
        try:
            self._public.verify(encoded, message, _ES256)
        except InvalidSignature:
            return False
        return True

    def __repr__(self) -> str:
        return f"<SigningKey {self.id}>"
