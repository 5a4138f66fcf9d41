"""Canaries in every place that holds a secret, and every way in which a call can fail.

Searched are messages, reprs, arguments and tracebacks of errors and of their causes, observations,
and log lines in both styles.
"""

import base64
import io
import logging
import traceback
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from steersman.client import (
    Client,
    ClientSettings,
    ClusterConfig,
    DecodeFailure,
    JsonPatch,
    Listing,
    MergePatch,
    ObjectWritten,
    StrategicMergePatch,
    connect,
)
from steersman.client.access.authenticated import AuthenticatedTransport
from steersman.client.access.cluster_config import (
    ClientCertificate,
    ExecPlugin,
    Login,
    Password,
    Token,
    TokenFile,
)
from steersman.client.access.credentials import ConfiguredCredentials
from steersman.client.request.request_spec import RequestSpec
from steersman.errors import InvalidObject, SteersmanError, Unreachable
from steersman.kinds import Unstructured, authentication_v1, core_v1, meta_v1
from steersman.names import ObjectRef
from steersman.observe import Observation, fan_out, log_to
from steersman.wire import Transport
from tests.clocks import FakeClock
from tests.transports import FakeResponse, Scripted, ScriptedTransport, error_response
from tests.unit.client.access.plugins import exec_credential, plugin, printing

CANARY = "c4n4ry-s3cr3t"
ENCODED = base64.b64encode(CANARY.encode()).decode()

LooseSecret = Unstructured.of("v1", "Secret")

LOOSE_BODY: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {
        "name": "db",
        "namespace": "default",
        "resourceVersion": "7",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": CANARY},
    },
    "data": {"password": ENCODED},
}
LOOSE = LooseSecret(LOOSE_BODY)
TYPED = core_v1.Secret(
    metadata=meta_v1.ObjectMeta(name="db", namespace="default"),
    data={"password": CANARY.encode()},
    string_data={"password": CANARY},
)


class OutputRecorder:
    """Observes, logs in both styles, and records all texts."""

    def __init__(self, clock: FakeClock) -> None:
        self._texts: list[str] = []
        self._logs = [io.StringIO(), io.StringIO()]
        self.observe = fan_out(
            self._note,
            log_to(self._logs[0], clock=clock, style="plain", level=logging.DEBUG),
            log_to(self._logs[1], clock=clock, style="json", level=logging.DEBUG),
        )

    def _note(self, observation: Observation) -> None:
        self._texts += [repr(observation), str(observation)]

    def receive(self, error: BaseException) -> None:
        self._texts.extend(texts_of(error))

    @property
    def output(self) -> str:
        return "\n".join([*self._texts, *(log.getvalue() for log in self._logs)])


def texts_of(error: BaseException) -> Iterator[str]:
    yield "".join(traceback.format_exception(error))
    cause: BaseException | None = error
    while cause is not None:
        yield from (str(cause), repr(cause), repr(cause.args))
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def assert_no_secret(output: str) -> None:
    assert output
    assert CANARY not in output
    assert ENCODED not in output


def client_on(transport: Transport, clock: FakeClock, recorder: OutputRecorder) -> Client:
    return Client(
        transport,
        clock=clock,
        rng=Random(0),
        observe=recorder.observe,
        settings=ClientSettings(object_limit_bytes=50_000, page_limit_bytes=50_000),
    )


def config(
    login: Login | None = None,
    certificate: ClientCertificate | None = None,
    *,
    # Without TLS, because the system's root certificates take long to load.
    server: str = "http://127.0.0.1:8080",
) -> ClusterConfig:
    return ClusterConfig(
        server=server,
        source="the test",
        login=login,
        certificate=certificate,
    )


def secret(**changes: Any) -> bytes:
    return msgspec.json.encode(LOOSE_BODY | changes)


async def listed(client: Client) -> None:
    async for page in client.pages(core_v1.Secret, namespace="default"):
        if page.invalid:
            raise page.invalid[0]


async def watched(client: Client) -> None:
    async with client.watch(core_v1.Secret, namespace="default") as events:
        async for event in events:
            assert CANARY not in repr(event)
            if isinstance(event, DecodeFailure):
                raise event.error


VERBS: dict[str, Callable[[Client], Awaitable[object]]] = {
    "get": lambda c: c.get(core_v1.Secret, "db", namespace="default"),
    "get unstructured": lambda c: c.get(LooseSecret, "db", namespace="default"),
    "list": listed,
    "list unstructured": lambda c: c.list(LooseSecret, namespace="default"),
    "watch": watched,
    "create": lambda c: c.create(TYPED),
    "create unstructured": lambda c: c.create(LOOSE),
    "update": lambda c: c.update(LOOSE),
    "apply": lambda c: c.apply(TYPED, field_manager="me"),
    "merge patch": lambda c: c.patch(
        core_v1.Secret, "db", MergePatch({"stringData": {"p": CANARY}}), namespace="default"
    ),
    "json patch": lambda c: c.patch(
        core_v1.Secret, "db", JsonPatch(JsonPatch.add("/stringData/p", CANARY)), namespace="default"
    ),
    "delete": lambda c: c.delete(core_v1.Secret, "db", namespace="default"),
    "discover": lambda c: c.discover(),
}
WORDS = CANARY.encode()
FAILURES: dict[str, Scripted] = {
    "refused": error_response(403, "Forbidden", warnings=('299 - "old"',)),
    "not known": error_response(401, "Unauthorized"),
    "a page that repeats the request": FakeResponse(status=502, body=b"<p>Bearer " + WORDS),
    "a redirect that repeats the request": FakeResponse(
        status=302, headers={"location": f"https://x/?token={CANARY}"}, body=WORDS
    ),
    "shed": error_response(429, headers={"retry-after": "1"}),
    "unreachable": Unreachable("connection refused", may_have_happened=False),
    "cut off": FakeResponse(body=[secret()[:-9], Unreachable("connection reset")]),
}
NONSENSE: dict[str, bytes] = {
    "no JSON": WORDS,
    "JSON cut short": secret()[:-9],
    "not UTF-8": secret(type=CANARY).replace(WORDS, WORDS + b"\xff"),
    "another kind": secret(kind="ConfigMap"),
    "too large": secret(stringData={"password": CANARY * 5000}),
    "too deep": b"[" * 20_000 + WORDS,
}
UNDECODABLE: dict[str, dict[str, Any]] = {
    "data that is no object": {"data": CANARY},
    "data that is not encoded": {"data": {"password": CANARY}},
    "data in a list": {"data": [ENCODED]},
    "data under data": {"data": {"password": {"deep": CANARY}}},
    "a type that is data": {"type": {"a": CANARY}},
    "labels that are data": {"metadata": {"name": "db", "labels": CANARY}},
    "an owner that is data": {"metadata": {"name": "db", "ownerReferences": [CANARY]}},
    "a time that is data": {"metadata": {"name": "db", "creationTimestamp": CANARY}},
}


def response_body(verb: str, obj: bytes) -> bytes:
    """The body of the response to ``verb`` that contains this object."""
    if verb == "watch":
        return b'{"type": "ADDED", "object": ' + obj + b"}\n"
    if verb.startswith("list"):
        return b'{"apiVersion": "v1", "kind": "SecretList", "items": [' + obj + b"]}"
    return obj


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("failure", [*FAILURES, *NONSENSE, "slow"])
async def test_no_secret_appears_in_an_error_or_an_observation(verb: str, failure: str) -> None:
    clock = FakeClock()
    recorder = OutputRecorder(clock)
    scripts = {
        **FAILURES,
        **{name: FakeResponse(body=response_body(verb, obj)) for name, obj in NONSENSE.items()},
        "slow": FakeResponse(after=lambda: clock.sleep(1_000_000)),
    }
    server = ScriptedTransport(respond=lambda _: scripts[failure])
    credentials = ConfiguredCredentials(
        config(Token(token=CANARY)), clock=clock, observe=recorder.observe
    )
    client = client_on(AuthenticatedTransport(server, credentials=credentials), clock, recorder)

    with pytest.raises(SteersmanError) as caught:
        await VERBS[verb](client)
    recorder.receive(caught.value)

    sent = [dict(request.headers) for request in server.requests]
    assert all(headers["Authorization"] == f"Bearer {CANARY}" for headers in sent)
    assert_no_secret(recorder.output)


@pytest.mark.parametrize("line", [b'{"type": "%s\xff", "object": {}}\n', b'{"%s\xff": 1}\n'])
async def test_no_secret_appears_when_an_event_cannot_be_decoded(line: bytes) -> None:
    clock = FakeClock()
    recorder = OutputRecorder(clock)
    client = client_on(ScriptedTransport(FakeResponse(body=line % WORDS)), clock, recorder)

    with pytest.raises(SteersmanError) as caught:
        await watched(client)
    recorder.receive(caught.value)

    assert_no_secret(recorder.output)


@pytest.mark.parametrize("verb", ["get", "list", "watch"])
@pytest.mark.parametrize("undecodable", UNDECODABLE)
async def test_no_secret_appears_when_an_object_cannot_be_decoded(
    verb: str, undecodable: str
) -> None:
    clock = FakeClock()
    recorder = OutputRecorder(clock)
    body = response_body(verb, secret(**UNDECODABLE[undecodable]))
    client = client_on(ScriptedTransport(FakeResponse(body=body)), clock, recorder)

    with pytest.raises(InvalidObject) as caught:
        await VERBS[verb](client)
    recorder.receive(caught.value)

    assert_no_secret(recorder.output)
    # Only the error's attribute has the object.
    assert caught.value.body == LOOSE_BODY | UNDECODABLE[undecodable]


@pytest.mark.parametrize(
    "holder",
    [
        TYPED,
        LOOSE,
        ObjectWritten(TYPED),
        Listing(items=(TYPED, LOOSE), resource_version="1"),
        MergePatch({"data": {"password": ENCODED}}),
        StrategicMergePatch({"stringData": {"password": CANARY}}),
        JsonPatch(JsonPatch.add("/data/password", ENCODED)),
        RequestSpec(
            verb="create",
            method="POST",
            path="/",
            ref=ObjectRef("Secret", None, "db"),
            resource="secrets",
            body={"data": CANARY},
        ),
        authentication_v1.TokenRequest(
            spec=authentication_v1.TokenRequestSpec(audiences=()),
            status=authentication_v1.TokenRequestStatus(
                token=CANARY, expiration_timestamp=FakeClock().now()
            ),
        ),
        config(Token(token=CANARY)),
        config(Password(username="me", password=CANARY)),
        config(certificate=ClientCertificate(certificate=b"x", key=CANARY.encode())),
        config(
            ExecPlugin(
                command=Path("/bin/plugin"),
                args=(CANARY,),
                environment={"SECRET": CANARY},
                api_version="v1",
                timeout_seconds=1.0,
            )
        ),
    ],
    ids=lambda holder: type(holder).__name__,
)
def test_no_secret_appears_in_a_repr(holder: object) -> None:
    assert_no_secret(repr(holder))
    assert_no_secret(str(holder))


async def output_of_failed_start(
    login: Login | None, certificate: ClientCertificate | None = None
) -> str:
    """All output of a client that cannot start because of these credentials."""
    clock = FakeClock()
    recorder = OutputRecorder(clock)
    credentials = ConfiguredCredentials(
        config(login, certificate, server="https://kube.example.com"),
        clock=clock,
        observe=recorder.observe,
    )
    transport = AuthenticatedTransport(ScriptedTransport(), credentials=credentials)
    with pytest.raises(SteersmanError) as caught:
        await client_on(transport, clock, recorder).discover()
    recorder.receive(caught.value)
    return recorder.output + repr(credentials) + repr(transport)


PLUGINS = {
    "fails": f"import sys; print({CANARY!r}); sys.exit({CANARY!r})",
    "prints nonsense": printing(CANARY),
    "prints bytes": f"import sys; sys.stdout.buffer.write(b'\\xff' + {CANARY.encode()!r})",
    "prints another kind": printing(f'{{"kind": "{CANARY}", "apiVersion": "{CANARY}"}}'),
    "prints a token of the wrong type": printing(exec_credential(token={"a": CANARY})),
    "prints a token with a newline": printing(exec_credential(token=f"{CANARY}\n{CANARY}")),
    "prints a bad key": printing(
        exec_credential(clientCertificateData=CANARY, clientKeyData=CANARY)
    ),
    "prints half a pair": printing(exec_credential(token=CANARY, clientKeyData=CANARY)),
    "prints a time that is none": printing(
        exec_credential(token=CANARY, expirationTimestamp=CANARY)
    ),
    "prints an old token": printing(
        exec_credential(token=CANARY, expirationTimestamp="2020-01-01T00:00:00Z")
    ),
    "prints too much": f"print({CANARY!r} * 100_000)",
}


@pytest.mark.parametrize("does", PLUGINS)
async def test_no_secret_of_a_credential_plugin_appears(does: str, tmp_path: Path) -> None:
    login = plugin(tmp_path, PLUGINS[does], args=(CANARY,), environment={"SECRET": CANARY})

    assert_no_secret(await output_of_failed_start(login))


async def test_no_secret_appears_when_a_plugin_cannot_be_started(tmp_path: Path) -> None:
    login = plugin(tmp_path, "", args=(f"{CANARY}\0",), environment={"SECRET": CANARY})
    login.command.unlink()

    assert_no_secret(await output_of_failed_start(login))


@pytest.mark.parametrize(
    "token", [f"{CANARY}\n", f"{CANARY}\r\nHost: x", f"{CANARY}é", f" {CANARY}"]
)
async def test_no_secret_appears_when_a_token_is_invalid(token: str, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(f"{token}{CANARY}", encoding="utf-8")

    assert_no_secret(await output_of_failed_start(Token(token=token)))
    if token.strip() == token:
        assert_no_secret(await output_of_failed_start(TokenFile(path=path)))


async def test_no_secret_appears_when_a_key_cannot_be_read() -> None:
    key = f"-----BEGIN PRIVATE KEY-----\n{ENCODED}\n-----END PRIVATE KEY-----\n".encode()

    assert_no_secret(
        await output_of_failed_start(None, ClientCertificate(certificate=CANARY.encode(), key=key))
    )


async def test_no_secret_appears_when_the_network_fails() -> None:
    clock = FakeClock()
    recorder = OutputRecorder(clock)
    nowhere = ClusterConfig(
        server="https://127.0.0.1:1",
        source="the test",
        login=Token(token=CANARY),
        proxy_url=f"http://me:{CANARY}@127.0.0.1:1",
    )

    async with connect(nowhere, clock=clock, rng=Random(0), observe=recorder.observe) as client:
        with pytest.raises(SteersmanError) as caught:
            await client.create(TYPED)
    recorder.receive(caught.value)

    assert_no_secret(recorder.output)
