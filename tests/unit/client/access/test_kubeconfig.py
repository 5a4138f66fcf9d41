"""Kubeconfigs: how they are read and merged, and the errors for invalid ones."""

import base64
import json
import re
import traceback
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.client.access.cluster_config import (
    ClientCertificate,
    ClusterConfig,
    Password,
    Token,
    TokenFile,
)
from steersman.client.access.impersonation import Impersonation
from steersman.client.access.kubeconfig import Kubeconfig
from steersman.client.access.trust import UNTRUSTED, Trust
from steersman.errors import ConfigError
from steersman.observe import Observation, RiskAccepted, ignore
from tests.unit.client.access.kubeconfigs import (
    CANARY,
    SERVER,
    document,
    read_config,
    write_kubeconfig,
)


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def test_a_context_brings_its_cluster_user_and_namespace_together(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path, document(user={"token": CANARY}))

    config = read_config(path)

    assert config.server == SERVER
    assert config.namespace == "apps"
    assert config.login == Token(token=CANARY)
    assert config.source == f"context here of {path}"


@pytest.mark.parametrize("context", ["here", None])
def test_the_current_context_is_chosen_unless_another_is_named(
    context: str | None, tmp_path: Path
) -> None:
    content = document()
    content["contexts"].append({"name": "elsewhere", "context": {"cluster": "there"}})
    path = write_kubeconfig(tmp_path, content)

    assert read_config(path, context).namespace == "apps"
    assert read_config(path, "elsewhere").namespace == "default"


def test_a_context_without_a_user_has_no_credentials(tmp_path: Path) -> None:
    content = document(user={"token": "unused"})
    content["contexts"][0]["context"]["user"] = ""

    config = read_config(write_kubeconfig(tmp_path, content))

    assert config.login is None


def test_inline_data_takes_precedence_over_files(tmp_path: Path) -> None:
    cluster = {
        "certificate-authority-data": encoded(b"ca"),
        "certificate-authority": "/not/there",
        "tls-server-name": "kube",
        "proxy-url": "http://proxy.example.com:3128",
    }
    user = {
        "client-certificate-data": encoded(b"certificate"),
        "client-certificate": "/not/there",
        "client-key-data": encoded(b"key"),
    }

    config = read_config(write_kubeconfig(tmp_path, document(cluster=cluster, user=user)))

    assert config.ca == b"ca"
    assert config.server_name == "kube"
    assert config.proxy_url == "http://proxy.example.com:3128"
    assert config.certificate == ClientCertificate(certificate=b"certificate", key=b"key")


def test_base64_can_contain_line_breaks(tmp_path: Path) -> None:
    wrapped = base64.encodebytes(b"ca" * 100).decode()

    config = read_config(
        write_kubeconfig(tmp_path, document(cluster={"certificate-authority-data": wrapped}))
    )

    assert config.ca == b"ca" * 100


def test_paths_are_relative_to_their_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    (tmp_path / "own").mkdir()
    clusters = document(cluster={"certificate-authority": "ca.crt"})
    users = document(user={"tokenFile": "../tokens/me"})
    clusters["users"] = []
    users["clusters"] = []

    config = Kubeconfig.read(
        write_kubeconfig(tmp_path / "team", clusters), write_kubeconfig(tmp_path / "own", users)
    ).choose(trust=Trust(), environ={}, observe=ignore)

    assert config.ca == tmp_path / "team" / "ca.crt"
    assert config.login == TokenFile(path=tmp_path / "own" / ".." / "tokens" / "me")


def test_of_several_entries_with_one_name_the_first_is_used_completely(tmp_path: Path) -> None:
    first = document(user={"token": "first"})
    first["current-context"] = ""
    second = document(
        cluster={"server": "https://second.example.com", "tls-server-name": "second"},
        user={"token": "second", "as": "jane"},
    )
    second["contexts"].append({"name": "more", "context": {"cluster": "there", "user": "me"}})
    second["current-context"] = "more"

    kubeconfig = Kubeconfig.read(
        write_kubeconfig(tmp_path, first, name="first"),
        write_kubeconfig(tmp_path, second, name="second"),
    )
    config = kubeconfig.choose(trust=Trust(), environ={}, observe=ignore)

    assert kubeconfig.contexts == ("here", "more")
    assert kubeconfig.current_context == "more"
    assert (config.server, config.server_name) == (SERVER, None)
    assert (config.login, config.impersonate) == (Token(token="first"), None)


def test_missing_and_empty_files_among_several_are_skipped(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    path = write_kubeconfig(tmp_path, document())

    kubeconfig = Kubeconfig.read(tmp_path / "missing", empty, path)

    assert kubeconfig.contexts == ("here",)


def test_when_all_files_are_missing_each_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"{tmp_path}/one and {tmp_path}/two: ")):
        Kubeconfig.read(tmp_path / "one", tmp_path / "two")


def test_a_token_file_takes_precedence_over_a_token(tmp_path: Path) -> None:
    config = read_config(
        write_kubeconfig(tmp_path, document(user={"token": CANARY, "tokenFile": "/token"}))
    )

    assert config.login == TokenFile(path=Path("/token"))


def test_a_username_and_password_are_read(tmp_path: Path) -> None:
    config = read_config(
        write_kubeconfig(tmp_path, document(user={"username": "me", "password": CANARY}))
    )

    assert config.login == Password(username="me", password=CANARY)


def test_impersonation_is_read_with_groups_and_extras(tmp_path: Path) -> None:
    user = {
        "as": "jane",
        "as-uid": "u-1",
        "as-groups": ["developers", "admins"],
        "as-user-extra": {"scopes": ["view", "edit"]},
    }

    config = read_config(write_kubeconfig(tmp_path, document(user=user)))

    assert config.impersonate == Impersonation(
        user="jane",
        uid="u-1",
        groups=("developers", "admins"),
        extra={"scopes": ("view", "edit")},
    )


def test_text_from_no_file_names_its_source_instead(tmp_path: Path) -> None:
    content = write_kubeconfig(tmp_path, document(user={"tokenFile": "token"})).read_bytes()
    kubeconfig = Kubeconfig.parse(content, source="Secret default/remote")

    with pytest.raises(ConfigError, match=r"^user me in Secret default/remote: tokenFile is"):
        kubeconfig.choose(trust=Trust(), environ={}, observe=ignore)


WRONG: dict[str, tuple[Any, str]] = {
    "nothing in it": ("", "is empty"),
    "no YAML": ("clusters: [", "is not YAML"),
    "an alias bomb": (
        "a0: &a0 [x, x, x, x, x, x, x, x]\n"
        + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 8}]\n" for n in range(1, 9)),
        "after alias expansion",
    ),
    "another kind": ({"kind": "Deployment"}, "its kind is not Config"),
    "a number for a name": ({"clusters": [{"name": 5}]}, r"Expected `str`, got `int`.*\$.clusters"),
    "no contexts": ({}, "does not set current-context"),
    "an unknown context": (
        {**document(), "current-context": "gone"},
        "does not contain the context 'gone'",
    ),
    "an unknown cluster": ({**document(), "clusters": []}, "names the cluster 'there'"),
    "an unknown user": ({**document(), "users": []}, "names the user 'me'"),
    "no server": (document(cluster={"server": ""}), "its server must be a URL"),
    "no scheme": (document(cluster={"server": "kube:6443"}), "its server must be a URL"),
    "another scheme": (document(cluster={"server": "file:///etc"}), "its server must be a URL"),
    "a broken address": (document(cluster={"server": "https://[::1"}), "its server must be a URL"),
    "a password in the address": (
        document(cluster={"server": f"https://me:{CANARY}@kube"}),
        "its server must be a URL",
    ),
    "data that is not base64": (
        document(user={"client-key-data": CANARY}),
        "client-key-data is not base64",
    ),
    "a key without a certificate": (
        document(user={"client-key-data": encoded(CANARY.encode())}),
        "client-certificate is missing",
    ),
    "a certificate without a key": (
        document(user={"client-certificate": "/c"}),
        "client-key is missing",
    ),
    "two ways to log in": (
        document(user={"token": CANARY, "username": "me"}),
        "more than one of token, username and exec",
    ),
    "an auth-provider": (
        document(user={"auth-provider": {"name": "gcp", "config": {"id-token": CANARY}}}),
        "Use exec with your provider's credential plugin instead",
    ),
    "a group without a user": (document(user={"as-groups": ["admins"]}), "Set `as` as well"),
    "a header in a name": (
        document(user={"as": "a\r\nX-Y: z"}),
        "characters that are not printable",
    ),
    "plain http with a token": (
        document(cluster={"server": "http://kube.example.com"}, user={"token": CANARY}),
        "plain http",
    ),
    "plain http through a proxy": (
        document(
            cluster={"server": "http://localhost:8080", "proxy-url": "http://proxy:3128"},
            user={"token": CANARY},
        ),
        "plain http",
    ),
    "no verification": (
        document(cluster={"insecure-skip-tls-verify": True}, user={"token": CANARY}),
        r"Trust\(unverified_servers=True\)",
    ),
}


@pytest.mark.parametrize(("content", "words"), WRONG.values(), ids=WRONG.keys())
def test_an_error_names_the_file_and_shows_no_secret(
    content: Any, words: str, tmp_path: Path
) -> None:
    path = write_kubeconfig(tmp_path, content) if isinstance(content, dict) else tmp_path / "config"
    if isinstance(content, str):
        path.write_text(content)

    with pytest.raises(ConfigError, match=words) as rejection:
        read_config(path)

    assert str(path) in str(rejection.value)
    assert str(rejection.value).endswith(".")
    assert CANARY not in "".join(traceback.format_exception(rejection.value))


def test_an_unknown_context_is_an_error_that_lists_the_contexts(tmp_path: Path) -> None:
    content = document()
    content["contexts"] += [{"name": f"c{n}", "context": {}} for n in range(20)]

    with pytest.raises(ConfigError, match=r"here, c0, c1.* and 11 more"):
        read_config(write_kubeconfig(tmp_path, content), "gone")


def test_no_secret_appears_in_a_repr(tmp_path: Path) -> None:
    secret = encoded(CANARY.encode())
    users: list[dict[str, Any]] = [
        {"token": CANARY},
        {"username": "me", "password": CANARY},
        {"client-certificate-data": secret, "client-key-data": secret},
        {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": "env",
                "args": [CANARY],
                "env": [{"name": "PASSWORD", "value": CANARY}],
            }
        },
    ]
    for user in users:
        path = write_kubeconfig(
            tmp_path, document(cluster={"proxy-url": f"http://me:{CANARY}@proxy"}, user=user)
        )
        kubeconfig = Kubeconfig.read(path)
        config = read_config(path, environ={"PATH": "/usr/bin:/bin", "SECRET": CANARY})

        shown = repr([kubeconfig, vars(kubeconfig), config, config.login, config.certificate])

        assert CANARY not in shown
        assert secret not in shown


def test_an_unverified_server_must_be_accepted_by_kubeconfig_and_caller(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path, document(cluster={"insecure-skip-tls-verify": True}))
    observed: list[Observation] = []

    config = read_config(path, trust=Trust(unverified_servers=True), observe=observed.append)

    assert config.verify is False
    (risk,) = observed
    assert isinstance(risk, RiskAccepted)
    assert "not verified" in risk.risk


@pytest.mark.parametrize(("mode", "risks"), [(0o600, 0), (0o640, 1), (0o604, 1)])
def test_a_warning_is_observed_for_a_secret_that_others_can_read(
    mode: int, risks: int, tmp_path: Path
) -> None:
    path = write_kubeconfig(tmp_path, document(user={"token": CANARY}))
    path.chmod(mode)
    observed: list[Observation] = []

    read_config(path, observe=observed.append)

    assert len(observed) == risks
    assert CANARY not in repr(observed)


def test_a_kubeconfig_without_secrets_can_be_readable_by_others(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path, document(user={"tokenFile": "/token"}))
    path.chmod(0o644)
    observed: list[Observation] = []

    read_config(path, observe=observed.append)

    assert observed == []


texts = st.sampled_from(["", "me", "here", "there", "name", "user", "cluster", "exec", "\x00é"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=4,
)


@given(
    field=st.sampled_from(["clusters", "users", "contexts", "current-context", "kind"]),
    value=values,
)
def test_a_value_of_a_field_is_accepted_or_rejected_alike_in_yaml_and_json(
    field: str, value: object
) -> None:
    def outcome(content: str) -> ClusterConfig | str:
        try:
            kubeconfig = Kubeconfig.parse(content.encode(), source="a test")
            return kubeconfig.choose(trust=UNTRUSTED, environ={}, observe=ignore)
        except ConfigError as rejection:
            return str(rejection)

    in_json = json.dumps({**document(), field: value})

    assert outcome(in_json) == outcome(f"# YAML\n{in_json}")


ODD_JSON: dict[str, bytes] = {
    "almost JSON": b'{"clusters": [}',
    "a key twice": b'{"kind": "Config", "kind": ""}',
    "a number that is none": b'{"current-context": NaN}',
    "half a character, escaped": rb'{"kind": "\ud800"}',
    "half a character, as it is": b'{"kind": "\xed\xa0\x80"}',
    "another encoding": '{"kind": "Config"}'.encode("utf-16-le"),
    "a character that is no text": b'{"kind": "\x7f"}',
    "too deep": b'{"extensions": ' + b"[" * 100 + b"]" * 100 + b"}",
    "too many values": b'{"extensions": [' + b"1," * 30_000 + b"1]}",
    "too large": b'{"kind": "' + b"x" * 3_000_000 + b'"}',
}


@pytest.mark.parametrize("content", ODD_JSON.values(), ids=ODD_JSON.keys())
def test_invalid_json_is_rejected_like_invalid_yaml(content: bytes) -> None:
    def rejection(content: bytes) -> str:
        with pytest.raises(ConfigError) as refused:
            Kubeconfig.parse(content, source="a test").choose(
                trust=UNTRUSTED, environ={}, observe=ignore
            )
        return str(refused.value)

    # Leading white space makes it YAML, and does not change the line numbers.
    assert rejection(content) == rejection(b" " + content)


def test_yaml_that_starts_like_json_is_parsed() -> None:
    kubeconfig = Kubeconfig.parse(b"{contexts: [{name: here}]}", source="a test")

    assert kubeconfig.contexts == ("here",)
