"""Runs a credential plugin: a program of the user that prints a token or a certificate.

The program runs without a shell. It can read input only if a user's terminal is available. Its run
time and the length of its output are limited. Its standard error is sent to the terminal or
discarded; no message quotes it, because it may contain secrets.
"""

import asyncio
import math
import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from subprocess import DEVNULL, PIPE
from typing import Annotated, Final

import msgspec

from steersman.client.access.cluster_config import ExecPlugin
from steersman.clock import Clock
from steersman.errors import CredentialPluginFailed

# A token takes kilobytes, a certificate chain tens of kilobytes.
MAX_OUTPUT_BYTES: Final = 1024 * 1024

# The time before its expiry at which a credential is replaced, so that requests still arrive in
# time.
LEEWAY: Final = timedelta(seconds=10)

# The minimum time between two runs after a failure, or because of a 401. Otherwise, each request
# that needs the credential would start the failing plugin again.
REST_SECONDS: Final = 10.0

_BY_HAND: Final = "Run the command of the kubeconfig in a terminal to see why."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PluginCredential:
    """A credential that a plugin printed.

    Each run of the plugin creates a new object, even if the values are equal.
    """

    token: str | None = field(repr=False)
    certificate: bytes | None = field(repr=False)
    key: bytes | None = field(repr=False)
    expiration_time: datetime | None


class PluginSession:
    """A credential plugin and its last credential; only one task at a time may await a method."""

    def __init__(self, plugin: ExecPlugin, *, source: str, clock: Clock) -> None:
        self._plugin = plugin
        self._source = source
        self._clock = clock
        self._last: PluginCredential | None = None
        self._due_time: datetime | None = None
        self._renewed_at = -math.inf
        self._failed_at = -math.inf
        self._failure: CredentialPluginFailed | None = None

    @property
    def is_fresh(self) -> bool:
        """Whether there is a last credential that has not expired."""
        if self._last is None:
            return False
        return self._due_time is None or self._clock.now() < self._due_time

    async def current(self) -> PluginCredential:
        """Return the last credential; run the plugin first if there is none or it has expired."""
        if self._last is None or not self.is_fresh:
            self._last = await self._sender()
        return self._last

    async def renew(self) -> PluginCredential:
        """Run the plugin again, because the API server rejected the last credential.

        If the plugin was already renewed a moment ago, return the last credential instead.
        """
        if self._is_over(self._renewed_at):
            self._renewed_at = self._clock.monotonic()
            self._last = await self._sender()
        return await self.current()

    async def _sender(self) -> PluginCredential:
        if self._failure is not None and not self._is_over(self._failed_at):
            raise _failed(
                self._plugin,
                self._source,
                f"failed less than {REST_SECONDS:g} s ago, and is not run again yet",
            ) from self._failure
        try:
            output = await run(self._plugin, source=self._source, clock=self._clock)
            credential = read_credential(output, plugin=self._plugin, source=self._source)
            self._due_time = self._time_to_replace(credential)
        except CredentialPluginFailed as failure:
            self._failed_at = self._clock.monotonic()
            self._failure = failure
            raise
        self._failure = None
        return credential

    def _is_over(self, moment_at: float) -> bool:
        return self._clock.monotonic() >= moment_at + REST_SECONDS

    def _time_to_replace(self, credential: PluginCredential) -> datetime | None:
        end_time = credential.expiration_time
        if end_time is None:
            return None
        now = self._clock.now()
        if end_time <= now:
            raise _failed(
                self._plugin,
                self._source,
                f"returned a credential that expired at {end_time:%Y-%m-%d %H:%M:%S %Z}",
                "Log in again with the plugin's tool, and check the clock of this machine.",
            )
        # A credential that expires within the leeway is used until it expires.
        return end_time - LEEWAY if now < end_time - LEEWAY else end_time


async def run(plugin: ExecPlugin, *, source: str, clock: Clock) -> bytes:
    """Run ``plugin`` and return its output.

    ``source`` names the origin of the configuration in errors. If this function raises an
    exception, the program and its child processes have been stopped.
    """
    loop = asyncio.get_running_loop()
    try:
        process, output = await loop.subprocess_exec(
            _Output,
            str(plugin.command),
            *plugin.args,
            stdin=None if plugin.terminal else DEVNULL,
            stdout=PIPE,
            stderr=None if plugin.terminal else DEVNULL,
            env=plugin.environment,
            # A separate process group can be killed as a whole, but has no access to the terminal.
            start_new_session=not plugin.terminal,
        )
    except (OSError, ValueError) as error:
        reason = "its arguments or environment are invalid"
        if isinstance(error, OSError):
            reason = str(error.strerror).lower()
        raise _failed(plugin, source, f"could not be started: {reason}") from error
    try:
        async with clock.timeout(plugin.timeout_seconds):
            await output.over.wait()
    except TimeoutError:
        problem = f"did not finish within {plugin.timeout_seconds:g} s, and was killed"
        raise _failed(plugin, source, problem) from None
    finally:
        if not output.ended.is_set():
            await _end(process, output, alone=plugin.terminal)
        process.close()
    if len(output.content) > MAX_OUTPUT_BYTES:
        problem = f"printed more than {MAX_OUTPUT_BYTES} bytes, and was killed"
        raise _failed(plugin, source, problem)
    status = process.get_returncode()
    if status != 0:
        raise _failed(plugin, source, f"exited with status {status}")
    return bytes(output.content)


async def _end(process: asyncio.SubprocessTransport, output: "_Output", *, alone: bool) -> None:
    with suppress(ProcessLookupError):
        if alone:
            process.kill()
        else:
            os.killpg(process.get_pid(), signal.SIGKILL)
    # A child that left the group may still have the pipe open; do not wait for it.
    pipe = process.get_pipe_transport(1)
    if pipe is not None:
        pipe.close()
    # SIGKILL takes effect soon, and the event loop that reaps the process may be about to stop.
    await output.ended.wait()


class _Output(asyncio.SubprocessProtocol):
    """The output of a program, collected until the program ends or exceeds the size limit."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.over = asyncio.Event()
        self.ended = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002
        if not self.over.is_set():
            self.content += data
        if len(self.content) > MAX_OUTPUT_BYTES:
            self.over.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self.ended.set()
        self.over.set()


class _Status(msgspec.Struct, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class _ExecCredential(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""
    status: _Status | None = None


def read_credential(output: bytes, *, plugin: ExecPlugin, source: str) -> PluginCredential:
    """Return the credential in ``output``, the output of ``plugin``."""
    try:
        answer = msgspec.json.decode(output, type=_ExecCredential)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problem = "did not print an ExecCredential in JSON"
        if isinstance(error, msgspec.ValidationError):
            problem = f"printed an invalid ExecCredential: {error}"
        # Not chained: the decoder's error may quote its input.
        raise _failed(plugin, source, problem) from None
    if answer.kind != "ExecCredential" or answer.api_version != plugin.api_version:
        problem = f"did not print an ExecCredential of {plugin.api_version}"
        raise _failed(
            plugin,
            source,
            problem,
            "Set apiVersion in its exec section to the version that the plugin supports.",
        )
    status = answer.status
    if status is None or not (status.token or status.client_certificate_data):
        raise _failed(plugin, source, "returned neither a token nor a certificate")
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        raise _failed(plugin, source, "returned a certificate or a key, but not both")
    return PluginCredential(
        token=status.token or None,
        certificate=_bytes(status.client_certificate_data),
        key=_bytes(status.client_key_data),
        expiration_time=status.expiration_timestamp,
    )


def _bytes(text: str | None) -> bytes | None:
    return text.encode() if text else None


def _failed(
    plugin: ExecPlugin, source: str, problem: str, what_now: str = _BY_HAND
) -> CredentialPluginFailed:
    return CredentialPluginFailed(
        source=source,
        problem=f"its credential plugin {plugin.command} {problem}",
        what_now=what_now,
    )
