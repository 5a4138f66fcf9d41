"""``ManagerSettings``: the settings of a manager that come from outside its code."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from steersman.client import Trust
from steersman.errors import BadSettings, BadValue
from steersman.manager.leader_election.election import JITTER, MAX_SECONDS
from steersman.manager.settings.address import ListenAddress
from steersman.manager.settings.sources import (
    LOG_LEVELS,
    LOG_STYLES,
    PREFLIGHT,
    SETTINGS,
    as_text,
    gather,
)
from steersman.names import check_label, check_subdomain

# The names of the levels in ``logging``.
_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}


# The fields with durations.
_LENGTHS: Final = (
    "lease_seconds",
    "renew_seconds",
    "retry_seconds",
    "grace_seconds",
    "server_probe_seconds",
    "server_timeout_seconds",
    "cache_sync_seconds",
)


class _Problem(msgspec.Struct, frozen=True, kw_only=True):
    """An invalid value: the problem, its fields, and what to do."""

    fields: tuple[str, ...]
    problem: str
    what_now: str


class _InvalidValue(BadSettings):
    def __init__(self, found: _Problem, *, source: str) -> None:
        self.found = found
        super().__init__(source=source, problem=found.problem, what_now=found.what_now)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerSettings:
    """The settings of a manager that come from outside its code, as one frozen value.

    ``read`` reads the settings from arguments, the environment and a file. An empty address
    disables its listener.
    """

    kubeconfig: Path | None = None
    context: str | None = None

    # The second consent that a kubeconfig with insecure-skip-tls-verify requires.
    insecure_skip_tls_verify: bool = False

    # Empty means all.
    namespaces: tuple[str, ...] = ()

    # Enabled by default, also on a laptop: a second replica that is started by mistake then logs
    # the name of the leader, and the two do not undo each other's work. It costs one small object,
    # and no time, because a stopping replica releases the Lease. Both must use the Lease of one
    # namespace: on a laptop, set that of the Deployment.
    leader_election: bool = True
    lease_namespace: str | None = None
    lease_name: str | None = None

    # The values of Kubernetes' own components.
    lease_seconds: float = 15.0
    renew_seconds: float = 10.0
    retry_seconds: float = 2.0

    # Only this machine by default. The kubelet connects from outside, so it needs the health port,
    # on which it learns only whether the checks pass.
    health_address: str = "127.0.0.1:8081"
    metrics_address: str = "127.0.0.1:8080"
    tls_cert_file: Path | None = None
    tls_key_file: Path | None = None

    log_style: Literal["plain", "json"] = "plain"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    # A Pod is killed 30 s after SIGTERM. The rest is for releasing the Lease and writing the last
    # events.
    grace_seconds: float = 25.0

    # Enough for a hundred plain functions that hang, and for the workers. Each thread is created
    # when it is needed, and waits for the server, not for a core.
    max_threads: int = 128

    # Events, bookmarks, responses and renewals of the lease count as responses. After the first
    # time without one the server is probed, after the second the operator is not ready. There is
    # time for two probes, and the second time is less than the minute after which caches are stale.
    server_probe_seconds: float = 30.0
    server_timeout_seconds: float = 50.0

    # As in controller-runtime: longer than any list takes. After this time, a controller whose
    # caches have not synced is reported with their kinds; it starts once they have synced.
    cache_sync_seconds: float = 120.0

    # While it waits, the missing permissions are in the log and in /readyz, and no restart is
    # needed once they are granted; a crash loop would restart.
    preflight: Literal["wait", "warn", "off"] = "wait"

    user_agent: str | None = None

    def __post_init__(self) -> None:
        for found in self._problems():
            given = ", ".join(f"{name}={getattr(self, name)!r}" for name in found.fields)
            raise _InvalidValue(found, source=f"ManagerSettings({given})")

    @classmethod
    def read(
        cls,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        *,
        prog: str,
        usual: "ManagerSettings | None" = None,
    ) -> "ManagerSettings":
        """Read each setting from ``arguments``, else from ``environ``, else from a file.

        The file is named by ``arguments`` or ``environ``. A setting that none of the three contains
        has the value from ``usual``. The program, named ``prog`` in messages, ends after
        ``--help``, and for an unknown argument.
        """
        defaults = {each.name: getattr(usual or cls(), each.name) for each in fields(cls)}
        given = gather(arguments, environ, prog=prog, defaults=defaults)
        values: dict[str, Any] = {name: each.value for name, each in given.items()}
        try:
            return cls(**(defaults | values))
        except _InvalidValue as error:
            # A field that was not set has its default, which cannot be the cause.
            origins = [given[name].origin for name in error.found.fields if name in given]
            raise _InvalidValue(error.found, source=" and ".join(origins)) from None

    def environ(self) -> dict[str, str]:
        """Return environment variables from which ``read`` reads the same settings.

        The result contains one variable for each setting that differs from its default.
        """
        usual = ManagerSettings()
        values = ((each, getattr(self, each.field)) for each in SETTINGS)
        return {
            each.variable: as_text(value)
            for each, value in values
            if value != getattr(usual, each.field)
        }

    @property
    def health(self) -> ListenAddress | None:
        """The address at which probes are served; ``None`` if they are disabled."""
        return ListenAddress.parse(self.health_address) if self.health_address else None

    @property
    def metrics(self) -> ListenAddress | None:
        """The address at which metrics are served; ``None`` if they are disabled."""
        return ListenAddress.parse(self.metrics_address) if self.metrics_address else None

    @property
    def log_level_number(self) -> int:
        """The log level as a number of the module ``logging``."""
        return _LEVELS[self.log_level]

    def _problems(self) -> Iterator[_Problem]:
        yield from self._bad_values()
        yield from self._contradictions()

    def _bad_values(self) -> Iterator[_Problem]:
        for name in _LENGTHS:
            seconds = getattr(self, name)
            if not (math.isfinite(seconds) and seconds > 0):
                yield _Problem(
                    fields=(name,),
                    problem=f"{name} must be positive and finite, and is {seconds:g}",
                    what_now="Set a duration.",
                )
        if self.max_threads < 1:
            yield _Problem(
                fields=("max_threads",),
                problem=f"with max_threads={self.max_threads} no plain function can run",
                what_now="Set at least 1.",
            )
        for name, words in (
            ("log_style", LOG_STYLES),
            ("log_level", LOG_LEVELS),
            ("preflight", PREFLIGHT),
        ):
            if getattr(self, name) not in words:
                yield _Problem(
                    fields=(name,),
                    problem=f"{name} is not one of {', '.join(words)}",
                    what_now="Set one of them.",
                )
        if self.user_agent is not None and not (self.user_agent and self.user_agent.isprintable()):
            yield _Problem(
                fields=("user_agent",),
                problem="user_agent is empty, or has characters that are not printable",
                what_now="Set a text on one line, or None.",
            )
        if len(set(self.namespaces)) < len(self.namespaces):
            yield _Problem(
                fields=("namespaces",),
                problem="namespaces contains a name twice",
                what_now="Remove one of the two.",
            )
        for name, value, check in self._checked_text():
            try:
                check(value)
            except BadValue as error:
                yield _Problem(
                    fields=(name,),
                    problem=str(error).rstrip("."),
                    what_now=f"Correct {name}, or leave it out.",
                )

    def _checked_text(self) -> Iterator[tuple[str, str, Callable[[str], object]]]:
        for namespace in self.namespaces:
            yield "namespaces", namespace, check_label
        if self.lease_namespace is not None:
            yield "lease_namespace", self.lease_namespace, check_label
        if self.lease_name is not None:
            yield "lease_name", self.lease_name, check_subdomain
        for name in ("health_address", "metrics_address"):
            if address := getattr(self, name):
                yield name, address, ListenAddress.parse

    def _contradictions(self) -> Iterator[_Problem]:
        if self.lease_seconds % 1:
            yield _Problem(
                fields=("lease_seconds",),
                problem=f"a Lease has whole seconds, and lease_seconds={self.lease_seconds:g}"
                " is not a whole number",
                what_now="Set a whole number.",
            )
        if self.lease_seconds > MAX_SECONDS:
            yield _Problem(
                fields=("lease_seconds",),
                problem=f"lease_seconds={self.lease_seconds:g} is more than {MAX_SECONDS:g}, so"
                " no replica would act for that long after a leader fails",
                what_now="Lower it; 15 is usual.",
            )
        if not self.renew_seconds < self.lease_seconds:
            yield _Problem(
                fields=("lease_seconds", "renew_seconds"),
                problem=f"renew_seconds={self.renew_seconds:g} is not less than"
                f" lease_seconds={self.lease_seconds:g}, so a leader would still act when another"
                " replica takes over",
                what_now="Raise lease_seconds, or lower renew_seconds; 15 and 10 are usual.",
            )
        if not self.retry_seconds * JITTER < self.renew_seconds:
            yield _Problem(
                fields=("renew_seconds", "retry_seconds"),
                problem=f"retry_seconds={self.retry_seconds:g} leaves no time for a second attempt"
                f" within renew_seconds={self.renew_seconds:g}",
                what_now="Raise renew_seconds, or lower retry_seconds; 10 and 2 are usual.",
            )
        if not self.server_probe_seconds < self.server_timeout_seconds:
            yield _Problem(
                fields=("server_probe_seconds", "server_timeout_seconds"),
                problem=f"server_probe_seconds={self.server_probe_seconds:g} is not less than"
                f" server_timeout_seconds={self.server_timeout_seconds:g}, so the server would"
                " count as unresponsive before it is probed",
                what_now="Raise server_timeout_seconds, or lower server_probe_seconds; 50 and 30"
                " are usual.",
            )
        if (self.tls_cert_file is None) != (self.tls_key_file is None):
            yield _Problem(
                fields=("tls_cert_file", "tls_key_file"),
                problem="only one of tls_cert_file and tls_key_file is set, and a certificate needs"
                " its key",
                what_now="Set both, or neither.",
            )
        health, metrics = self.health, self.metrics
        if health is not None and metrics is not None and _overlap(health, metrics):
            yield _Problem(
                fields=("health_address", "metrics_address"),
                problem=f"probes and metrics cannot both listen on port {health.port}",
                what_now="Use different ports, or set one address to the empty text to disable it.",
            )


def trust_of(trust: Trust, settings: ManagerSettings) -> Trust:
    """Return ``trust``, changed to permit unverified servers if ``settings`` permit them."""
    if settings.insecure_skip_tls_verify:
        return msgspec.structs.replace(trust, unverified_servers=True)
    return trust


def _overlap(one: ListenAddress, other: ListenAddress) -> bool:
    if one.port != other.port or one.port == 0:
        return False
    return one.host == other.host or "" in (one.host, other.host)
