"""The head of a request, and the header values that are rejected."""

import pytest

from steersman.wire import Request
from steersman.wire.addresses import Address, proxy_address, server_address
from steersman.wire.transport.request_head import Heads, connect_head

SERVER = server_address("http://kube.example.com:6443/k8s")


def lines_of(request: Request, *, proxy: Address | None = None) -> list[str]:
    head = Heads(server=SERVER, proxy=proxy).head_of(request)
    assert head.endswith(b"\r\n\r\n")
    return head.decode().split("\r\n")[:-2]


def test_a_head_has_a_request_line_headers_and_defaults() -> None:
    request = Request(method="GET", path="/version", headers=(("X-One", "é"),))

    assert lines_of(request) == [
        "GET /k8s/version HTTP/1.1",
        "X-One: é",
        "Host: kube.example.com:6443",
        "Accept: */*",
        "Accept-Encoding: identity",
        "User-Agent: steersman",
    ]


def test_a_header_of_the_request_overrides_a_default() -> None:
    names = ("HOST", "accept", "Accept-encoding", "user-Agent")
    headers = tuple((name, "mine") for name in names)

    assert lines_of(Request(method="GET", path="/", headers=headers))[1:] == [
        f"{name}: mine" for name in names
    ]


def test_headers_of_earlier_requests_are_not_repeated() -> None:
    heads = Heads(server=SERVER, proxy=None)
    requests = [
        Request(method=method, path="/x", headers=(("X", str(number)),), is_large=is_large)
        for number in range(20)
        for is_large in (False, True)
        for method in ("GET", "POST")
    ]

    for request in requests * 2:
        lines = heads.head_of(request).decode().split("\r\n")

        assert lines[:-2] == lines_of(request)
    assert len(heads._kept) <= 20


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_write_without_a_body_has_content_length_0(method: str) -> None:
    assert "Content-Length: 0" in lines_of(Request(method=method, path="/"))


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_request_without_an_expected_body_has_no_content_length(method: str) -> None:
    assert "Content-Length" not in "".join(lines_of(Request(method=method, path="/")))


def test_a_forward_proxy_gets_the_absolute_url_and_credentials() -> None:
    proxy = proxy_address("http://me:p%40ss@proxy.example.com:3128")

    lines = lines_of(Request(method="GET", path="/version"), proxy=proxy)

    assert lines[0] == "GET http://kube.example.com:6443/k8s/version HTTP/1.1"
    assert "Proxy-Authorization: Basic bWU6cEBzcw==" in lines


def test_a_connect_request_always_has_a_port() -> None:
    head = connect_head(
        server=server_address("https://[::1]"), proxy=proxy_address("http://proxy.example.com")
    )

    assert head == b"CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n"


@pytest.mark.parametrize("value", ["a\r\nX: y", "a\nb", "a\rb", "a\0b"])
def test_no_header_value_can_inject_another_header(value: str) -> None:
    headers = (("Authorization", f"Bearer canary{value}"),)

    with pytest.raises(
        ValueError, match="header Authorization has a line break or a NUL"
    ) as caught:
        lines_of(Request(method="GET", path="/", headers=headers))

    assert "canary" not in repr(caught.value)


@pytest.mark.parametrize("name", ["", "X Y", "X:", "X\r\nY", "É"])
def test_no_header_name_can_inject_another_header(name: str) -> None:
    with pytest.raises(ValueError, match="name of a header"):
        lines_of(Request(method="GET", path="/", headers=((name, "value"),)))


@pytest.mark.parametrize("name", ["Content-Length", "TRANSFER-ENCODING"])
def test_no_header_of_the_caller_sets_the_body_length(name: str) -> None:
    with pytest.raises(ValueError, match="length of the body"):
        lines_of(Request(method="POST", path="/", headers=((name, "1"),), body=b"body"))


@pytest.mark.parametrize("method", ["", "GET /", "GET\r\nX: y"])
def test_no_method_can_inject_data(method: str) -> None:
    with pytest.raises(ValueError, match="the method or the path"):
        lines_of(Request(method=method, path="/"))


def test_no_path_can_inject_data() -> None:
    request = Request(method="GET", path="/a b\r\nX: y\0", query=(("q", "\r\nX: y"), ("\r\n", "é")))

    line, *rest = lines_of(request)

    assert line == ("GET /k8s/a%20b%0D%0AX:%20y%00?q=%0D%0AX%3A+y&%0D%0A=%C3%A9 HTTP/1.1")
    assert len(rest) == 4


def test_a_lone_surrogate_is_rejected_without_showing_its_context() -> None:
    headers = (("Authorization", "canary"), ("X", "\ud800"))

    with pytest.raises(ValueError, match="a lone surrogate") as caught:
        lines_of(Request(method="GET", path="/", headers=headers))

    assert caught.value.__context__ is None
    assert not isinstance(caught.value, UnicodeError)
