"""The settings of a manager: their values, and the sources that they are read from."""

import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from steersman.errors import BadSettings
from steersman.manager.settings.address import ListenAddress
from steersman.manager.settings.manager_settings import ManagerSettings
from steersman.manager.settings.sources import SETTINGS

DEFAULTS = ManagerSettings()

# For each field, a value that is not the default: as an argument, and as parsed.
OTHERS: dict[str, tuple[str, object]] = {
    "kubeconfig": ("some/where", Path("some/where")),
    "context": ("kind", "kind"),
    "insecure_skip_tls_verify": ("true", True),
    "namespaces": ("a, b,a,", ("a", "b")),
    "leader_election": ("false", False),
    "lease_namespace": ("ops", "ops"),
    "lease_name": ("the.lease", "the.lease"),
    "lease_seconds": ("1m30s", 90.0),
    "renew_seconds": ("12.5", 12.5),
    "retry_seconds": ("500ms", 0.5),
    "health_address": ("", ""),
    "metrics_address": ("[::1]:0", "[::1]:0"),
    "tls_cert_file": ("tls.crt", Path("tls.crt")),
    "tls_key_file": ("tls.key", Path("tls.key")),
    "log_style": ("json", "json"),
    "log_level": ("debug", "debug"),
    "grace_seconds": ("5", 5.0),
    "max_threads": ("4", 4),
    "server_probe_seconds": ("20", 20.0),
    "server_timeout_seconds": ("40s", 40.0),
    "cache_sync_seconds": ("5m", 300.0),
    "preflight": ("off", "off"),
    "user_agent": ("me/1.0", "me/1.0"),
}
# Settings that are valid only together.
TOGETHER = {"tls_cert_file": "tls_key_file", "tls_key_file": "tls_cert_file"}


def read(
    *arguments: str, environ: Mapping[str, str] | None = None, file: Path | None = None
) -> ManagerSettings:
    config = ["--config", str(file)] if file else []
    return ManagerSettings.read([*config, *arguments], environ or {}, prog="operator")


def write_config(path: Path, **entries: Any) -> Path:
    path.write_text(yaml.safe_dump({key.replace("_", "-"): each for key, each in entries.items()}))
    return path


def with_required_fields(field: str) -> dict[str, str]:
    return {each: OTHERS[each][0] for each in (field, TOGETHER.get(field, field))}


def test_the_settings_table_has_every_field_once_and_in_order() -> None:
    assert [each.field for each in SETTINGS] == [each.name for each in fields(ManagerSettings)]
    assert OTHERS.keys() == {each.field for each in SETTINGS}


def test_without_input_settings_are_the_defaults() -> None:
    assert read() == DEFAULTS


def test_by_default_listeners_are_on_loopback() -> None:
    assert DEFAULTS.health is not None
    assert DEFAULTS.health.is_loopback
    assert DEFAULTS.metrics is not None
    assert DEFAULTS.metrics.is_loopback


def test_by_default_one_of_several_replicas_acts() -> None:
    assert DEFAULTS.leader_election


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.field)
def test_each_setting_can_be_an_argument(setting: Any) -> None:
    given = with_required_fields(setting.field)

    settings = read(*(f"--{key.replace('_', '-')}={text}" for key, text in given.items()))

    assert getattr(settings, setting.field) == OTHERS[setting.field][1]
    assert getattr(settings, setting.field) != getattr(DEFAULTS, setting.field)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.field)
def test_each_setting_can_be_in_the_environment(setting: Any) -> None:
    given = with_required_fields(setting.field)

    settings = read(environ={f"STEERSMAN_{key.upper()}": text for key, text in given.items()})

    assert getattr(settings, setting.field) == OTHERS[setting.field][1]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.field)
def test_each_setting_can_be_in_the_file(setting: Any, tmp_path: Path) -> None:
    file = write_config(tmp_path / "settings.yaml", **with_required_fields(setting.field))

    assert getattr(read(file=file), setting.field) == OTHERS[setting.field][1]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.field)
def test_settings_round_trip_through_the_environment(setting: Any) -> None:
    given = with_required_fields(setting.field)
    settings = read(environ={f"STEERSMAN_{key.upper()}": text for key, text in given.items()})

    environ = settings.environ()

    assert environ.keys() == {f"STEERSMAN_{key.upper()}" for key in given}
    assert read(environ=environ) == settings


def test_a_default_is_not_exported_to_the_environment() -> None:
    assert DEFAULTS.environ() == {}


def test_arguments_override_the_environment_and_the_environment_overrides_the_file(
    tmp_path: Path,
) -> None:
    file = write_config(
        tmp_path / "f.yaml", context="file", lease_name="file", lease_namespace="file"
    )
    environ = {
        "STEERSMAN_CONFIG": str(file),
        "STEERSMAN_CONTEXT": "environment",
        "STEERSMAN_LEASE_NAME": "environment",
    }

    settings = read("--context", "argument", environ=environ)

    assert settings.context == "argument"
    assert settings.lease_name == "environment"
    assert settings.lease_namespace == "file"


def test_the_file_of_an_argument_goes_before_that_of_the_environment(tmp_path: Path) -> None:
    one = write_config(tmp_path / "one.yaml", context="one")
    other = write_config(tmp_path / "other.yaml", context="other")

    assert read(file=one, environ={"STEERSMAN_CONFIG": str(other)}).context == "one"


def test_values_in_a_file_may_be_numbers_booleans_and_lists(tmp_path: Path) -> None:
    file = write_config(
        tmp_path / "f.yaml",
        namespaces=["a", "b"],
        leader_election=False,
        lease_seconds=30,
        grace_seconds=2.5,
        max_threads=3,
        context=None,
    )

    settings = read(file=file)

    assert settings.namespaces == ("a", "b")
    assert settings.leader_election is False
    assert (settings.lease_seconds, settings.grace_seconds) == (30.0, 2.5)
    assert settings.max_threads == 3
    assert settings.context is None


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--leader-election"], True),
        (["--leader-election", "no"], False),
        (["--leader-election=True"], True),
        (["--no-leader-election"], False),
    ],
)
def test_a_flag_is_written_in_any_of_the_usual_ways(arguments: list[str], wanted: bool) -> None:
    environ = {"STEERSMAN_LEADER_ELECTION": str(not wanted)}

    assert read(*arguments, environ=environ).leader_election is wanted


def test_service_variables_that_kubernetes_sets_are_ignored() -> None:
    environ = {
        "STEERSMAN_PORT": "tcp://10.0.0.1:8080",
        "STEERSMAN_SERVICE_HOST": "10.0.0.1",
        "STEERSMAN_METRICS_PORT": "tcp://10.0.0.1:8080",
    }

    assert read(environ=environ) == DEFAULTS


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("leader_election", "maybe"),
        ("lease_seconds", "15 s"),
        ("lease_seconds", ""),
        ("lease_seconds", "nan"),
        ("lease_seconds", "inf"),
        ("max_threads", "1_0"),
        ("max_threads", "many"),
        ("namespaces", "Upper"),
        ("lease_namespace", "a.b"),
        ("lease_name", "a b"),
        ("health_address", "8081"),
        ("metrics_address", "localhost:99999"),
        ("log_style", "xml"),
        ("log_level", "LOUD"),
        ("preflight", "perhaps"),
    ],
)
def test_the_error_for_an_invalid_value_has_its_place_and_the_rule(field: str, text: str) -> None:
    flag, variable = f"--{field.replace('_', '-')}", f"STEERSMAN_{field.upper()}"
    (wanted,) = [each.wanted for each in SETTINGS if each.field == field]

    with pytest.raises(BadSettings, match=re.escape(f"{flag}: {text!r} is not {wanted}")):
        read(f"{flag}={text}")
    with pytest.raises(BadSettings, match=re.escape(f"${variable}: {text!r} is not {wanted}")):
        read(environ={variable: text})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("leader_election", 1),
        ("lease_seconds", True),
        ("lease_seconds", [15]),
        ("max_threads", 1.5),
        ("max_threads", True),
        ("namespaces", 5),
        ("namespaces", ["a", 5]),
        ("namespaces", [["a"]]),
        ("lease_name", 123),
        ("health_address", 8081),
        ("log_style", ["plain"]),
        ("kubeconfig", {"path": "x"}),
    ],
)
def test_the_error_for_a_value_of_the_wrong_type_in_a_file_has_its_place(
    field: str, value: object, tmp_path: Path
) -> None:
    file = write_config(tmp_path / "f.yaml", **{field: value})

    with pytest.raises(BadSettings) as caught:
        read(file=file)

    assert caught.value.source == f"{field.replace('_', '-')} in {file}"


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("health_address", "Did you mean health-address?"),
        ("healthAddress", "Did you mean health-address?"),
        ("lease-secnods", "Did you mean lease-seconds?"),
        ("qqq", "There are: kubeconfig, context, "),
    ],
)
def test_an_unknown_key_is_rejected_with_a_similar_known_key(
    key: str, hint: str, tmp_path: Path
) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(f"{key}: 1\n")

    with pytest.raises(BadSettings, match=f"there is no setting '{key}'. {re.escape(hint)}"):
        read(file=file)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "the file does not exist"),
        (b"", "is empty"),
        (b"- a\n", "is not a mapping"),
        (b"a: [\n", "is not YAML"),
        (b"context: a\ncontext: b\n", "a second time"),
        (b"context: !!python/name:os.system\n", "has a tag"),
        (b"\xff\xfe\x00", "is not"),
        (b"context: a\n---\ncontext: b\n", "starts a second document"),
    ],
)
def test_the_error_for_an_unusable_file_has_its_name(
    content: bytes | None, problem: str, tmp_path: Path
) -> None:
    file = tmp_path / "f.yaml"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(BadSettings, match=problem) as caught:
        read(file=file)

    assert caught.value.source == str(file)
    assert "--config" in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "source", "problem"),
    [
        (
            ["--lease-seconds=10"],
            "--lease-seconds",
            "would still act when another replica takes over",
        ),
        (["--renew-seconds=2.3"], "--renew-seconds", "no time for a second attempt"),
        (["--lease-seconds=15.5"], "--lease-seconds", "has whole seconds"),
        (["--lease-seconds=0"], "--lease-seconds", "positive and finite"),
        (["--lease-seconds=2h"], "--lease-seconds", "lease_seconds=7200 is more than 3600"),
        (["--grace-seconds=-5s"], "--grace-seconds", "positive and finite"),
        (["--max-threads=0"], "--max-threads", "no plain function can run"),
        (["--tls-cert-file=a"], "--tls-cert-file", "a certificate needs its key"),
        (["--health-address=:8080"], "--health-address", "both listen on port 8080"),
        (
            ["--health-address=localhost:1", "--metrics-address=localhost:1"],
            "--health-address and --metrics-address",
            "both listen on port 1",
        ),
        (["--user-agent=a\nb"], "--user-agent", "on one line"),
    ],
)
def test_the_error_for_contradictory_values_has_all_their_places(
    arguments: list[str], source: str, problem: str
) -> None:
    with pytest.raises(BadSettings, match=problem) as caught:
        read(*arguments)

    assert caught.value.source == source


def test_settings_that_are_created_in_code_are_validated_too() -> None:
    with pytest.raises(BadSettings, match="would still act") as caught:
        ManagerSettings(lease_seconds=10, renew_seconds=12)

    assert caught.value.source == "ManagerSettings(lease_seconds=10, renew_seconds=12)"


@pytest.mark.parametrize(
    "wrong",
    [
        {"namespaces": ("a", "a")},
        {"namespaces": ("",)},
        {"lease_name": "A"},
        {"lease_namespace": ""},
        {"health_address": "nowhere"},
        {"log_level": "loud"},
        {"grace_seconds": float("inf")},
        {"lease_seconds": float("nan")},
        {"user_agent": ""},
    ],
)
def test_invalid_settings_cannot_be_created(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadSettings):
        ManagerSettings(**wrong)


def test_an_address_is_read_and_an_empty_one_is_off() -> None:
    settings = ManagerSettings(health_address="", metrics_address=":9090")

    assert settings.health is None
    assert settings.metrics == ListenAddress("", 9090)


def test_two_free_ports_do_not_collide() -> None:
    settings = ManagerSettings(health_address="127.0.0.1:0", metrics_address="127.0.0.1:0")

    assert settings.health == settings.metrics


def test_help_names_every_setting_its_variable_and_its_default(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as caught:
        read("--help")

    assert caught.value.code == 0
    output = " ".join(capsys.readouterr().out.split())
    for setting in SETTINGS:
        assert f"{setting.flag} " in output
        assert f"[{setting.variable}; " in output
    assert "[STEERSMAN_LEASE_SECONDS; 15s]" in output
    assert "[STEERSMAN_HEALTH_ADDRESS; 127.0.0.1:8081]" in output


@pytest.mark.parametrize("argument", ["--nope", "word", "--lease-sec=5"])
def test_an_unknown_argument_ends_the_program_with_status_2(
    argument: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        read(argument)

    assert caught.value.code == 2
    assert "unrecognized arguments" in capsys.readouterr().err


def test_an_unset_setting_has_the_authors_value() -> None:
    own = ManagerSettings(context="staging", namespaces=("team-a",))

    settings = ManagerSettings.read(["--context=prod"], {}, prog="operator", usual=own)

    assert (settings.context, settings.namespaces) == ("prod", ("team-a",))


@given(st.sampled_from(SETTINGS), st.text(max_size=20))
def test_any_text_for_any_setting_is_accepted_or_rejected(setting: Any, text: str) -> None:
    refused = ""
    try:
        read(environ={setting.variable: text})
    except BadSettings as error:
        refused = error.source

    assert refused in ("", f"${setting.variable}")
