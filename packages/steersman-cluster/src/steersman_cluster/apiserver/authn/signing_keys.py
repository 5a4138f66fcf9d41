"""Keys that sign tokens and verify signatures, according to the JSON Web Token standard.

The algorithm is RS256 for RSA keys, and ES256, ES384 or ES512 for elliptic curve keys, depending on
the curve. Requires ``cryptography``.
"""

import hashlib
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

from steersman.wire import new_key

PublicKey: TypeAlias = rsa.RSAPublicKey | ec.EllipticCurvePublicKey
PrivateKey: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

_CURVES: Mapping[str, tuple[str, str, hashes.HashAlgorithm]] = {
    "secp256r1": ("ES256", "P-256", hashes.SHA256()),
    "secp384r1": ("ES384", "P-384", hashes.SHA384()),
    "secp521r1": ("ES512", "P-521", hashes.SHA512()),
}
_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)


class VerifyingKey:
    """A public key that verifies signatures of the corresponding private key."""

    def __init__(self, public: PublicKey) -> None:
        self._public = public
        published = public.public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.id = _text(hashlib.sha256(published).digest())
        self.algorithm = "RS256"
        self._hash: hashes.HashAlgorithm = hashes.SHA256()
        if isinstance(public, ec.EllipticCurvePublicKey):
            if public.curve.name not in _CURVES:
                raise ValueError("unknown private key curve, must be 256, 384, or 521")
            self.algorithm, self._curve, self._hash = _CURVES[public.curve.name]

    def verifies(self, message: bytes, signature: bytes) -> bool:
        """Whether ``signature`` is a valid signature of ``message`` by this key."""
        public = self._public
        try:
            if isinstance(public, rsa.RSAPublicKey):
                public.verify(signature, message, padding.PKCS1v15(), self._hash)
            else:
                size = number_bytes(public)
                if len(signature) != 2 * size:
                    return False
                numbers = (signature[:size], signature[size:])
                encoded = encode_dss_signature(*(int.from_bytes(each, "big") for each in numbers))
                public.verify(encoded, message, ec.ECDSA(self._hash))
        except InvalidSignature:
            return False
        return True

    def json_web_key(self) -> dict[str, str]:
        """The public key as a JSON Web Key (JWK)."""
        public = self._public
        about = {"use": "sig", "kty": "EC", "kid": self.id}
        if isinstance(public, rsa.RSAPublicKey):
            parts = public.public_numbers()
            return {
                **about,
                "kty": "RSA",
                "alg": self.algorithm,
                "n": _text(_bytes(parts.n)),
                "e": _text(_bytes(parts.e)),
            }
        point, size = public.public_numbers(), number_bytes(public)
        return {
            **about,
            "crv": self._curve,
            "alg": self.algorithm,
            "x": _text(point.x.to_bytes(size, "big")),
            "y": _text(point.y.to_bytes(size, "big")),
        }

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"


class SigningKey(VerifyingKey):
    """A private key that creates signatures, and can also verify them."""

    def __init__(self, private: PrivateKey | None = None) -> None:
        self._private = private or new_key()
        super().__init__(self._private.public_key())

    def sign(self, message: bytes) -> bytes:
        """Return a signature of ``message`` by this key."""
        private = self._private
        if isinstance(private, rsa.RSAPrivateKey):
            return private.sign(message, padding.PKCS1v15(), self._hash)
        size = number_bytes(private.public_key())
        numbers = decode_dss_signature(private.sign(message, ec.ECDSA(self._hash)))
        return b"".join(number.to_bytes(size, "big") for number in numbers)


def signing_key_in(pem: bytes) -> SigningKey:
    """Return the first private key in ``pem``, the content of a PEM file.

    Raises ``ValueError`` if there is none.
    """
    for block in _blocks(pem):
        if isinstance(found := _private(block), rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey):
            return SigningKey(found)
    raise ValueError("data does not contain a valid RSA or ECDSA private key")


def verifying_keys_in(pem: bytes) -> list[VerifyingKey]:
    """Return the public keys of all keys and certificates in ``pem``.

    ``pem`` is the content of a PEM file. Raises ``ValueError`` if it contains none.
    """
    found = [
        VerifyingKey(key)
        for key in map(_public, _blocks(pem))
        if isinstance(key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey)
    ]
    if not found:
        raise ValueError("data does not contain any valid RSA or ECDSA public keys")
    return found


def _blocks(pem: bytes) -> Iterator[bytes]:
    return (found[0] for found in _BLOCK.finditer(pem))


def _private(block: bytes) -> object:
    try:
        return serialization.load_pem_private_key(block, password=None)
    except (ValueError, TypeError):  # not a key, or an encrypted key
        return None


def _public(block: bytes) -> object:
    if (private := _private(block)) is not None:
        return getattr(private, "public_key", lambda: None)()
    try:
        if b"CERTIFICATE" in block.partition(b"\n")[0]:
            return x509.load_pem_x509_certificate(block).public_key()
        return serialization.load_pem_public_key(block)
    except ValueError:
        return None


def number_bytes(public: ec.EllipticCurvePublicKey) -> int:
    """Return the size in bytes of each of the two numbers in a signature of the curve."""
    return (public.curve.key_size + 7) // 8


def _bytes(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")
