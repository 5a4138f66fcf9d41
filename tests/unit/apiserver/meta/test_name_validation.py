from collections.abc import Callable

import pytest

from steersman_cluster.apiserver.meta import name_validation as rules

LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and"
    " must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used"
    " for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or"
    " '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used"
    r" for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end"
    " with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
    " validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
NETWORK = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (rules.dns_label, "a-1"),
        (rules.dns_subdomain, "a.b-1.c"),
        (rules.dns_subdomain_with_underscores, "_a.b_c"),
        (rules.dns_1035_label, "a-1"),
        (rules.label_key, "example.com/A_b.c"),
        (rules.label_value, ""),
        (rules.label_value, "A_b.c"),
        (rules.config_key, ".a_b"),
        (rules.env_name, "1 anything but"),
        (rules.port_name, "web-1"),
        (rules.percent, "10%"),
        (rules.http_header_name, "X-Header"),
        (rules.path_segment, "a:b"),
        (rules.ip, "10.9.8.7"),
        (rules.ip, "2001:DB8::1"),
        (rules.canonical_ip, "2001:db8::1"),
        (rules.cidr, "10.0.0.0/8"),
    ],
)
def test_a_valid_name_has_no_errors(check: Callable[[str], list[str]], value: str) -> None:
    assert check(value) == []


@pytest.mark.parametrize(
    ("check", "value", "sentences"),
    [
        (rules.dns_label, "A", [LABEL]),
        (rules.dns_label, "", [LABEL]),
        (rules.dns_label, "a\n", [LABEL]),
        (rules.dns_label, "a.b", ["must not contain dots"]),
        (rules.dns_label, "a" * 64, ["must be no more than 63 characters"]),
        (rules.dns_label, "A" * 64, ["must be no more than 63 characters", LABEL]),
        (rules.dns_subdomain, "a..b", [SUBDOMAIN]),
        (rules.dns_subdomain, "a" * 254, ["must be no more than 253 characters"]),
        (rules.label_key, "", ["name part must be non-empty", NAME_PART]),
        (rules.label_key, "/a", ["prefix part must be non-empty"]),
        (rules.label_key, "A/a", [f"prefix part {SUBDOMAIN}"]),
        (rules.label_key, "a" * 64, ["name part must be no more than 63 bytes"]),
        (rules.label_value, "a" * 64, ["must be no more than 63 bytes"]),
        (rules.config_key, "..", ["must not be '..'"]),
        (rules.config_key, "..a", ["must not start with '..'"]),
        (rules.env_name, "", ["environment variable name must be non-empty"]),
        (
            rules.env_name,
            "a=b",
            [
                "a valid environment variable name must consist only of printable ASCII"
                " characters other than '='"
            ],
        ),
        (
            rules.port_name,
            "-1--2-",
            [
                "must contain at least one letter (a-z)",
                "must not contain consecutive hyphens",
                "must not begin or end with a hyphen",
            ],
        ),
        (rules.path_segment, "..", ["may not be '..'"]),
        (rules.path_segment, "a/b%", ["may not contain '/'", "may not contain '%'"]),
        (rules.ip, "1.2.3", [ADDRESS]),
        (rules.ip, "fe80::1%eth0", [ADDRESS]),
        (rules.ip, "01.2.3.4", ["must not have leading 0s"]),
        (rules.ip, "::ffff:1.2.3.4", ["must not be an IPv4-mapped IPv6 address"]),
        (rules.canonical_ip, "2001:DB8::1", ['must be in canonical form ("2001:db8::1")']),
        (rules.cidr, "10.0.0.0", [NETWORK]),
        (rules.cidr, "10.0.0.0/33", [NETWORK]),
        (rules.cidr, f"10.0.0.0/{'1' * 5000}", [NETWORK]),
        (rules.cidr, "10.0.0.0/08", ["must not have leading 0s in IP or prefix length"]),
        (rules.cidr, "10.0.0.1/8", ["must not have bits set beyond the prefix length"]),
        (rules.cidr, "::ffff:1.2.3.4/128", ["must not have an IPv4-mapped IPv6 address"]),
    ],
)
def test_an_invalid_name_is_rejected_with_the_message_of_kube_apiserver(
    check: Callable[[str], list[str]], value: str, sentences: list[str]
) -> None:
    assert check(value) == sentences


def test_a_generate_name_may_end_with_a_dash() -> None:
    assert rules.subdomain_name("web-", True) == []
    assert rules.subdomain_name("web-", False) == [SUBDOMAIN]


def test_a_number_outside_its_range_is_rejected_with_the_range() -> None:
    assert rules.port_number(65535) == []
    assert rules.port_number(0) == ["must be between 1 and 65535, inclusive"]
    assert rules.user_or_group_id(-1) == ["must be between 0 and 2147483647, inclusive"]
