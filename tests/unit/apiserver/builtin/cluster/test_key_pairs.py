import pytest

from steersman_cluster.apiserver.builtin.cluster.key_pairs import chain_problem, key_pair_problem


def pem(*kinds: str) -> bytes:
    return "".join(
        f"-----BEGIN {kind}-----\nAAAA\n-----END {kind}-----\n" for kind in kinds
    ).encode()


@pytest.mark.parametrize("key", ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"])
def test_a_certificate_and_a_private_key_form_a_pair(key: str) -> None:
    assert key_pair_problem(pem("CERTIFICATE", "CERTIFICATE"), pem("EC PARAMETERS", key)) is None


@pytest.mark.parametrize(
    ("certificate", "key", "problem"),
    [
        (b"", b"", "failed to find any PEM data in certificate input"),
        (pem("CERTIFICATE"), b"text", "failed to find any PEM data in key input"),
        (pem("PRIVATE KEY"), pem("CERTIFICATE"), "PEM inputs may have been switched"),
        (pem("CERTIFICATE"), pem("CERTIFICATE"), "found a certificate rather than a key"),
        (pem("A", "B"), b"", "of the following types: [A B]"),
        (pem("CERTIFICATE"), pem("A"), "of the following types: [A]"),
    ],
)
def test_an_invalid_pair_is_reported_with_the_message_of_go(
    certificate: bytes, key: bytes, problem: str
) -> None:
    assert problem in (key_pair_problem(certificate, key) or "")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("MAA=", None),
        ("MAAwAA==", None),
        ("AAAA", "x509: malformed certificate"),
        ("MIIB", "x509: malformed certificate"),
        ("", "found CERTIFICATE PEM block containing 0 certificates"),
        ("a: b\n\nMAA=", "no PEM block headers are permitted"),
        ("M", "must contain at least one CERTIFICATE PEM block"),
    ],
)
def test_a_certificate_contains_one_asn1_value(content: str, problem: str | None) -> None:
    block = f"-----BEGIN CERTIFICATE-----\n{content}\n-----END CERTIFICATE-----\n".encode()

    assert chain_problem(block) == problem


def test_an_issued_chain_contains_only_certificates() -> None:
    assert chain_problem(b"text") == "must contain at least one CERTIFICATE PEM block"
    assert chain_problem(pem("KEY")) == 'only CERTIFICATE PEM blocks are allowed, found "KEY"'
