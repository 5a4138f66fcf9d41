"""Signing keys of each algorithm, and the formats of their files."""

from base64 import urlsafe_b64decode

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from steersman_cluster.apiserver.authn.signing_keys import (
    PrivateKey,
    SigningKey,
    VerifyingKey,
    signing_key_in,
    verifying_keys_in,
)
from tests.certificates import Authority

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
P256, P384, P521 = (
    ec.generate_private_key(curve) for curve in (ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1())
)

EACH = pytest.mark.parametrize(
    ("private", "algorithm"),
    [(RSA, "RS256"), (P256, "ES256"), (P384, "ES384"), (P521, "ES512")],
    ids=["RS256", "ES256", "ES384", "ES512"],
)


def private_pem(
    key: PrivateKey | ed25519.Ed25519PrivateKey,
    form: serialization.PrivateFormat = serialization.PrivateFormat.PKCS8,
) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def public_pem(key: PrivateKey) -> bytes:
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


@EACH
def test_a_key_verifies_only_its_own_signatures(private: PrivateKey, algorithm: str) -> None:
    key = SigningKey(private)
    known = VerifyingKey(private.public_key())

    signature = key.sign(b"message")

    assert (known.algorithm, known.id) == (algorithm, key.id)
    assert known.verifies(b"message", signature)
    assert not known.verifies(b"another", signature)
    assert not known.verifies(b"message", signature[:-1])
    assert not SigningKey().verifies(b"message", signature)


@EACH
def test_the_published_key_is_the_public_key(private: PrivateKey, algorithm: str) -> None:
    published = SigningKey(private).json_web_key()

    assert published["alg"] == algorithm
    assert "d" not in published
    numbers = private.public_key().public_numbers()
    wanted = numbers.n if isinstance(numbers, rsa.RSAPublicNumbers) else numbers.x
    written = published["n" if algorithm == "RS256" else "x"]
    assert int.from_bytes(urlsafe_b64decode(written + "=="), "big") == wanted


@pytest.mark.parametrize(
    "form", [serialization.PrivateFormat.PKCS8, serialization.PrivateFormat.TraditionalOpenSSL]
)
def test_a_private_key_is_read_from_both_formats(form: serialization.PrivateFormat) -> None:
    for private in (RSA, P256):
        pem = b"text before\n" + private_pem(private, form)

        assert signing_key_in(pem).id == SigningKey(private).id
        assert [key.id for key in verifying_keys_in(pem)] == [SigningKey(private).id]


def test_a_file_may_contain_several_verifying_keys() -> None:
    certified = Authority().client("signer")
    pem = public_pem(RSA) + certified.certificate + public_pem(P384)

    found = [key.id for key in verifying_keys_in(pem)]

    assert found == [
        SigningKey(RSA).id,
        signing_key_in(certified.key).id,
        SigningKey(P384).id,
    ]


@pytest.mark.parametrize(
    "pem",
    [b"", b"nonsense", private_pem(ed25519.Ed25519PrivateKey.generate())],
    ids=["empty", "not PEM", "unsupported algorithm"],
)
def test_a_file_without_a_key_is_rejected(pem: bytes) -> None:
    with pytest.raises(ValueError, match="does not contain"):
        signing_key_in(pem)
    with pytest.raises(ValueError, match="does not contain"):
        verifying_keys_in(pem)


def test_an_unsupported_curve_is_rejected() -> None:
    other = ec.generate_private_key(ec.SECP256K1())

    with pytest.raises(ValueError, match="must be 256, 384, or 521"):
        SigningKey(other)
