"""Authentication to the real API server, by every method."""

import json
import traceback
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import pytest

from steersman.client import Client, ClusterConfig, Trust, connect, find_config
from steersman.clock import SystemClock
from steersman.errors import CertificateRefused, ConfigError, Unauthorized
from steersman.kinds import authentication_v1
from steersman.observe import CredentialsRenewed, Observation, Observer, ignore
from steersman_cluster.testing import RealControlPlane
from tests.certificates import Authority
from tests.unit.client.access.plugins import V1, V1BETA1, exec_credential, plugin, printing


def kubeconfig(
    plane: RealControlPlane,
    directory: Path,
    *,
    user: Mapping[str, Any],
    cluster: Mapping[str, Any] | None = None,
) -> Path:
    """A kubeconfig for the control plane, as ``user``."""
    content = json.loads(plane.kubeconfig.read_text())
    content["clusters"][0]["cluster"] |= cluster or {}
    content["users"] = [{"name": "me", "user": dict(user)}]
    content["contexts"] = [
        {"name": "current", "context": {"cluster": "control-plane", "user": "me"}}
    ]
    content["current-context"] = "current"
    path = directory / "config"
    path.write_text(json.dumps(content))
    path.chmod(0o600)
    return path


def config_of(path: Path, *, context: str | None = None, trust: Trust = Trust()) -> ClusterConfig:
    """The configuration of a kubeconfig, with an empty environment."""
    return find_config(
        environ={}, home=path.parent, observe=ignore, kubeconfig=path, context=context, trust=trust
    )


async def authenticated_user(client: Client) -> authentication_v1.UserInfo:
    """The user that the server authenticates."""
    review = await client.create(authentication_v1.SelfSubjectReview())
    assert review.status is not None
    assert review.status.user_info is not None
    return review.status.user_info


async def user_of(
    config: ClusterConfig, *, observe: Observer = ignore
) -> authentication_v1.UserInfo:
    """The user that the server authenticates for ``config``."""
    async with connect(config, clock=SystemClock(), rng=Random(0), observe=observe) as client:
        return await authenticated_user(client)


def exec_user(directory: Path, source: str, *, api_version: str = V1) -> dict[str, Any]:
    """A user with an exec plugin that runs ``source``."""
    plugin(directory, source)
    return {"exec": {"apiVersion": api_version, "command": "./plugin", "interactiveMode": "Never"}}


@pytest.mark.parametrize("context", ["admin", "limited", "certificate"])
async def test_each_context_authenticates_as_its_own_user(
    control_plane: RealControlPlane, context: str
) -> None:
    user = await user_of(config_of(control_plane.kubeconfig, context=context))

    assert user.username == context


async def test_an_unknown_token_is_rejected_and_appears_in_no_error(
    control_plane: RealControlPlane, tmp_path: Path
) -> None:
    config = config_of(kubeconfig(control_plane, tmp_path, user={"token": "unknown-token"}))

    with pytest.raises(Unauthorized) as error:
        await user_of(config)

    assert "unknown-token" not in "".join(traceback.format_exception(error.value))


async def test_a_client_certificate_can_be_read_from_files(
    control_plane: RealControlPlane, tmp_path: Path
) -> None:
    credentials = control_plane.credentials
    files = {
        "client-certificate": str(credentials.client_certificate_file),
        "client-key": str(credentials.client_key_file),
    }

    user = await user_of(config_of(kubeconfig(control_plane, tmp_path, user=files)))

    assert user.username == "certificate"


async def test_a_request_is_retried_with_a_rotated_token_after_a_401(
    control_plane: RealControlPlane, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("out-of-date")
    config = config_of(kubeconfig(control_plane, tmp_path, user={"tokenFile": "token"}))
    seen: list[Observation] = []

    async with connect(config, clock=SystemClock(), rng=Random(0), observe=seen.append) as client:
        with pytest.raises(Unauthorized):
            await authenticated_user(client)
        token.write_text(control_plane.credentials.admin_token)
        user = await authenticated_user(client)

    assert user.username == "admin"
    assert len([each for each in seen if isinstance(each, CredentialsRenewed)]) == 1


async def test_a_request_is_retried_with_rotated_certificate_files_after_a_401(
    control_plane: RealControlPlane, tmp_path: Path
) -> None:
    credentials = control_plane.credentials
    untrusted = Authority().client("untrusted")
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    certificate.write_bytes(untrusted.certificate)
    key.write_bytes(untrusted.key)
    files = {"client-certificate": "tls.crt", "client-key": "tls.key"}
    config = config_of(kubeconfig(control_plane, tmp_path, user=files))

    async with connect(config, clock=SystemClock(), rng=Random(0), observe=ignore) as client:
        with pytest.raises(Unauthorized):
            await authenticated_user(client)
        certificate.write_bytes(credentials.client_certificate_file.read_bytes())
        key.write_bytes(credentials.client_key_file.read_bytes())
        user = await authenticated_user(client)

    assert user.username == "certificate"


@pytest.mark.parametrize("version", [V1, V1BETA1])
async def test_an_exec_plugin_provides_a_token(
    version: str, control_plane: RealControlPlane, tmp_path: Path
) -> None:
    token = control_plane.credentials.admin_token
    source = printing(exec_credential(token=token, api_version=version))
    kubeconfig_user = exec_user(tmp_path, source, api_version=version)

    user = await user_of(config_of(kubeconfig(control_plane, tmp_path, user=kubeconfig_user)))

    assert user.username == "admin"


async def test_an_exec_plugin_provides_a_certificate(
    control_plane: RealControlPlane, tmp_path: Path
) -> None:
    credentials = control_plane.credentials
    source = printing(
        exec_credential(
            clientCertificateData=credentials.client_certificate_file.read_text(),
            clientKeyData=credentials.client_key_file.read_text(),
        )
    )
    kubeconfig_user = exec_user(tmp_path, source)

    user = await user_of(config_of(kubeconfig(control_plane, tmp_path, user=kubeconfig_user)))

    assert user.username == "certificate"


async def test_an_exec_plugin_runs_again_after_a_401_to_its_certificate(
    control_plane: RealControlPlane, tmp_path: Path
) -> None:
    untrusted = Authority().client("untrusted")
    credentials = control_plane.credentials
    first = exec_credential(
        clientCertificateData=untrusted.certificate.decode(), clientKeyData=untrusted.key.decode()
    )
    then = exec_credential(
        clientCertificateData=credentials.client_certificate_file.read_text(),
        clientKeyData=credentials.client_key_file.read_text(),
    )
    source = f"""
        import os
        print({then!r} if os.path.exists({f"{tmp_path}/ran"!r}) else {first!r})
        open({f"{tmp_path}/ran"!r}, "w").close()
        """
    seen: list[Observation] = []

    config = config_of(kubeconfig(control_plane, tmp_path, user=exec_user(tmp_path, source)))
    user = await user_of(config, observe=seen.append)

    assert user.username == "certificate"
    assert len([each for each in seen if isinstance(each, CredentialsRenewed)]) == 1


async def test_a_kubeconfig_impersonates_a_user_with_groups_and_extras(
    control_plane: RealControlPlane, tmp_path: Path
) -> None:
    kubeconfig_user = {
        "token": control_plane.credentials.admin_token,
        "as": "jane",
        "as-uid": "u-1",
        "as-groups": ["developers", "testers"],
        "as-user-extra": {"example.com/scope": ["view", "edit"]},
    }

    user = await user_of(config_of(kubeconfig(control_plane, tmp_path, user=kubeconfig_user)))

    assert (user.username, user.uid) == ("jane", "u-1")
    assert {"developers", "testers"} <= set(user.groups or ())
    assert user.extra == {"example.com/scope": ("view", "edit")}


async def test_in_cluster_config_authenticates_as_the_pods_service_account(
    control_plane: RealControlPlane, namespace: str, tmp_path: Path
) -> None:
    control_plane.kubectl("create", "serviceaccount", "robot", "-n", namespace)
    token = control_plane.kubectl("create", "token", "robot", "-n", namespace)
    (tmp_path / "token").write_text(token)
    (tmp_path / "ca.crt").write_bytes(control_plane.credentials.ca_file.read_bytes())
    (tmp_path / "namespace").write_text(namespace)
    address = urlsplit(control_plane.url)
    environ = {
        "KUBERNETES_SERVICE_HOST": str(address.hostname),
        "KUBERNETES_SERVICE_PORT": str(address.port),
    }

    config = find_config(environ=environ, home=tmp_path, observe=ignore, service_account=tmp_path)
    user = await user_of(config)

    assert config.namespace == namespace
    assert user.username == f"system:serviceaccount:{namespace}:robot"


async def test_a_server_certificate_of_another_ca_is_rejected(
    control_plane: RealControlPlane, tmp_path: Path
) -> None:
    ca = tmp_path / "ca.crt"
    ca.write_bytes(Authority().certificate)
    config = config_of(
        kubeconfig(
            control_plane,
            tmp_path,
            user={"token": control_plane.credentials.admin_token},
            cluster={"certificate-authority-data": "", "certificate-authority": "ca.crt"},
        )
    )

    with pytest.raises(CertificateRefused) as error:
        await user_of(config)

    text = "".join(traceback.format_exception(error.value))
    assert control_plane.credentials.admin_token not in text


async def test_tls_server_name_of_the_kubeconfig_overrides_the_hostname(
    control_plane: RealControlPlane, tmp_path: Path
) -> None:
    kubeconfig_user = {"token": control_plane.credentials.admin_token}

    expected = config_of(
        kubeconfig(
            control_plane, tmp_path, user=kubeconfig_user, cluster={"tls-server-name": "localhost"}
        )
    )
    assert (await user_of(expected)).username == "admin"

    unexpected = config_of(
        kubeconfig(
            control_plane, tmp_path, user=kubeconfig_user, cluster={"tls-server-name": "elsewhere"}
        )
    )
    with pytest.raises(CertificateRefused):
        await user_of(unexpected)


async def test_an_unverified_server_is_used_if_kubeconfig_and_caller_allow_it(
    control_plane: RealControlPlane, tmp_path: Path
) -> None:
    path = kubeconfig(
        control_plane,
        tmp_path,
        user={"token": control_plane.credentials.admin_token},
        cluster={"certificate-authority-data": "", "insecure-skip-tls-verify": True},
    )

    with pytest.raises(ConfigError, match="insecure-skip-tls-verify"):
        config_of(path)
    user = await user_of(config_of(path, trust=Trust(unverified_servers=True)))

    assert user.username == "admin"


async def test_an_unknown_context_is_an_error_that_lists_the_contexts(
    control_plane: RealControlPlane,
) -> None:
    with pytest.raises(
        ConfigError, match=r"does not contain the context 'gone'.*admin, certificate, limited"
    ):
        config_of(control_plane.kubeconfig, context="gone")
