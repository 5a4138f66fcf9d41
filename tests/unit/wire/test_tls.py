"""The trusted authorities and client certificates of a TLS context, and invalid certificates."""

import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from steersman.errors import CertificateRefused, ConfigError
from steersman.wire import TlsSettings, tls_context
from steersman.wire.tls import _private_file
from tests.certificates import Authority

SOURCE = "kubeconfig config.yaml"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def test_without_a_ca_the_system_roots_are_trusted(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "roots.pem"
    bundle.write_bytes(authority.certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))

    context = tls_context(TlsSettings(), source=SOURCE)

    assert context.cert_store_stats()["x509_ca"] == 1
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_a_given_ca_is_the_only_root(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "roots.pem"
    bundle.write_bytes(Authority("of the system").certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))

    context = tls_context(TlsSettings(ca_data=authority.certificate), source=SOURCE)

    (root,) = context.get_ca_certs()
    assert root["subject"] == ((("commonName", "test authority"),),)


def test_the_minimum_version_is_tls_1_2() -> None:
    context = tls_context(TlsSettings(), source=SOURCE)

    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_a_ca_bundle_can_have_comments_in_any_encoding(authority: Authority) -> None:
    bundle = "# Autorité de Zürich\n".encode() + authority.certificate

    context = tls_context(TlsSettings(ca_data=bundle), source=SOURCE)

    assert len(context.get_ca_certs()) == 1


def test_verification_is_disabled_only_on_request() -> None:
    context = tls_context(TlsSettings(verify=False), source=SOURCE)

    assert context.verify_mode is ssl.CERT_NONE
    assert not context.check_hostname


@pytest.mark.parametrize(
    "bundle",
    [
        b"",
        b"not PEM",
        b"\xff\xfe\x00",
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        b"-----BEGIN CERTIFICATE-----\n",
    ],
)
def test_the_error_for_an_unreadable_ca_has_its_name(bundle: bytes) -> None:
    with pytest.raises(ConfigError, match=f"^{SOURCE}: no certificate can be read"):
        tls_context(TlsSettings(ca_data=bundle), source=SOURCE)


def test_a_ca_and_no_verification_contradict_each_other(authority: Authority) -> None:
    settings = TlsSettings(ca_data=authority.certificate, verify=False)

    with pytest.raises(ConfigError, match=f"^{SOURCE}: a CA is set"):
        tls_context(settings, source=SOURCE)


def bad_pairs() -> dict[str, Callable[[Authority], tuple[bytes | None, bytes | None]]]:
    return {
        "no key": lambda ca: (ca.client("me").certificate, None),
        "no certificate": lambda ca: (None, ca.client("me").key),
        "empty certificate": lambda ca: (b"", ca.client("me").key),
        "empty key": lambda ca: (ca.client("me").certificate, b""),
        "swapped": lambda ca: (ca.client("me").key, ca.client("me").certificate),
        "cut off": lambda ca: (ca.client("me").certificate, ca.client("me").key[:100]),
        "encrypted": lambda ca: (
            (pair := ca.client("me")).certificate,
            pair.encrypted_key(b"canary"),
        ),
    }


@pytest.mark.parametrize("case", bad_pairs())
def test_the_error_for_an_unusable_client_certificate_has_its_name(
    authority: Authority, case: str
) -> None:
    certificate, key = bad_pairs()[case](authority)
    settings = TlsSettings(client_certificate=certificate, client_key=key)

    with pytest.raises(ConfigError, match=f"^{SOURCE}: ") as caught:
        tls_context(settings, source=SOURCE)

    assert "PRIVATE KEY" not in str(caught.value)


def test_an_encrypted_key_is_rejected_without_a_password_prompt(
    authority: Authority,
) -> None:
    pair = authority.client("me")
    settings = TlsSettings(
        client_certificate=pair.certificate, client_key=pair.encrypted_key(b"canary")
    )

    with pytest.raises(ConfigError, match="the client key is encrypted"):
        tls_context(settings, source=SOURCE)


def test_a_key_of_another_certificate_is_rejected(authority: Authority) -> None:
    settings = TlsSettings(
        client_certificate=authority.client("me").certificate,
        client_key=authority.client("another user").key,
    )

    with pytest.raises(CertificateRefused, match="does not belong to the client certificate"):
        tls_context(settings, source=SOURCE)


@pytest.mark.parametrize("readable", [True, False])
def test_no_key_is_left_on_disk(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, readable: bool
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    pair = authority.client("me")
    key = pair.key if readable else pair.key[:100]
    settings = TlsSettings(client_certificate=pair.certificate, client_key=key)

    try:
        tls_context(settings, source=SOURCE)
    except ConfigError:
        assert not readable

    assert list(tmp_path.iterdir()) == []


def test_a_private_file_is_readable_by_this_user_only() -> None:
    with _private_file(b"canary") as name:
        path = Path(name)

        assert path.read_bytes() == b"canary"
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_private_file_is_removed_after_an_error() -> None:
    names: list[str] = []

    with suppress(RuntimeError), _private_file(b"canary") as name:
        names.append(name)
        raise RuntimeError

    assert not Path(names[0]).parent.exists()


def test_no_key_appears_in_the_repr_of_settings(authority: Authority) -> None:
    pair = authority.client("me")

    settings = TlsSettings(client_certificate=pair.certificate, client_key=pair.key)

    assert "BEGIN" not in repr(settings)
