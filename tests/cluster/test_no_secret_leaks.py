"""Recognizable secrets in tokens, keys and Secrets, and requests that fail in many ways.

The tests search log lines in both formats, observations, logs of all libraries, and the reprs of
objects with secrets. They do not search responses: these go to the client that sent the secret.
"""

import asyncio
import base64
import io
import logging
import ssl
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
import yaml

from steersman.clock import SystemClock
from steersman.observe import Observation, ResponseFailed, fan_out, log_to
from steersman_cluster.apiserver import (
    ClusterSettings,
    Key,
    RevisionLog,
    RunningCluster,
    User,
    administrator,
    running_cluster,
)
from tests.clocks import FakeClock
from tests.embedded import APPLY, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, EmbeddedServer

CANARY = "c4n4ry-s3cr3t"
ENCODED = base64.b64encode(CANARY.encode()).decode()

SECRETS = "/api/v1/namespaces/default/secrets"
SECRET: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "db"},
    "data": {"password": ENCODED},
}


class Listener:
    """Observes, logs in both formats, and records all output."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._logs = [io.StringIO(), io.StringIO()]
        self.observations: list[Observation] = []
        clock = FakeClock()
        self.observe = fan_out(
            self._note,
            log_to(self._logs[0], clock=clock, style="plain", level=logging.DEBUG),
            log_to(self._logs[1], clock=clock, style="json", level=logging.DEBUG),
        )

    def _note(self, observation: Observation) -> None:
        self.observations.append(observation)
        self._said += [repr(observation), str(observation)]

    def record_reprs(self, *things: object) -> None:
        """Record the reprs that a debugger or a failed assertion would print."""
        for each in things:
            self._said += [repr(each), str(each)]

    @property
    def everything(self) -> str:
        return "\n".join([*self._said, *(log.getvalue() for log in self._logs)])


def assert_silent(everything: str) -> None:
    assert everything
    assert CANARY not in everything
    assert ENCODED not in everything


class FaultyJournal:
    """Fails for every Secret, and includes it in the error."""

    def load(self) -> tuple[int, int, Iterator[tuple[int, Key, dict[str, Any] | None]]]:
        return 1, 0, iter(())

    def record(self, revision: int, key: Key, value: dict[str, Any] | None) -> None:
        if key.resource == "secrets":
            raise ZeroDivisionError(value)

    def compact(self, revision: int) -> None:
        pass


def api_with(listener: Listener, *, log: RevisionLog | None = None) -> EmbeddedServer:
    return EmbeddedServer(tokens={CANARY: administrator()}, log=log, observe=listener.observe)


def changed(**changes: Any) -> bytes:
    return msgspec.json.encode(SECRET | changes)


# Requests for a Secret that fail: method, path, body, content type.
WRONG: dict[str, tuple[str, str, bytes, str]] = {
    "taken": ("POST", SECRETS, changed(), "application/json"),
    "cut short": ("POST", SECRETS, changed()[:-9], "application/json"),
    "not UTF-8": ("POST", SECRETS, changed(type="x").replace(b"x", b"\xff"), "application/json"),
    "not encoded": ("POST", SECRETS, changed(data={"a": CANARY}), "application/json"),
    "no map": ("POST", SECRETS, changed(data=CANARY), "application/json"),
    "a number": ("POST", SECRETS, changed(stringData={CANARY: 1}), "application/json"),
    "a bad key": ("POST", SECRETS, changed(data={f"{CANARY}/x": ENCODED}), "application/json"),
    "an unknown field": (
        "POST",
        f"{SECRETS}?fieldValidation=Strict",
        changed(daat={"password": CANARY}),
        "application/json",
    ),
    "bad YAML": ("POST", SECRETS, f"data: [{CANARY}".encode(), "application/yaml"),
    "another kind": ("POST", SECRETS, changed(kind=CANARY), "application/json"),
    "too large": (
        "POST",
        SECRETS,
        changed(stringData={"a": CANARY * 2**18}),
        "application/json",
    ),
    "an old version": (
        "PUT",
        f"{SECRETS}/db",
        changed(metadata={"name": "db", "resourceVersion": "1"}),
        "application/json",
    ),
    "a failed test": (
        "PATCH",
        f"{SECRETS}/db",
        msgspec.json.encode([{"op": "test", "path": "/data/password", "value": CANARY}]),
        JSON_PATCH,
    ),
    "a patch to nonsense": (
        "PATCH",
        f"{SECRETS}/db",
        msgspec.json.encode({"data": CANARY}),
        MERGE_PATCH,
    ),
    "a strategic patch to nonsense": (
        "PATCH",
        f"{SECRETS}/db",
        msgspec.json.encode({"data": {"password": [CANARY]}}),
        STRATEGIC_PATCH,
    ),
    "a conflict": (
        "PATCH",
        f"{SECRETS}/db?fieldManager=me",
        changed(data={"password": "YQ=="}),
        APPLY,
    ),
    "applied nonsense": ("PATCH", f"{SECRETS}/db?fieldManager=me", CANARY.encode(), APPLY),
}


@pytest.mark.parametrize("case", WRONG)
async def test_a_rejected_request_for_a_secret_logs_no_secret(case: str) -> None:
    method, path, body, sends = WRONG[case]
    listener = Listener()
    api = api_with(listener)
    await api.ask("POST", SECRETS, SECRET, token=CANARY)

    response = await api.ask(method, path, body, sends=sends, token=CANARY)

    assert 400 <= response.status < 500, response.body
    assert listener.observations == []
    listener.record_reprs(api.server, api.server.store, api.log, api.server.registry)
    assert_silent(listener.everything)


async def test_an_error_while_a_secret_is_written_logs_no_secret(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    listener = Listener()
    api = api_with(listener, log=RevisionLog(FaultyJournal()))

    response = await api.ask("POST", SECRETS, SECRET, token=CANARY)

    assert response.status == 500
    assert [type(each) for each in listener.observations] == [ResponseFailed]
    assert "ZeroDivisionError in record" in listener.everything
    assert_silent(listener.everything + response.body.decode() + caplog.text)


async def test_the_repr_of_an_object_with_a_secret_hides_it() -> None:
    listener = Listener()
    api = api_with(listener)
    await api.ask("POST", SECRETS, SECRET, token=CANARY)
    entry = api.log.latest(Key("secrets", "default/db"))
    assert entry is not None

    listener.record_reprs(entry, vars(api.server), vars(api.server.store), User(name="jane"))

    assert_silent(listener.everything)


# Some are malformed, so that the HTTP library rejects them; the server rejects the others.
REQUESTS = {
    "a header with a zero": (
        f"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {CANARY}\0\r\n\r\n"
    ),
    "a method that is none": f"{CANARY}\r\n\r\n",
    "a target that is none": f"GET http://[{CANARY} HTTP/1.1\r\nHost: x\r\n\r\n",
    "a chunk that is none": (
        f"POST {SECRETS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{CANARY}\r\n"
    ),
    "an unknown token": (f"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x{CANARY}\r\n\r\n"),
    "no token": f"GET {SECRETS}?token={CANARY} HTTP/1.1\r\nHost: x\r\n\r\n",
}


async def test_requests_over_a_socket_log_no_secret(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    listener = Listener()
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{CANARY},jane,1,system:masters\n", encoding="utf-8")
    settings = ClusterSettings(token_auth_file=tokens, kubeconfig=tmp_path / "kubeconfig")

    async with running_cluster(
        settings, clock=SystemClock(), rng=Random(0), observe=listener.observe, environ={}
    ) as cluster:
        statuses = [await sent(cluster, text.encode()) for text in REQUESTS.values()]
        listener.record_reprs(settings, cluster)

    said = capfd.readouterr()
    everything = listener.everything + caplog.text + said.out + said.err
    assert statuses == [400, 400, 400, 400, 401, 403]
    assert cluster.token not in everything
    assert_silent(everything)


async def sent(cluster: RunningCluster, request: bytes) -> int:
    """The status of the response to these bytes."""
    config = yaml.safe_load(cluster.kubeconfig.read_text(encoding="utf-8"))
    trusted = config["clusters"][0]["cluster"]["certificate-authority-data"]
    tls = ssl.create_default_context(cadata=base64.b64decode(trusted).decode())
    port = urlsplit(cluster.url).port
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls)
    writer.write(request)
    line = await reader.readline()
    writer.close()
    return int(line.split()[1])
