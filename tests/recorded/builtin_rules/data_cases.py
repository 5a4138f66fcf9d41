"""ConfigMaps and Secrets."""

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

from tests.recorded.builtin_rules.cases import Case, Object

HALF_A_MEGABYTE = 512 * 1024


def config(says: str, *, change: Object | None = None, name: str = "data", **parts: Any) -> Case:
    body = {"metadata": {"name": name}, **parts}
    return Case(says=says, plural="configmaps", body=body, change=change)


def secret(
    says: str,
    *,
    change: Object | None = None,
    annotations: dict[str, str] | None = None,
    **parts: Any,
) -> Case:
    metadata: Object = {"name": "data"}
    if annotations is not None:
        metadata["annotations"] = annotations
    return Case(says=says, plural="secrets", body={"metadata": metadata, **parts}, change=change)


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


def data_cases() -> Iterator[Case]:
    yield from _config_maps()
    yield from _config_map_changes()
    yield from _secrets()
    yield from _secret_types()
    yield from _secret_changes()


def _config_maps() -> Iterator[Case]:
    yield config("empty")
    yield config("with empty parts", data={}, binaryData={})
    yield config("with text", data={"a": "größer", "b": ""})
    yield config("with bytes", binaryData={"a": encoded("x")})
    yield config("with a key in both", data={"a": "x"}, binaryData={"a": encoded("x")})
    for key in ("a.b-c_D", "a b", "", ".", "..", "..a", ".a", "a" * 253, "a" * 254, "ü"):
        yield config(f"with key {key!r}", data={key: "x"})
    yield config("with a bad key of bytes", binaryData={"a/b": encoded("x")})
    yield config("as large as may be", data={"a": "x" * HALF_A_MEGABYTE * 2})
    yield config("too large", data={"a": "x" * (HALF_A_MEGABYTE * 2 + 1)})
    # Each takes three bytes, and six in the request.
    yield config("too large in long characters", data={"a": "€" * (HALF_A_MEGABYTE // 3 * 2 + 9)})
    yield config(
        "too large together",
        data={"a": "x" * HALF_A_MEGABYTE},
        binaryData={"b": encoded("x" * (HALF_A_MEGABYTE + 1))},
    )
    yield config("that may not change", immutable=True, data={"a": "x"})
    yield config("that may change", immutable=False, data={"a": "x"})
    for name in ("a.b", "A", "a_b"):
        yield config(f"named {name}", name=name)


def _config_map_changes() -> Iterator[Case]:
    frozen: Object = {"immutable": True, "data": {"a": "x"}, "binaryData": {"b": encoded("x")}}
    yield config("changed", data={"a": "x"}, change={"data": {"a": "y"}})
    yield config("changed to a bad key", data={"a": "x"}, change={"data": {"a b": "y"}})
    yield config("frozen now", data={"a": "x"}, change={"immutable": True})
    yield config("frozen and touched", **frozen, change={"metadata": {"labels": {"a": "b"}}})
    yield config("frozen and changed", **frozen, change={"data": {"a": "y"}})
    yield config(
        "frozen and changed in bytes", **frozen, change={"binaryData": {"b": encoded("y")}}
    )
    yield config("frozen and thawed", **frozen, change={"immutable": False})
    yield config("frozen and forgotten", **frozen, change={"immutable": None, "data": None})
    yield config("frozen and wrong", **frozen, change={"data": {"a b": "x"}})


def _secrets() -> Iterator[Case]:
    yield secret("empty")
    yield secret("with bytes", data={"a": encoded("x")})
    yield secret("with text", stringData={"a": "größer"})
    yield secret(
        "with text over bytes", data={"a": encoded("x"), "b": encoded("y")}, stringData={"a": "z"}
    )
    yield secret("with empty text", stringData={"a": ""})
    yield secret("with a bad key", data={"a b": encoded("x")})
    yield secret("with a bad key of text", stringData={"a/b": "x"})
    yield secret("as large as may be", data={"a": encoded("x" * HALF_A_MEGABYTE * 2)})
    yield secret("too large", data={"a": encoded("x" * (HALF_A_MEGABYTE * 2 + 1))})
    yield secret("too large in text", stringData={"a": "x" * (HALF_A_MEGABYTE * 2 + 1)})
    yield secret("that may not change", immutable=True, data={"a": encoded("x")})


def _secret_types() -> Iterator[Case]:
    yield secret("of a custom type", type="example.com/mine")
    yield secret("of an empty type", type="")
    token = "kubernetes.io/service-account-token"
    yield secret("a token without an account", type=token)
    yield secret(
        "a token of an account", type=token, annotations={"kubernetes.io/service-account.name": "x"}
    )
    yield secret(
        "a token of no name", type=token, annotations={"kubernetes.io/service-account.name": ""}
    )
    for kind, key in (
        ("kubernetes.io/dockercfg", ".dockercfg"),
        ("kubernetes.io/dockerconfigjson", ".dockerconfigjson"),
    ):
        yield secret(f"{kind} without its key", type=kind)
        for text in (
            "{}",
            '{"auths": {}}',
            "null",
            "[]",
            '"x"',
            "1",
            "true",
            "",
            "x",
            "{",
            "{x",
            '{"a"',
            '{"a" 1}',
            '{"a": 1 2}',
            "{} x",
        ):
            yield secret(f"{kind} with {text!r}", type=kind, stringData={key: text})
    yield secret("for basic authentication, empty", type="kubernetes.io/basic-auth")
    yield secret(
        "for basic authentication", type="kubernetes.io/basic-auth", stringData={"username": ""}
    )
    yield secret("for a password", type="kubernetes.io/basic-auth", stringData={"password": "x"})
    yield secret("for SSH, empty", type="kubernetes.io/ssh-auth")
    yield secret(
        "for SSH with nothing", type="kubernetes.io/ssh-auth", stringData={"ssh-privatekey": ""}
    )
    yield secret("for SSH", type="kubernetes.io/ssh-auth", stringData={"ssh-privatekey": "x"})
    yield secret("for TLS, empty", type="kubernetes.io/tls")
    yield secret("for TLS, half", type="kubernetes.io/tls", stringData={"tls.crt": "x"})
    yield secret("for TLS", type="kubernetes.io/tls", stringData={"tls.crt": "x", "tls.key": ""})
    yield secret("for bootstrapping", type="bootstrap.kubernetes.io/token")


def _secret_changes() -> Iterator[Case]:
    frozen: Object = {"immutable": True, "data": {"a": encoded("x")}}
    yield secret("changed", data={"a": encoded("x")}, change={"data": {"a": encoded("y")}})
    yield secret("changed by text", data={"a": encoded("x")}, change={"stringData": {"a": "y"}})
    yield secret("of another type now", change={"type": "example.com/mine"})
    yield secret("for TLS now, without keys", change={"type": "kubernetes.io/tls"})
    yield secret("of no type now", type="example.com/mine", change={"type": None})
    yield secret("frozen and changed", **frozen, change={"data": {"a": encoded("y")}})
    yield secret("frozen and changed by text", **frozen, change={"stringData": {"a": "y"}})
    yield secret("frozen and thawed", **frozen, change={"immutable": None})
    yield secret("frozen and touched", **frozen, change={"metadata": {"labels": {"a": "b"}}})
