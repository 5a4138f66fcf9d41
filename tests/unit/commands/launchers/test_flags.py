"""Parsing of flags in Go syntax, with Go's error messages."""

import pytest

from steersman_cluster.commands.launchers import BadFlag, ParsedFlags, parsed
from steersman_cluster.commands.launchers.apiserver_flags import API_SERVER_FLAGS, SHORTHANDS
from steersman_cluster.commands.launchers.etcd_flags import ETCD_FLAGS


def api_server(*arguments: str) -> ParsedFlags:
    return parsed(arguments, API_SERVER_FLAGS, shorthands=SHORTHANDS, program="kube-apiserver")


def error_of(*arguments: str) -> str:
    with pytest.raises(BadFlag) as refused:
        api_server(*arguments)
    return str(refused.value)


def test_a_value_follows_an_equals_sign_or_is_the_next_argument() -> None:
    given = api_server("--secure-port=6443", "--bind-address", "127.0.0.1")

    assert given.one("secure-port") == "6443"
    assert given.one("bind-address") == "127.0.0.1"


def test_a_boolean_flag_does_not_consume_the_next_argument() -> None:
    given = api_server("--permit-port-sharing", "--anonymous-auth=false", "--secure-port=1")

    assert given.yes("permit-port-sharing")
    assert not given.yes("anonymous-auth", default=True)
    assert given.yes("profiling", default=True)


def test_a_repeated_flag_uses_the_last_value_or_all() -> None:
    given = api_server(
        "--secure-port=1",
        "--secure-port=2",
        "--service-account-issuer=https://one,https://two",
        "--service-account-issuer=https://three",
        "--authorization-mode=Node,RBAC",
        "--authorization-mode=AlwaysAllow",
    )

    assert given.one("secure-port") == "2"
    assert given.each("service-account-issuer") == ("https://one,https://two", "https://three")
    assert given.listed("authorization-mode") == ("Node", "RBAC", "AlwaysAllow")


def test_underscores_and_dashes_are_equivalent() -> None:
    assert api_server("--secure_port=1").one("secure-port") == "1"


def test_a_shorthand_flag_equals_its_long_form() -> None:
    assert api_server("-v", "4").one("v") == "4"
    assert api_server("-h").yes("help")


def test_a_flag_that_the_real_program_lacks_is_rejected_with_the_same_error() -> None:
    assert error_of("--nonsense=1") == "unknown flag: --nonsense"
    assert error_of("-x") == "unknown shorthand flag: 'x' in -x"
    assert error_of("extra") == '"kube-apiserver" does not take any arguments, got ["extra"]'
    with pytest.raises(BadFlag, match="flag provided but not defined: -nonsense"):
        parsed(
            ["--nonsense"],
            ETCD_FLAGS,
            shorthands={},
            program="etcd",
            unknown="flag provided but not defined: -",
        )


def test_a_flag_without_a_value_is_rejected() -> None:
    assert error_of("--etcd-servers") == "flag needs an argument: --etcd-servers"


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        (
            "--secure-port=x",
            '"x" for "--secure-port" flag: strconv.ParseInt: parsing "x": invalid syntax',
        ),
        (
            "--anonymous-auth=maybe",
            '"maybe" for "--anonymous-auth" flag:'
            ' strconv.ParseBool: parsing "maybe": invalid syntax',
        ),
        ("--bind-address=foo", '"foo" for "--bind-address" flag: failed to parse IP: "foo"'),
        ("--event-ttl=long", '"long" for "--event-ttl" flag: time: invalid duration "long"'),
    ],
)
def test_a_value_of_the_wrong_type_is_rejected(argument: str, why: str) -> None:
    assert error_of(argument) == f"invalid argument {why}"


def test_the_repr_of_parsed_flags_does_not_contain_their_values() -> None:
    assert repr(api_server("--token-auth-file=secret")) == "<ParsedFlags token-auth-file>"
