"""The string formats that kube-apiserver checks, often more leniently than the standards."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date
from ipaddress import IPv6Address
from typing import Final

from steersman_cluster.apiserver.meta.name_validation import sloppy_cidr, sloppy_ip

_HEX_12: Final = "-?[0-9a-f]{12}"


def _regex_check(pattern: str, flags: re.RegexFlag = re.ASCII) -> Callable[[str], bool]:
    matches = re.compile(pattern, flags).fullmatch
    return lambda text: matches(text) is not None


def _without(pattern: str, text: str) -> str:
    return re.sub(pattern, "", text, flags=re.ASCII)


def _uuid(third: str, fourth: str) -> Callable[[str], bool]:
    pattern = f"[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{third}-?{fourth}{_HEX_12}"
    return _regex_check(pattern, re.ASCII | re.IGNORECASE)


# Non-ASCII letters and symbols are valid in a host name. They are replaced by "a" and "$" before
# the match.
_is_host = _regex_check(
    r"[a-zA-Z0-9$+<=>^`|~](-?[a-zA-Z0-9$+<=>^`|~]{0,62})?"
    r"|([a-zA-Z0-9$+<=>^`|~]([a-zA-Z0-9$+<=>^`|~-]{0,61}[a-zA-Z0-9$+<=>^`|~])?\.)+[a-zA-Z]{2,63}"
)


def _hostname(text: str) -> bool:
    if not text.isascii():
        kinds = {"L": "a", "S": "$"}
        plain = "".join(
            each if each.isascii() else kinds.get(unicodedata.category(each)[0], " ")
            for each in text
        )
    else:
        plain = text
    return (
        _is_host(plain)
        and len(text.encode()) <= 255
        and all(len(part.encode()) <= 63 for part in text.split("."))
    )


def _ipv4(text: str) -> bool:
    return "." in text and sloppy_ip(text) is not None


def _ipv6(text: str) -> bool:
    return isinstance(sloppy_ip(text), IPv6Address)


_is_address = _regex_check(r"\w{2}([:-])(\w{2}\1)*\w{2}|\w{4}(\.\w{4})+|\w+")
_is_hexadecimal = _regex_check("[0-9a-fA-F]+")


def _mac(text: str) -> bool:
    digits = _without("[:.-]", text)
    return _is_address(text) and _is_hexadecimal(digits) and len(digits) in (12, 16, 40)


_has_control = re.compile(r"[\x00-\x1f\x7f]").search
_scheme = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):").match
_well_escaped = re.compile(r"(?:[^%]|%[0-9A-Fa-f]{2})*").fullmatch
_authority = re.compile(
    r"(?:(?:[A-Za-z0-9._:~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*@)?"
    r"(?:\[([^\[\]]*)\]|(?:[A-Za-z0-9._~!$&'()*+,;=\]<>\"-]|[^\x00-\x7f]|%[89A-Fa-f][0-9A-Fa-f])*)"
    r"(?::[0-9]*)?"
).fullmatch


def is_request_uri(text: str) -> bool:
    """Return whether the text is an absolute URI or an absolute path."""
    if text == "*":
        return True
    if not text or _has_control(text) or text.startswith(":"):
        return False
    found = _scheme(text)
    rest = (text[found.end() :] if found else text).partition("?")[0]
    if not rest.startswith("/"):
        return found is not None
    if found and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        named = _authority(authority)
        if named is None or (named[1] is not None and not _is_ip_literal(named[1])):
            return False
        return _well_escaped(slash + path) is not None
    return _well_escaped(rest) is not None


def _is_ip_literal(text: str) -> bool:
    """Return whether ``text`` is an IPv6 address that may stand in a URI's brackets.

    The address may have a zone.
    """
    address, has_zone, zone = text.partition("%25")
    try:
        IPv6Address(address)
    except ValueError:
        return False
    return "%" not in address and bool(zone or not has_zone)


# Possessive quantifiers, also below: without backtracking, the time is linear in the length of the
# text.
_ATOM = r"(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\x00-\x7f])++"
_QUOTED = r'"(?:[^"\\\r\n]|\\[^\r\n])*"'
_ADDRESS = rf"(?:{_ATOM}(?:\.{_ATOM})*|{_QUOTED})@(?:{_ATOM}(?:\.{_ATOM})*|\[[^\[\]\\ ]+\])"
_email = _regex_check(
    rf"[ \t]*(?:{_ADDRESS}|(?:(?:{_ATOM}\.?|{_QUOTED})[ \t]*)*<[ \t]*{_ADDRESS}[ \t]*>)"
    r"[ \t]*(?:\([^()]*\)[ \t]*)?"
)


def _date(text: str) -> bool:
    if not _is_date(text):
        return False
    year, month, day = map(int, text.split("-"))
    try:
        # kube-apiserver accepts the year 0, a leap year. Python's first year is 1.
        date(year or 4, month, day)
    except ValueError:
        return False
    return True


_is_date = _regex_check(r"\d{4}-\d{2}-\d{2}")
_is_time = _regex_check(r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(.[0-9]+)?(z|[+-]\d{2}:\d{2})")


def _date_time(text: str) -> bool:
    parts = text.lower().split("t")
    return len(parts) > 1 and _date(parts[0]) and _is_time(parts[1])


_is_go_duration = _regex_check(r"[-+]?(0|((\d++(\.\d*+)?|\.\d++)(ns|us|µs|μs|ms|s|m|h))+)")
_counted_units = re.compile(r"(?<!\d)\d++\s*+([A-Za-zµ]+)", re.ASCII).finditer
_UNITS = {"ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"}
_LONG_UNITS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")


def _duration(text: str) -> bool:
    """Return whether ``text`` is a Go duration, or contains a number with the name of a unit."""
    if _is_go_duration(text):
        return True
    units = (found[1].lower() for found in _counted_units(text))
    return any(unit in _UNITS or unit.startswith(_LONG_UNITS) for unit in units)


_is_isbn_10 = _regex_check("[0-9]{9}X|[0-9]{10}")
_is_isbn_13 = _regex_check("[0-9]{13}")


def _isbn_10(text: str) -> bool:
    digits = _without(r"[\s-]+", text)
    values = [10 if each == "X" else int(each) for each in digits] if _is_isbn_10(digits) else [1]
    return sum(place * value for place, value in enumerate(values, 1)) % 11 == 0


def _isbn_13(text: str) -> bool:
    digits = _without(r"[\s-]+", text)
    values = [int(each) for each in digits] if _is_isbn_13(digits) else [1]
    return (sum(values[::2]) + 3 * sum(values[1::2])) % 10 == 0


_is_card = _regex_check(
    r"4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11}"
)


def _credit_card(text: str) -> bool:
    digits = _without("[^0-9]+", text)
    doubled = sum(sum(divmod(2 * int(each), 10)) for each in digits[-2::-2])
    return _is_card(digits) and (doubled + sum(map(int, digits[-1::-2]))) % 10 == 0


_is_ssn = _regex_check(r"\d{3}[- ]?\d{2}[- ]?\d{4}")
_COLOR = r"\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*"
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_is_label = _regex_check(_LABEL)
_is_subdomain = _regex_check(rf"{_LABEL}(\.{_LABEL})*")

# Keyed by the name without dashes: "date-time" and "datetime" are the same format.
_FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "bsonobjectid": _regex_check("[0-9a-fA-F]{24}"),
    "uri": is_request_uri,
    "email": _email,
    "hostname": _hostname,
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "cidr": lambda text: sloppy_cidr(text) is not None,
    "mac": _mac,
    "uuid": _uuid("[0-9a-f]{4}", "[0-9a-f]{4}"),
    "uuid3": _uuid("3[0-9a-f]{3}", "[0-9a-f]{4}"),
    "uuid4": _uuid("4[0-9a-f]{3}", "[89ab][0-9a-f]{3}"),
    "uuid5": _uuid("5[0-9a-f]{3}", "[89ab][0-9a-f]{3}"),
    "isbn": lambda text: _isbn_10(text) or _isbn_13(text),
    "isbn10": _isbn_10,
    "isbn13": _isbn_13,
    "creditcard": _credit_card,
    "ssn": lambda text: len(text) == 11 and _is_ssn(text),
    "hexcolor": _regex_check("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _regex_check(rf"rgb\({_COLOR},{_COLOR},{_COLOR}\)"),
    "byte": _regex_check(
        "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"
    ),
    "password": lambda _: True,
    "date": _date,
    "duration": _duration,
    "datetime": _date_time,
    "k8sshortname": lambda text: len(text) <= 63 and _is_label(text),
    "k8slongname": lambda text: len(text) <= 253 and _is_subdomain(text),
}

_NUMERIC: Final = {"integer": ("int32", "int64"), "number": ("float", "double")}


def text_format(name: str) -> Callable[[str], bool] | None:
    """Return the function that checks a text for the format ``name``; None for other names."""
    return _FORMATS.get(name.replace("-", ""))


def recognized(name: str, type_name: str | None) -> bool:
    """Return whether kube-apiserver checks the format ``name`` for the type ``type_name``."""
    if type_name in (None, "", "string"):
        return text_format(name) is not None
    return name in _NUMERIC.get(type_name, ())
