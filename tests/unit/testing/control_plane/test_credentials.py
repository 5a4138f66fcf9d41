"""Keys, certificates and tokens for one control plane."""

import json
import ssl
from datetime import UTC, datetime
from pathlib import Path

from steersman_cluster.testing import ControlPlaneCredentials
from steersman_cluster.testing.control_plane.credentials import make_credentials

NOW_TIME = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def credentials(directory: Path) -> ControlPlaneCredentials:
    directory.mkdir()
    return make_credentials(directory, now=NOW_TIME)


def secret_files(made: ControlPlaneCredentials) -> list[Path]:
    return [
        made.serving_key_file,
        made.client_key_file,
        made.service_account_key_file,
        made.tokens_file,
    ]


def test_each_start_has_its_own_keys_and_tokens_readable_only_by_the_user(
    tmp_path: Path,
) -> None:
    first, second = credentials(tmp_path / "first"), credentials(tmp_path / "second")

    assert len({f.read_bytes() for f in (*secret_files(first), *secret_files(second))}) == 8
    assert {file.stat().st_mode & 0o777 for file in secret_files(first)} == {0o600}


def test_a_repr_contains_no_secret(tmp_path: Path) -> None:
    made = credentials(tmp_path / "made")

    assert made.admin_token not in repr(made)
    assert made.limited_token not in repr(made)


def test_the_keys_match_the_certificates(tmp_path: Path) -> None:
    made = credentials(tmp_path / "made")

    context = ssl.create_default_context(cafile=made.ca_file)
    context.load_cert_chain(made.serving_certificate_file, made.serving_key_file)
    context.load_cert_chain(made.client_certificate_file, made.client_key_file)


def test_the_kubeconfig_has_a_context_for_each_user_and_verifies_the_server(tmp_path: Path) -> None:
    made = credentials(tmp_path / "made")

    kubeconfig = json.loads(made.kubeconfig(server="https://127.0.0.1:6443"))

    assert [c["name"] for c in kubeconfig["contexts"]] == ["admin", "certificate", "limited"]
    assert kubeconfig["current-context"] == "admin"
    cluster = kubeconfig["clusters"][0]["cluster"]
    assert set(cluster) == {"server", "certificate-authority-data"}
