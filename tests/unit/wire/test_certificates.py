"""Generated certificates: trust, lifetime and contents."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from steersman.wire import CertificateAuthority

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def authority() -> CertificateAuthority:
    return CertificateAuthority("tests", now=NOW)


def trusting(authority: CertificateAuthority) -> Store:
    return Store([x509.load_pem_x509_certificate(authority.pem)])


def test_a_server_certificate_is_valid_for_its_names(
    authority: CertificateAuthority,
) -> None:
    pem, _ = authority.for_server("api", reachable_as=("localhost", "127.0.0.1"))
    server = x509.load_pem_x509_certificate(pem)
    policy = PolicyBuilder().store(trusting(authority)).time(NOW)

    assert policy.build_server_verifier(x509.DNSName("localhost")).verify(server, [])
    with pytest.raises(VerificationError):
        policy.build_server_verifier(x509.DNSName("example.com")).verify(server, [])


def test_another_ca_of_the_same_name_is_not_trusted(
    authority: CertificateAuthority,
) -> None:
    impostor = CertificateAuthority("tests", now=NOW)
    pem, _ = impostor.for_server("api", reachable_as=("localhost",))
    policy = PolicyBuilder().store(trusting(authority)).time(NOW)

    with pytest.raises(VerificationError):
        policy.build_server_verifier(x509.DNSName("localhost")).verify(
            x509.load_pem_x509_certificate(pem), []
        )


def test_a_client_has_its_name_and_groups_in_its_certificate(
    authority: CertificateAuthority,
) -> None:
    pem, _ = authority.for_client("jane", groups=("editors", "readers"))

    client = x509.load_pem_x509_certificate(pem)

    subject = client.subject
    assert [each.value for each in subject.get_attributes_for_oid(NameOID.COMMON_NAME)] == ["jane"]
    groups = subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    assert sorted(str(each.value) for each in groups) == ["editors", "readers"]
    usage = client.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]


def test_a_certificate_is_valid_for_at_most_a_week(
    authority: CertificateAuthority,
) -> None:
    made = [authority.pem, authority.for_client("jane")[0]]

    for each in map(x509.load_pem_x509_certificate, made):
        assert each.not_valid_before_utc < NOW < each.not_valid_after_utc
        assert each.not_valid_after_utc - NOW <= timedelta(days=7)


def test_every_certificate_has_its_own_key(authority: CertificateAuthority) -> None:
    keys = {authority.for_client("jane")[1] for _ in range(3)}

    assert len(keys) == 3
