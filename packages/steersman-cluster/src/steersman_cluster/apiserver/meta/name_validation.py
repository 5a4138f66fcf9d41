"""Validation of names, keys, ports and addresses.

Each function returns kube-apiserver's messages, or an empty list if the value is valid. In a
response, the message follows ``Invalid value: "…": ``.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final, TypeAlias

Check: TypeAlias = Callable[[str], list[str]]

_DNS_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_SUBDOMAIN: Final = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
_DNS_1035_LABEL: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_UNDERSCORED_LABEL: Final = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_UNDERSCORED_SUBDOMAIN: Final = rf"{_UNDERSCORED_LABEL}(\.{_UNDERSCORED_LABEL})*"
_NAME_PART: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_NAME_PART_RULE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an"
    " alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
    f" validation is '{_NAME_PART}')"
)

MAX_LABEL: Final = 63
MAX_SUBDOMAIN: Final = 253
NOT_NEGATIVE: Final = "must be greater than or equal to 0"


def regex_rule(rule: str, regex: str, *examples: str) -> str:
    """Return the message of kube-apiserver that ``rule`` is violated.

    The message consists of ``rule``, ``examples`` of valid values, and the regular expression
    ``regex``.
    """
    shown = " or ".join(f"'{each}', " for each in examples)
    return f"{rule} ({f'e.g. {shown}' if shown else ''}regex used for validation is '{regex}')"


def _regex_check(regex: str, *examples: str, rule: str, at_most: int | None = None) -> Check:
    """Return a check by regular expression, and by length if ``at_most`` is given."""
    matches = re.compile(regex).fullmatch
    sentence = regex_rule(rule, regex, *examples)
    longest = at_most or 1 << 62

    def check(value: str) -> list[str]:
        if len(value) <= longest and matches(value):
            return []
        errors = []
        if len(value.encode()) > longest:
            errors.append(f"must be no more than {at_most} characters")
        if not matches(value):
            errors.append(sentence)
        return errors

    return check


dns_subdomain = _regex_check(
    _DNS_SUBDOMAIN,
    "example.com",
    rule="a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters,"
    " '-' or '.', and must start and end with an alphanumeric character",
    at_most=MAX_SUBDOMAIN,
)
dns_subdomain_with_underscores = _regex_check(
    _UNDERSCORED_SUBDOMAIN,
    "example.com",
    rule="a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters,"
    " '_', '-' or '.', and must start and end with an alphanumeric character",
    at_most=MAX_SUBDOMAIN,
)
wildcard_subdomain = _regex_check(
    rf"\*\.{_DNS_SUBDOMAIN}",
    "*.example.com",
    rule="a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain,"
    " which must consist of lower case alphanumeric characters, '-' or '.' and end with an"
    " alphanumeric character",
    at_most=MAX_SUBDOMAIN,
)
http_path = _regex_check(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+", rule="Invalid path")
condition_reason = _regex_check(
    "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?",
    "my_name",
    "MY_NAME",
    "MyName",
    "ReasonA,ReasonB",
    "ReasonA:ReasonB",
    rule="a condition reason must start with alphabetic character, optionally followed by a string"
    " of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
)
dns_1035_label = _regex_check(
    _DNS_1035_LABEL,
    "my-name",
    "abc-123",
    rule="a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with"
    " an alphabetic character, and end with an alphanumeric character",
    at_most=MAX_LABEL,
)
percent = _regex_check(
    "[0-9]+%",
    "1%",
    "93%",
    rule="a valid percent string must be a numeric string followed by an ending '%'",
)
http_header_name = _regex_check(
    "[-A-Za-z0-9]+",
    "X-Header-Name",
    rule="a valid HTTP header must consist of alphanumeric characters or '-'",
)

_dns_label_regex = _regex_check(
    _DNS_LABEL,
    "my-name",
    "123-abc",
    rule="a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-',"
    " and must start and end with an alphanumeric character",
    at_most=MAX_LABEL,
)
_config_key_regex = _regex_check(
    "[-._a-zA-Z0-9]+",
    "key.name",
    "KEY_NAME",
    "key-name",
    rule="a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    at_most=MAX_SUBDOMAIN,
)
_label_value_regex = _regex_check(
    f"({_NAME_PART})?",
    "MyValue",
    "my_value",
    "12345",
    rule="a valid label must be an empty string or consist of alphanumeric characters, '-', '_'"
    " or '.', and must start and end with an alphanumeric character",
    at_most=MAX_LABEL,
)
_is_name_part: Final = re.compile(_NAME_PART).fullmatch
_is_subdomain: Final = re.compile(_DNS_SUBDOMAIN).fullmatch
_is_port_charset: Final = re.compile("[-a-z0-9]+").fullmatch
_has_letter: Final = re.compile("[a-z]").search
_is_plain_env_name: Final = re.compile(r"[ -<>-~]+").fullmatch


def _in_bytes(sentences: list[str]) -> list[str]:
    # Some of kube-apiserver's messages name the same limit in "characters", others in "bytes".
    return [
        each.removesuffix("characters") + "bytes" if each.startswith("must be no more") else each
        for each in sentences
    ]


def dns_label(value: str) -> list[str]:
    """Validate one label of a DNS name: ``my-name``."""
    errors = _dns_label_regex(value)
    if errors and _is_subdomain(value) and "." in value:
        errors[-1] = "must not contain dots"
    return errors


def label_key(value: str) -> list[str]:
    """Validate a qualified name, such as a label key or resource name: ``example.com/MyName``."""
    is_short = len(value) <= MAX_SUBDOMAIN + 1 + MAX_LABEL
    return [] if is_short and _is_label_key(value) else _label_key_errors(value)


@lru_cache(maxsize=1024)  # most objects have the same few keys, and each write validates them
def _is_label_key(value: str) -> bool:
    return not _label_key_errors(value)


def _label_key_errors(value: str) -> list[str]:
    prefix, slash, name = value.rpartition("/")
    if "/" in prefix:
        return [
            f"a valid label key {_NAME_PART_RULE} with an optional DNS subdomain prefix and '/'"
            " (e.g. 'example.com/MyName')"
        ]
    errors: list[str] = []
    if slash and not prefix:
        errors.append("prefix part must be non-empty")
    elif slash:
        errors += [f"prefix part {each}" for each in _in_bytes(dns_subdomain(prefix))]
    if not name:
        errors.append("name part must be non-empty")
    elif len(name.encode()) > MAX_LABEL:
        errors.append(f"name part must be no more than {MAX_LABEL} bytes")
    if not _is_name_part(name):
        errors.append(f"name part {_NAME_PART_RULE}")
    return errors


def label_value(value: str) -> list[str]:
    """Validate the value of a label, which may be empty."""
    errors = _label_value_regex(value)
    return _in_bytes(errors) if errors else errors


def config_key(value: str) -> list[str]:
    """Validate a key in the data of a ConfigMap or Secret."""
    return _config_key_regex(value) + _not_a_parent_directory(value)


def env_name(value: str) -> list[str]:
    """Validate the name of an environment variable."""
    if _is_plain_env_name(value):
        return []
    if not value:
        return ["environment variable name must be non-empty"]
    return [
        "a valid environment variable name must consist only of printable ASCII characters"
        " other than '='"
    ]


def _not_a_parent_directory(value: str) -> list[str]:
    if value in (".", ".."):
        return [f"must not be '{value}'"]
    return ["must not start with '..'"] if value.startswith("..") else []


def within(value: int, low: int, high: int) -> list[str]:
    """Validate that ``value`` is at least ``low`` and at most ``high``."""
    return [] if low <= value <= high else [f"must be between {low} and {high}, inclusive"]


def port_number(value: int) -> list[str]:
    """Validate a port number: 1 to 65535."""
    return within(value, 1, 65535)


def user_or_group_id(value: int) -> list[str]:
    """Validate a Unix uid or gid."""
    return within(value, 0, 2**31 - 1)


def port_name(value: str) -> list[str]:
    """Validate an IANA service name, which names a port."""
    errors: list[str] = []
    if len(value.encode()) > 15:
        errors.append("must be no more than 15 characters")
    if not _is_port_charset(value):
        errors.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not _has_letter(value):
        errors.append("must contain at least one letter (a-z)")
    if "--" in value:
        errors.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        errors.append("must not begin or end with a hyphen")
    return errors


def path_segment(value: str) -> list[str]:
    """Validate a name that is a segment of a URL path."""
    if value in (".", ".."):
        return [f"may not be '{value}'"]
    return path_segment_prefix(value)


def path_segment_prefix(value: str) -> list[str]:
    """Validate the first part of a name that is a segment of a URL path."""
    return [f"may not contain '{each}'" for each in "/%" if each in value]


def subdomain_name(name: str, is_prefix: bool) -> list[str]:
    """Validate ``name`` as a DNS subdomain, which is the rule for the names of most kinds.

    The function has the signature of ``Strategy.name_errors``. If ``is_prefix`` is true, ``name``
    is a ``generateName``.
    """
    return dns_subdomain(_mask_trailing_dash(name) if is_prefix else name)


def declared_subdomain_name(name: str, is_prefix: bool) -> list[str]:
    """Validate ``name`` for a kind whose Go type declares that names are DNS subdomains.

    Unlike the rule of ``subdomain_name``, this one does not apply if ``name`` is a ``generateName``
    (``is_prefix``), and its message gives the maximum length in bytes.
    """
    return [] if is_prefix else _in_bytes(dns_subdomain(name))


def label_name(name: str, is_prefix: bool) -> list[str]:
    """Validate ``name`` as a DNS label; if ``is_prefix`` is true, it is a ``generateName``."""
    return dns_label(_mask_trailing_dash(name) if is_prefix else name)


def path_segment_name(name: str, is_prefix: bool) -> list[str]:
    """Validate ``name``, which may be any valid path segment.

    If ``is_prefix`` is true, ``name`` is a ``generateName``.
    """
    return path_segment_prefix(name) if is_prefix else path_segment(name)


def _mask_trailing_dash(prefix: str) -> str:
    """Mask the trailing dash of a prefix, as kube-apiserver's ``maskTrailingDash`` does.

    More characters will follow the prefix, so a dash at its end is valid.
    """
    return f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix


def sloppy_ip(value: str) -> IPv4Address | IPv6Address | None:
    """Parse an IP address like Go's ``ParseIPSloppy``: leading zeros are valid, zones are not.

    Returns None if ``value`` is not an address.
    """
    return _short_ip(value) if len(value) <= MAX_LABEL else _read_ip(value)


def _read_ip(value: str) -> IPv4Address | IPv6Address | None:
    octets = value.split(".")
    if len(octets) == 4 and all(each.isdecimal() and each.isascii() for each in octets):
        value = ".".join(each.lstrip("0") or "0" for each in octets)
    try:
        return None if "%" in value else ip_address(value)
    except ValueError:
        return None


_short_ip = lru_cache(maxsize=1024)(_read_ip)  # each update of a status contains the same addresses


def ip(value: str) -> list[str]:
    """Validate an IP address in any unambiguous form.

    Leading zeros and IPv4-mapped IPv6 addresses are ambiguous, and therefore invalid.
    """
    address = sloppy_ip(value)
    if address is None:
        return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]
    if isinstance(address, IPv4Address):
        return [] if str(address) == value else ["must not have leading 0s"]
    return ["must not be an IPv4-mapped IPv6 address"] if address.ipv4_mapped else []


def canonical_ip(value: str) -> list[str]:
    """Validate an IP address in its canonical (shortest) form."""
    errors = ip(value)
    if not errors and (shortest := str(ip_address(value))) != value:
        errors.append(f'must be in canonical form ("{shortest}")')
    return errors


def sloppy_cidr(value: str) -> tuple[IPv4Address | IPv6Address, int] | None:
    """Parse a CIDR like Go's ``ParseCIDRSloppy``, which accepts leading zeros.

    Returns an address in the network, and the prefix length; None if ``value`` is not a CIDR.
    """
    address, _, length = value.partition("/")
    found = sloppy_ip(address)
    if found is None or not length.isdecimal() or not length.isascii():
        return None
    # Leading zeros are valid. Python's int() rejects thousands of digits.
    digits = length.lstrip("0") or "0"
    if len(digits) > 3 or int(digits) > found.max_prefixlen:
        return None
    return found, int(digits)


def cidr(value: str) -> list[str]:
    """Validate a CIDR, such as ``10.9.8.0/24``, in any unambiguous form."""
    found = sloppy_cidr(value)
    if found is None:
        return ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]
    address, length = found
    written, _, digits = value.partition("/")
    if ip(written) == ["must not have leading 0s"] or str(length) != digits:
        return ["must not have leading 0s in IP or prefix length"]
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return ["must not have an IPv4-mapped IPv6 address"]
    if ip_network((address, length), strict=False).network_address != address:
        return ["must not have bits set beyond the prefix length"]
    return []


def canonical_cidr(value: str) -> list[str]:
    """Validate a CIDR in its canonical (shortest) form."""
    errors = cidr(value)
    if not errors and (shortest := str(ip_network(value, strict=False))) != value:
        errors.append(f'must be in canonical form ("{shortest}")')
    return errors
