"""Settings of the API server from kube-apiserver's flags."""

from ipaddress import IPv4Network
from pathlib import Path

import pytest

from steersman_cluster.commands.launchers import BadFlag, ParsedFlags, parsed
from steersman_cluster.commands.launchers.apiserver_flags import API_SERVER_FLAGS, SHORTHANDS
from steersman_cluster.commands.launchers.apiserver_settings import ParsedSettings, parse_settings

ENOUGH = (
    "--etcd-servers=http://127.0.0.1:2379",
    "--service-account-issuer=https://issuer",
    "--service-account-key-file=/sa.crt",
    "--service-account-signing-key-file=/sa.key",
)


def given(*arguments: str) -> ParsedFlags:
    return parsed(arguments, API_SERVER_FLAGS, shorthands=SHORTHANDS, program="kube-apiserver")


def settings_with(*more: str) -> ParsedSettings:
    return parse_settings(given(*ENOUGH, *more))


def error_of(*arguments: str) -> str:
    with pytest.raises(BadFlag) as refused:
        parse_settings(given(*arguments))
    return str(refused.value)


def test_flags_set_the_listen_address_and_the_keys() -> None:
    settings, notes = settings_with(
        "--secure-port=16443",
        "--bind-address=127.0.0.1",
        "--advertise-address=10.1.2.3",
        "--cert-dir=/certs",
        "--client-ca-file=/ca.crt",
        "--token-auth-file=/tokens.csv",
        "--api-audiences=one,two",
        "--permit-port-sharing",
    )

    assert (settings.host, settings.port, settings.share_port) == ("127.0.0.1", 16443, True)
    assert settings.advertise_address == "10.1.2.3"
    assert settings.cert_dir == Path("/certs")
    assert settings.client_ca_file == Path("/ca.crt")
    assert settings.token_auth_file == Path("/tokens.csv")
    assert settings.service_account_key_files == (Path("/sa.crt"),)
    assert settings.service_account_signing_key_file == Path("/sa.key")
    assert settings.service_account_issuers == ("https://issuer",)
    assert settings.api_audiences == ("one", "two")
    assert notes == []


def test_flags_set_the_service_ranges() -> None:
    options = settings_with("--service-node-port-range=30000-30010").settings.options

    assert options.service_cluster_ip_range == IPv4Network("10.0.0.0/24")
    assert options.service_node_port_range == range(30000, 30011)

    options = settings_with("--service-cluster-ip-range=10.96.0.0/12").settings.options
    assert options.service_cluster_ip_range == IPv4Network("10.96.0.0/12")


def test_without_an_authorization_mode_authenticated_users_may_do_everything() -> None:
    options = settings_with().settings.options

    assert options.authorization_mode == ("AlwaysAllow",)
    assert not options.anonymous_auth
    assert settings_with("--authorization-mode=RBAC").settings.options.anonymous_auth


def test_flags_disable_admission_plugins() -> None:
    assert "ServiceAccount" in settings_with().settings.options.admission_plugins

    options = settings_with("--disable-admission-plugins=ServiceAccount,Priority").settings.options
    assert not options.admission_plugins & {"ServiceAccount", "Priority"}
    assert "RuntimeClass" in options.admission_plugins


def test_a_flag_without_an_effect_is_accepted_and_mentioned_on_stderr() -> None:
    notes = settings_with(
        "--audit-log-path=/x",
        "--feature-gates=A=true",
        "--enable-admission-plugins=NodeRestriction",
        "--service-cluster-ip-range=10.0.0.0/24,fd00::/108",
    ).notes

    assert notes == [
        "accepted, but ignored: --audit-log-path --feature-gates",
        "admission plugins not implemented, or always enabled: NodeRestriction",
        "Services use only addresses of the first --service-cluster-ip-range",
    ]


def test_all_missing_flags_are_reported_with_the_message_of_the_real_server() -> None:
    assert error_of() == (
        "[--etcd-servers must be specified, service-account-issuer is a required flag,"
        " either `--service-account-key-file` or `--service-account-signing-endpoint` must be set,"
        " --service-account-signing-key-file and --service-account-issuer are required flags]"
    )


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        (
            "--secure-port=70000",
            "--secure-port 70000 must be between 1 and 65535, inclusive."
            " It cannot be turned off with 0",
        ),
        ("--authorization-mode=Foo", 'authorization-mode "Foo" is not a valid mode'),
        (
            "--authorization-mode=ABAC",
            'authorization-mode "ABAC" is not available in the embedded server',
        ),
        (
            "--disable-admission-plugins=Foo",
            'disable-admission-plugins plugin "Foo" is unknown',
        ),
    ],
)
def test_an_invalid_value_is_rejected(argument: str, why: str) -> None:
    assert error_of(*ENOUGH, argument) == why
