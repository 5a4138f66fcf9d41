"""Credential plugins run as real processes: their output, and all ways in which they fail."""

import asyncio
import os
import resource
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from steersman.client.access.cluster_config import ExecPlugin
from steersman.client.access.exec_plugin import (
    MAX_OUTPUT_BYTES,
    REST_SECONDS,
    PluginCredential,
    PluginSession,
    run,
)
from steersman.clock import SystemClock
from steersman.errors import CredentialPluginFailed
from tests.clocks import FakeClock
from tests.unit.client.access.kubeconfigs import CANARY
from tests.unit.client.access.plugins import (
    ESCAPING,
    HANGING,
    V1,
    V1BETA1,
    counting,
    exec_credential,
    listen_at,
    plugin,
    printing,
    runs,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def session(given: ExecPlugin, *, clock: FakeClock | None = None) -> PluginSession:
    return PluginSession(given, source="context here", clock=clock or FakeClock(now=NOON))


async def run_once(source: str, directory: Path, **rest: Any) -> PluginCredential:
    return await session(plugin(directory, source, **rest)).current()


@pytest.mark.parametrize("version", [V1, V1BETA1])
async def test_a_plugin_provides_a_token(version: str, tmp_path: Path) -> None:
    source = printing(exec_credential(token=CANARY, api_version=version))

    credential = await run_once(source, tmp_path, api_version=version)

    assert credential.token == CANARY
    assert credential.certificate is None
    assert CANARY not in repr(credential)


async def test_a_plugin_provides_a_certificate(tmp_path: Path) -> None:
    source = printing(exec_credential(clientCertificateData="certificate", clientKeyData=CANARY))

    credential = await run_once(source, tmp_path)

    assert (credential.certificate, credential.key) == (b"certificate", CANARY.encode())
    assert CANARY not in repr(credential)


async def test_a_plugin_gets_its_arguments_and_environment_and_no_input(tmp_path: Path) -> None:
    source = """
        import json, os, sys
        seen = [sys.argv[1:], os.environ["A"], sys.stdin.read()]
        answer = json.loads(os.environ["ANSWER"])
        answer["status"]["token"] = json.dumps(seen)
        print(json.dumps(answer))
        """

    credential = await run_once(
        source,
        tmp_path,
        args=("$(id)", "; ls", "*"),
        environment={"A": "b", "ANSWER": exec_credential()},
    )

    assert credential.token == '[["$(id)", "; ls", "*"], "b", ""]'


@pytest.mark.parametrize("terminal", [True, False])
async def test_a_plugin_keeps_the_terminal_only_if_interactive(
    tmp_path: Path, terminal: bool
) -> None:
    source = f"""
        import os
        print({exec_credential(token="SESSION")!r}.replace("SESSION", str(os.getsid(0))))
        """

    credential = await run_once(source, tmp_path, terminal=terminal)

    assert (credential.token == str(os.getsid(0))) is terminal


async def test_a_hung_interactive_plugin_is_killed_after_its_timeout(
    tmp_path: Path,
) -> None:
    hanging = plugin(tmp_path, "import time; time.sleep(60)", terminal=True, timeout_seconds=0.1)

    with pytest.raises(CredentialPluginFailed, match=r"did not finish within 0\.1 s"):
        await run(hanging, source="context here", clock=SystemClock())


FAILURES = {
    "dead": (f"import sys; sys.exit('{CANARY}')", "exited with status 1"),
    "killed": ("import os; os.kill(os.getpid(), 9)", "exited with status -9"),
    "silent": ("", "did not print an ExecCredential in JSON"),
    "chatty": (printing(f"Your token is {CANARY}"), "did not print an ExecCredential"),
    "binary": (r"import sys; sys.stdout.buffer.write(b'\xff\xfe')", "did not print an Exec"),
    "another shape": (printing(f'["{CANARY}"]'), "an invalid ExecCredential"),
    "another type": (
        printing(exec_credential(token=[CANARY])),
        r"an invalid Exec.*\$\.status\.token",
    ),
    "another kind": (printing(f'{{"kind": "{CANARY}"}}'), "did not print an ExecCredential"),
    "another version": (
        printing(exec_credential(token=CANARY, api_version=V1BETA1)),
        "Set apiVersion in its exec section",
    ),
    "no status": (
        printing(f'{{"apiVersion": "{V1}", "kind": "ExecCredential"}}'),
        "neither a token nor a certificate",
    ),
    "an empty status": (printing(exec_credential()), "neither a token nor a certificate"),
    "half a pair": (
        printing(exec_credential(clientCertificateData="c")),
        "a certificate or a key, but not",
    ),
    "a time without a zone": (
        printing(exec_credential(token=CANARY, expirationTimestamp="2026-01-01T12:00:00")),
        "an invalid ExecCredential",
    ),
    "expired": (
        printing(exec_credential(token=CANARY, expirationTimestamp="2026-01-01T11:59:59Z")),
        "expired at 2026-01-01 11:59:59 UTC. Log in again",
    ),
}


@pytest.mark.parametrize(("source", "words"), FAILURES.values(), ids=FAILURES.keys())
async def test_the_error_of_a_failed_plugin_says_what_to_do_and_shows_no_secret(
    source: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(CredentialPluginFailed, match=words) as failure:
        await run_once(source, tmp_path)

    assert str(failure.value).startswith(f"context here: its credential plugin {tmp_path}/plugin ")
    assert str(failure.value).endswith(".")
    assert CANARY not in "".join(traceback.format_exception(failure.value))


async def test_a_missing_or_invalid_program_is_reported(tmp_path: Path) -> None:
    given = plugin(tmp_path, "")
    given.command.write_bytes(b"\x7fELF")
    with pytest.raises(CredentialPluginFailed, match="could not be started: exec format error"):
        await run(given, source="context here", clock=SystemClock())

    given.command.unlink()
    with pytest.raises(CredentialPluginFailed, match="could not be started: no such file"):
        await run(given, source="context here", clock=SystemClock())


async def test_an_argument_with_a_null_byte_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(CredentialPluginFailed, match="could not be started: its arguments or"):
        await run_once("", tmp_path, args=("a\0b",))


async def failure_of(given: PluginSession) -> str:
    with pytest.raises(CredentialPluginFailed) as failure:
        await given.current()
    return str(failure.value)


@pytest.mark.parametrize("source", [HANGING, ESCAPING])
async def test_a_hung_plugin_is_killed_after_its_timeout(source: str, tmp_path: Path) -> None:
    clock = FakeClock()
    hanging = plugin(tmp_path, source, args=(f"{tmp_path}/line",), timeout_seconds=60)

    async with listen_at(tmp_path / "line") as line, asyncio.TaskGroup() as group:
        failing = group.create_task(failure_of(session(hanging, clock=clock)))
        await line.started.wait()
        clock.advance(61)

        assert "did not finish within 60 s, and was killed" in await failing
        await line.ended.wait()


async def test_a_plugin_and_its_children_are_killed_when_the_caller_is_cancelled(
    tmp_path: Path,
) -> None:
    hanging = plugin(tmp_path, HANGING, args=(f"{tmp_path}/line",))

    async with listen_at(tmp_path / "line") as line, asyncio.TaskGroup() as group:
        running = group.create_task(session(hanging).current())
        await line.started.wait()
        running.cancel()

        await line.ended.wait()


async def test_a_plugin_that_prints_100_megabytes_is_killed_early(tmp_path: Path) -> None:
    before_kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    source = """
        import sys
        for _ in range(100):
            sys.stdout.write("x" * 2**20)
            sys.stdout.flush()
        open(sys.argv[1], "w").close()
        """
    done = tmp_path / "done"

    with pytest.raises(CredentialPluginFailed, match=f"more than {MAX_OUTPUT_BYTES} bytes"):
        await run_once(source, tmp_path, args=(str(done),))

    assert not done.exists()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kilobytes < 50 * 1024


async def test_a_credential_is_used_until_shortly_before_it_expires(tmp_path: Path) -> None:
    clock = FakeClock(now=NOON)
    source = counting(tmp_path, expirationTimestamp="2026-01-01T13:00:00Z")
    given = session(plugin(tmp_path, source), clock=clock)

    first = await given.current()
    clock.advance(3580)
    assert given.is_fresh
    assert await given.current() is first
    clock.advance(11)
    assert not given.is_fresh
    second = await given.current()

    assert second is not first
    assert runs(tmp_path) == 2


async def test_a_short_lived_credential_is_used_until_it_expires(tmp_path: Path) -> None:
    clock = FakeClock(now=NOON)
    source = counting(tmp_path, expirationTimestamp="2026-01-01T12:00:05Z")
    given = session(plugin(tmp_path, source), clock=clock)

    await given.current()
    clock.advance(4)
    await given.current()

    assert runs(tmp_path) == 1


async def test_a_credential_without_an_expiry_is_kept(tmp_path: Path) -> None:
    clock = FakeClock(now=NOON)
    given = session(plugin(tmp_path, counting(tmp_path)), clock=clock)

    await given.current()
    clock.advance(10**7)
    await given.current()

    assert runs(tmp_path) == 1


async def test_a_plugin_is_not_started_after_every_401(tmp_path: Path) -> None:
    clock = FakeClock(now=NOON)
    given = session(plugin(tmp_path, counting(tmp_path)), clock=clock)
    await given.current()

    tokens = [(await given.renew()).token for _ in range(3)]
    clock.advance(REST_SECONDS)
    tokens.append((await given.renew()).token)

    assert tokens == ["xx", "xx", "xx", "xxx"]


async def test_a_failed_plugin_is_retried_only_after_a_delay(tmp_path: Path) -> None:
    clock = FakeClock(now=NOON)
    given = session(plugin(tmp_path, counting(tmp_path, token="")), clock=clock)

    for _ in range(3):
        with pytest.raises(CredentialPluginFailed):
            await given.current()
    assert runs(tmp_path) == 1

    clock.advance(REST_SECONDS)
    with pytest.raises(CredentialPluginFailed):
        await given.current()
    assert runs(tmp_path) == 2
