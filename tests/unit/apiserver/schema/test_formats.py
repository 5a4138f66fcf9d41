"""Validation of string formats."""

import pytest

from steersman_cluster.apiserver.schema.formats import is_request_uri, recognized, text_format


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date-time", "2024-02-29T10:00:00Z", "2023-02-29T10:00:00Z"),
        ("datetime", "2024-01-01t10:00:00.123z", "2024-01-01T24:00:00Z"),
        ("date", "2024-02-29", "24-1-1"),
        ("duration", "3 weeks 2h", "5 parsecs"),
        ("uuid", "123E4567E89B12D3A456426614174000", "123"),
        ("uuid4", "123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-42d3-c456-426614174000"),
        ("ipv4", "01.02.03.04", "1.2.3"),
        ("ipv6", "::1", "fe80::1%eth0"),
        ("cidr", "10.0.0.1/8", "10.0.0.0/33"),
        ("mac", "0123.4567.89ab", "01:23"),
        ("email", "Jane <jane@example.com>", "a..b@c"),
        ("hostname", "bücher.example", "-a.com"),
        ("byte", "YQ==", ""),
        ("isbn", "978-0321751041", "1234567890"),
        ("creditcard", "4111 1111 1111 1111", "4111-1111-1111-1112"),
        ("ssn", "111-11-1111", "111111111"),
        ("rgbcolor", "rgb( 255 , 1 , 2 )", "rgb(256,0,0)"),
        ("k8s-short-name", "abc", "a.b"),
        ("k8s-long-name", "a.b", "A.b"),
    ],
)
def test_a_format_accepts_valid_and_rejects_invalid_strings(name: str, good: str, bad: str) -> None:
    fits = text_format(name)

    assert fits is not None
    assert (fits(good), fits(bad)) == (True, False)


@pytest.mark.parametrize(
    ("name", "text"),
    [("email", "a"), ("email", "a "), ("duration", "1"), ("hostname", "a."), ("byte", "abcd")],
)
def test_a_long_string_is_validated_in_linear_time(name: str, text: str) -> None:
    fits = text_format(name)

    assert fits is not None
    assert not fits(f"{text * 20_000}!")


def test_a_cidr_prefix_length_can_have_thousands_of_digits() -> None:
    fits = text_format("cidr")

    assert fits is not None
    assert not fits(f"10.0.0.0/{'1' * 5000}")
    assert fits(f"10.0.0.0/{'0' * 5000}8")


@pytest.mark.parametrize(
    "text",
    ["https://a.b/c?d=e", "/path", "mailto:x", "http://[::1]:80/", "http://[fe80::1%25eth0]/", "*"],
)
def test_uris_and_absolute_paths_are_request_uris(text: str) -> None:
    assert is_request_uri(text)


@pytest.mark.parametrize(
    "text",
    [
        *("path", "", ":x", "http://a b/", "http://a:x/", "/%zz", "/\n"),
        *("http://[9", "http://[]/", "http://a[::1]/", "http://[fe80::1%25]/", "http://[1.2.3.4]/"),
    ],
)
def test_other_strings_are_not_request_uris(text: str) -> None:
    assert not is_request_uri(text)


def test_a_format_is_recognized_only_for_its_type() -> None:
    assert recognized("int32", "integer")
    assert recognized("date", "string")
    assert recognized("date", None)
    assert not recognized("int32", "string")
    assert not recognized("date", "integer")
    assert not recognized("no-such-format", "string")
