"""The sources of settings, in order of precedence: arguments, environment, and a file.

One table contains all settings: for example, the setting ``lease_seconds`` is ``--lease-seconds``
on the command line, ``STEERSMAN_LEASE_SECONDS`` in the environment, and ``lease-seconds:`` in the
file. Unknown environment variables with the prefix are ignored, because Kubernetes itself sets such
variables in every Pod if there is a Service called steersman.
"""

import argparse
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from steersman.errors import BadSettings, BadValue, ConfigError
from steersman.manager.settings.address import ListenAddress
from steersman.names import check_label, check_subdomain
from steersman.units import format_duration, parse_duration

CONFIG: Final = "config"

_NUMBER: Final = r"[0-9]{1,15}(\.[0-9]{1,9})?"
_WORDS: Final = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


class GivenValue(msgspec.Struct, frozen=True, kw_only=True):
    """The value of a setting, and its source, which error messages name."""

    value: Any
    origin: str


class Setting(msgspec.Struct, frozen=True):
    """One field of the settings; ``read`` parses its value.

    ``read`` raises ``ValueError`` for an invalid value. ``wanted`` describes the valid values.
    """

    field: str
    read: Callable[[Any], Any]
    wanted: str
    metavar: str
    help: str

    @property
    def key(self) -> str:
        """The name of the setting in a settings file."""
        return self.field.replace("_", "-")

    @property
    def flag(self) -> str:
        """The option for the setting on the command line."""
        return f"--{self.key}"

    @property
    def is_flag(self) -> bool:
        """Whether the command-line option can be given without a value, which means true."""
        return self.read is _flag

    @property
    def variable(self) -> str:
        """The environment variable for the setting."""
        return f"STEERSMAN_{self.field.upper()}"


def gather(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    *,
    prog: str,
    defaults: Mapping[str, object],
) -> dict[str, GivenValue]:
    """Return the value and the source of each field that any source sets.

    After ``--help`` and for an unknown argument, end the program, as ``argparse`` does.
    """
    flags = vars(_parser(prog, defaults).parse_args(list(arguments)))
    config = flags[CONFIG] or environ.get(f"STEERSMAN_{CONFIG.upper()}")
    in_file = _in_file(Path(config)) if config else {}
    found: dict[str, GivenValue] = {}
    for setting in SETTINGS:
        if (text := flags[setting.field]) is not None:
            raw, origin = text, setting.flag
        elif (text := environ.get(setting.variable)) is not None:
            raw, origin = text, f"${setting.variable}"
        elif (entry := in_file.get(setting.key)) is not None:
            raw, origin = entry, f"{setting.key} in {config}"
        else:
            continue
        found[setting.field] = GivenValue(value=_read(setting, raw, origin), origin=origin)
    return found


def _read(setting: Setting, raw: object, origin: str) -> object:
    try:
        return setting.read(raw)
    except ValueError as error:
        rule = f": {error.rule}" if isinstance(error, BadValue) else ""
        raise BadSettings(
            source=origin,
            problem=f"{_shown(raw)} is not {setting.wanted}{rule}",
            what_now="Correct it, or leave it out.",
        ) from error


def _in_file(path: Path) -> Mapping[str, object]:
    # Imported here: importing PyYAML takes long, and nothing else needs it in a cluster.
    from steersman.client import read_yaml_mapping

    try:
        entries = read_yaml_mapping(path)
    except ConfigError as error:
        raise BadSettings(
            source=error.source,
            problem=error.problem,
            what_now=f"Correct the file, or name another with --{CONFIG}.",
        ) from error
    keys = [setting.key for setting in SETTINGS]
    for key in entries:
        if key not in keys:
            # Imported here, because only this error needs it.
            from difflib import get_close_matches

            like = get_close_matches(key.replace("_", "-").lower(), keys, n=1)
            raise BadSettings(
                source=str(path),
                problem=f"there is no setting {_shown(key)}",
                what_now=f"Did you mean {like[0]}?" if like else f"There are: {', '.join(keys)}.",
            )
    return entries


# The command line


def _parser(prog: str, defaults: Mapping[str, object]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        # Abbreviations would become ambiguous with further settings.
        allow_abbrev=False,
        description="Each setting is taken from its argument, else from its variable in the"
        " environment, else from the file, where its name is that of the argument without the"
        " dashes in front.",
    )
    parser.add_argument(
        f"--{CONFIG}",
        metavar="FILE",
        help=f"A YAML file with settings. [STEERSMAN_{CONFIG.upper()}]",
    )
    for setting in SETTINGS:
        default = as_text(defaults[setting.field]) or "not set"
        about = f"{setting.help} [{setting.variable}; {default}]".replace("%", "%%")
        is_flag = setting.is_flag
        parser.add_argument(
            setting.flag,
            dest=setting.field,
            metavar=setting.metavar,
            help=about,
            nargs="?" if is_flag else None,
            const="true" if is_flag else None,
        )
        if is_flag:
            parser.add_argument(
                f"--no-{setting.key}",
                dest=setting.field,
                action="store_const",
                const="false",
                help=f"The opposite of {setting.flag}.",
            )
    return parser


# Values, parsed from text and from YAML, and printed


def as_text(value: object) -> str:
    """Format ``value``, the value of a setting, such that the setting's ``read`` parses it."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case tuple():
            return ",".join(value)
        case float():
            return format_duration(value)
        case _:
            return str(value)


def _text(raw: object) -> str:
    if not isinstance(raw, str):
        raise ValueError
    return raw


def _some_text(raw: object) -> str | None:
    return _text(raw) or None


def _path(raw: object) -> Path | None:
    text = _text(raw)
    return Path(text) if text else None


def _flag(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    if (word := _WORDS.get(_text(raw).lower())) is None:
        raise ValueError
    return word


def _count(raw: object) -> int:
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    text = _text(raw)
    # Stricter than int(), which also accepts 1_000 and the digits of other scripts.
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError
    return int(text)


def _seconds(raw: object) -> float:
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        return float(raw)
    text = _text(raw)
    return float(text) if re.fullmatch(_NUMBER, text) else parse_duration(text)


def _address(raw: object) -> str:
    text = _text(raw)
    if text:
        ListenAddress.parse(text)
    return text


def _names(raw: object) -> tuple[str, ...]:
    names: Iterator[str] | list[Any]
    names = raw if isinstance(raw, list) else (each.strip() for each in _text(raw).split(","))
    # Ignore an empty variable and a trailing comma.
    return tuple(dict.fromkeys(check_label(_text(each)) for each in names if each != ""))


def _label(raw: object) -> str | None:
    text = _text(raw)
    return check_label(text) if text else None


def _subdomain(raw: object) -> str | None:
    text = _text(raw)
    return check_subdomain(text) if text else None


def _one_of(*words: str) -> Callable[[Any], str]:
    def read(raw: object) -> str:
        if raw not in words:
            raise ValueError
        return _text(raw)

    return read


def _shown(raw: object) -> str:
    text = repr(raw)
    return text if len(text) <= 80 else text[:79] + "…"


_DURATION: Final = "a length of time such as 15s or 1m30s, or a number of seconds"
_ADDRESS: Final = "an address to listen on"
_FILE: Final = "the path of a file"

PREFLIGHT: Final = ("wait", "warn", "off")
LOG_STYLES: Final = ("plain", "json")
LOG_LEVELS: Final = ("debug", "info", "warning", "error")

SETTINGS: Final[tuple[Setting, ...]] = (
    Setting(
        "kubeconfig",
        _path,
        _FILE,
        "FILE",
        "Kubeconfig of the cluster (default: $KUBECONFIG, the Pod's service account, or"
        " ~/.kube/config).",
    ),
    Setting("context", _some_text, "the name of a context", "NAME", "Context of the kubeconfig."),
    Setting(
        "insecure_skip_tls_verify",
        _flag,
        "true or false",
        "BOOL",
        "Accept a kubeconfig that sets insecure-skip-tls-verify; it is rejected by default.",
    ),
    Setting(
        "namespaces",
        _names,
        "names of namespaces with commas between them",
        "A,B",
        "Namespaces to manage (default: all).",
    ),
    Setting(
        "leader_election",
        _flag,
        "true or false",
        "BOOL",
        "Use leader election: only the replica that holds the Lease reconciles.",
    ),
    Setting(
        "lease_namespace",
        _label,
        "the name of a namespace",
        "NAME",
        "Namespace of the Lease (default: the Pod's namespace, or that of the context).",
    ),
    Setting(
        "lease_name",
        _subdomain,
        "the name of an object",
        "NAME",
        "Name of the Lease (default: derived from the controllers' names).",
    ),
    Setting(
        "lease_seconds",
        _seconds,
        _DURATION,
        "TIME",
        "Lease duration: another replica takes over if the Lease is not renewed for this long.",
    ),
    Setting(
        "renew_seconds",
        _seconds,
        _DURATION,
        "TIME",
        "Renew deadline: a leader that cannot renew its Lease for this long stops reconciling.",
    ),
    Setting(
        "retry_seconds",
        _seconds,
        _DURATION,
        "TIME",
        "Retry period: the interval between attempts to acquire or renew the Lease.",
    ),
    Setting(
        "health_address",
        _address,
        _ADDRESS,
        "HOST:PORT",
        "Address of /healthz, /livez and /readyz (default: a loopback port); empty disables them."
        " In a Pod, use :8081, because the kubelet connects from outside the Pod.",
    ),
    Setting(
        "metrics_address",
        _address,
        _ADDRESS,
        "HOST:PORT",
        "Address of /metrics (default: a loopback port); empty disables it. On another address than"
        " loopback, metrics are served over HTTPS, only to clients with the RBAC permission to get"
        " /metrics.",
    ),
    Setting("tls_cert_file", _path, _FILE, "FILE", "TLS certificate of /metrics (PEM)."),
    Setting("tls_key_file", _path, _FILE, "FILE", "Private key of the TLS certificate (PEM)."),
    Setting(
        "log_style", _one_of(*LOG_STYLES), "plain or json", "STYLE", "Log format: plain or json."
    ),
    Setting(
        "log_level",
        _one_of(*LOG_LEVELS),
        "debug, info, warning or error",
        "LEVEL",
        "Minimum log level: debug, info, warning or error.",
    ),
    Setting(
        "grace_seconds",
        _seconds,
        _DURATION,
        "TIME",
        "Grace period for reconciles in progress when the operator stops.",
    ),
    Setting(
        "max_threads",
        _count,
        "a whole number",
        "N",
        "Maximum number of plain (not async) reconcile functions that run concurrently.",
    ),
    Setting(
        "server_probe_seconds",
        _seconds,
        _DURATION,
        "TIME",
        "Probe the API server if it has sent nothing for this long.",
    ),
    Setting(
        "server_timeout_seconds",
        _seconds,
        _DURATION,
        "TIME",
        "Report not ready if the API server has sent nothing for this long.",
    ),
    Setting(
        "cache_sync_seconds",
        _seconds,
        _DURATION,
        "TIME",
        "Log an error if the caches of a controller have not synced after this long.",
    ),
    Setting(
        "preflight",
        _one_of(*PREFLIGHT),
        "wait, warn or off",
        "WHAT",
        "Check RBAC permissions at the start: wait for missing permissions (wait), log them (warn),"
        " or skip the check (off).",
    ),
    Setting(
        "user_agent",
        _some_text,
        "text on one line",
        "TEXT",
        "User-Agent header of requests to the API server.",
    ),
)
