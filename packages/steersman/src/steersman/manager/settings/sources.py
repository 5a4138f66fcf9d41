"""Where settings come from: arguments, the environment, and a file, in this order.

One table has them all: ``lease_seconds`` is ``--lease-seconds``, ``STEERSMAN_LEASE_SECONDS``, and
``lease-seconds:`` in the file. Variables that begin like ours and are none are left alone: for a
Service called steersman, Kubernetes puts some into every Pod.
"""

import argparse
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from steersman.errors import BadSettings, BadValue, ConfigError
from steersman.manager.settings.address import Address
from steersman.names import check_label, check_subdomain
from steersman.units import format_duration, parse_duration

CONFIG: Final = "config"

_NUMBER: Final = r"[0-9]{1,15}(\.[0-9]{1,9})?"
_WORDS: Final = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """The value that a field was set to, and where, in words for an error."""

    value: Any
    origin: str


class Setting(msgspec.Struct, frozen=True):
    """One field, and how it is read; ``read`` raises ``ValueError`` for what is not ``wanted``."""

    field: str
    read: Callable[[Any], Any]
    wanted: str
    metavar: str
    help: str

    @property
    def key(self) -> str:
        """Its name in a file."""
        return self.field.replace("_", "-")

    @property
    def flag(self) -> str:
        """Its name as an argument."""
        return f"--{self.key}"

    @property
    def is_flag(self) -> bool:
        """Whether its name alone, as an argument, means yes."""
        return self.read is _flag

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return f"STEERSMAN_{self.field.upper()}"


def gather(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    *,
    prog: str,
    defaults: Mapping[str, object],
) -> dict[str, Given]:
    """What was given for each field; a field that was not set is not there.

    Ends the program, as ``argparse`` does, after ``--help`` and for an argument that there is not.
    """
    flags = vars(_parser(prog, defaults).parse_args(list(arguments)))
    config = flags[CONFIG] or environ.get(f"STEERSMAN_{CONFIG.upper()}")
    in_file = _in_file(Path(config)) if config else {}
    found: dict[str, Given] = {}
    for setting in SETTINGS:
        if (text := flags[setting.field]) is not None:
            raw, origin = text, setting.flag
        elif (text := environ.get(setting.variable)) is not None:
            raw, origin = text, f"${setting.variable}"
        elif (entry := in_file.get(setting.key)) is not None:
            raw, origin = entry, f"{setting.key} in {config}"
        else:
            continue
        found[setting.field] = Given(value=_read(setting, raw, origin), origin=origin)
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
    # Imported here: PyYAML takes long to import, and in a cluster nothing else needs it.
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
            # Imported here: nothing else needs it.
            from difflib import get_close_matches

            like = get_close_matches(key.replace("_", "-").lower(), keys, n=1)
            raise BadSettings(
                source=str(path),
                problem=f"there is no setting {_shown(key)}",
                what_now=f"Write {like[0]}, if that was meant."
                if like
                else f"There are: {', '.join(keys)}.",
            )
    return entries


# The command line


def _parser(prog: str, defaults: Mapping[str, object]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        # An abbreviation means something else as soon as there is one more setting.
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


# Values, from text as well as from YAML; and back


def as_text(value: object) -> str:
    """What to write so that the value is read again."""
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
    # Not all that Python takes: 1_000, and the digits of other alphabets.
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
        Address.parse(text)
    return text


def _names(raw: object) -> tuple[str, ...]:
    names: Iterator[str] | list[Any]
    names = raw if isinstance(raw, list) else (each.strip() for each in _text(raw).split(","))
    # An empty variable, and a comma at the end, name nothing.
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
        "Where the cluster is; without it $KUBECONFIG, the Pod's service account, or"
        " ~/.kube/config.",
    ),
    Setting("context", _some_text, "the name of a context", "NAME", "Which context of it."),
    Setting(
        "insecure_skip_tls_verify",
        _flag,
        "true or false",
        "BOOL",
        "Allow a kubeconfig to leave the server's certificate unverified.",
    ),
    Setting(
        "namespaces",
        _names,
        "names of namespaces with commas between them",
        "A,B",
        "Manage these namespaces only; without it, all of them.",
    ),
    Setting(
        "leader_election",
        _flag,
        "true or false",
        "BOOL",
        "Act only while holding a Lease, so that of several replicas one does.",
    ),
    Setting(
        "lease_namespace",
        _label,
        "the name of a namespace",
        "NAME",
        "Where that Lease is; without it, in the Pod's namespace or the context's.",
    ),
    Setting(
        "lease_name",
        _subdomain,
        "the name of an object",
        "NAME",
        "What it is called; without it, after the controllers.",
    ),
    Setting(
        "lease_seconds",
        _seconds,
        _DURATION,
        "TIME",
        "After so long without a sign of the leader another replica takes over.",
    ),
    Setting(
        "renew_seconds",
        _seconds,
        _DURATION,
        "TIME",
        "A leader that could not renew its Lease for so long stops acting.",
    ),
    Setting(
        "retry_seconds",
        _seconds,
        _DURATION,
        "TIME",
        "How often the Lease is renewed, and how often others look at it.",
    ),
    Setting(
        "health_address",
        _address,
        _ADDRESS,
        "HOST:PORT",
        "Where /healthz, /livez and /readyz are; empty: nowhere. A kubelet needs :8081.",
    ),
    Setting(
        "metrics_address",
        _address,
        _ADDRESS,
        "HOST:PORT",
        "Where /metrics is; empty: nowhere. Beyond this machine it is HTTPS, for those with the"
        " right to get /metrics.",
    ),
    Setting("tls_cert_file", _path, _FILE, "FILE", "The certificate of the metrics, in PEM."),
    Setting("tls_key_file", _path, _FILE, "FILE", "The key of that certificate, in PEM."),
    Setting("log_style", _one_of(*LOG_STYLES), "plain or json", "STYLE", "How lines are written."),
    Setting(
        "log_level",
        _one_of(*LOG_LEVELS),
        "debug, info, warning or error",
        "LEVEL",
        "Which lines are written: from this level up.",
    ),
    Setting(
        "grace_seconds",
        _seconds,
        _DURATION,
        "TIME",
        "How long running reconciles may take when the operator stops.",
    ),
    Setting(
        "max_threads",
        _count,
        "a whole number",
        "N",
        "How many plain (not async) reconcile functions may run at once.",
    ),
    Setting(
        "server_probe_seconds",
        _seconds,
        _DURATION,
        "TIME",
        "After so long without a sign of life from the API server, it is asked for one.",
    ),
    Setting(
        "server_timeout_seconds",
        _seconds,
        _DURATION,
        "TIME",
        "After so long without one, the operator is not ready.",
    ),
    Setting(
        "cache_sync_seconds",
        _seconds,
        _DURATION,
        "TIME",
        "After so long, a controller that still waits for its caches is reported with their kinds.",
    ),
    Setting(
        "preflight",
        _one_of(*PREFLIGHT),
        "wait, warn or off",
        "WHAT",
        "Whether to look for missing permissions first, and to wait until they are there.",
    ),
    Setting(
        "user_agent",
        _some_text,
        "text on one line",
        "TEXT",
        "What the operator calls itself in requests to the API server.",
    ),
)
