"""The metrics endpoint beyond loopback: authentication and authorization."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from random import Random

import msgspec
import pytest

from steersman.client import Client
from steersman.errors import BadSettings, Unreachable
from steersman.manager.endpoints.metrics_access import (
    SCRAPE_SECONDS,
    AuthorizedPages,
    MetricsEndpoint,
    metrics_endpoint,
)
from steersman.manager.endpoints.probes import Routes, text_reply
from steersman.manager.endpoints.token_reviews import (
    ALLOWED_SECONDS,
    DENIED_SECONDS,
    KNOWN_SECONDS,
    MAX_CONCURRENT,
    REVIEW_SECONDS,
    ExpiringCache,
    TokenReviews,
)
from steersman.manager.settings.manager_settings import ManagerSettings
from steersman.observe import ignore, new_registry
from steersman.wire import Reply, Request
from tests.certificates import Authority
from tests.clocks import FakeClock, ManualClock
from tests.embedded import turns
from tests.transports import (
    FakeResponse,
    Scripted,
    ScriptedTransport,
    error_response,
    json_response,
)

TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
RIGHTS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

LOST = Unreachable("the API server is away", may_have_happened=True)


class Reviewer:
    """An API server that reviews tokens and permissions."""

    def __init__(self, users: Mapping[str, str], *, allowed: set[str]) -> None:
        self.users = dict(users)
        self.allowed = allowed
        self.authenticates = True
        self.denies = False
        self.failure: Exception | None = None
        self.gate: asyncio.Event | None = None
        self.transport = ScriptedTransport(respond=self._answer)

    @property
    def reviewed(self) -> list[str]:
        return [request.path for request in self.transport.requests]

    def _answer(self, request: Request) -> Scripted:
        if self.failure is not None:
            return self.failure
        review = msgspec.json.decode(request.body or b"")
        status = (
            self._token(review["spec"])
            if request.path == TOKENS
            else {"allowed": review["spec"]["user"] in self.allowed, "denied": self.denies}
        )
        answer = json_response({**review, "status": status}, status=201)
        return FakeResponse(
            status=201, body=answer.body, after=self.gate.wait if self.gate is not None else None
        )

    def _token(self, spec: Mapping[str, str]) -> object:
        user = self.users.get(spec["token"])
        if user is None:
            return {"error": "no such token"}
        info = {"username": user, "uid": "1", "groups": ["g"], "extra": {"k": ["v"]}}
        return {"authenticated": self.authenticates, "user": info}


class EndpointFixture:
    def __init__(self, *, clock: FakeClock | None = None) -> None:
        self.clock = clock or FakeClock()
        self.server = Reviewer({"good": "prometheus", "poor": "stranger"}, allowed={"prometheus"})
        self.client = Client(self.server.transport, clock=self.clock, rng=Random(0), observe=ignore)
        self.reviews = TokenReviews(self.client, clock=self.clock)
        pages = Routes({"/metrics": lambda _: text_reply(200, "depth 3")}, observe=ignore)
        self.endpoint = AuthorizedPages(pages, self.reviews, clock=self.clock)

    async def get(self, token: str | None, *, path: str = "/metrics", method: str = "GET") -> Reply:
        headers = () if token is None else (("Authorization", f"Bearer {token}"),)
        return await self.with_headers(*headers, path=path, method=method)

    async def with_headers(
        self, *headers: tuple[str, str], path: str = "/metrics", method: str = "GET"
    ) -> Reply:
        request = Request(method=method, path=path, headers=headers)
        return await self.endpoint.handle(request, certificate=None)


async def test_a_user_with_the_permission_reads_the_metrics() -> None:
    reply = await EndpointFixture().get("good")

    assert (reply.status, reply.body) == (200, b"depth 3\n")


async def test_the_review_names_the_user_and_the_path() -> None:
    fixture = EndpointFixture()

    await fixture.get("good")

    _, reviewed = fixture.server.transport.requests
    assert msgspec.json.decode(reviewed.body or b"")["spec"] == {
        "user": "prometheus",
        "uid": "1",
        "groups": ["g"],
        "extra": {"k": ["v"]},
        "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
    }


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Basic Z29vZDpnb29k",
        "good",
        "Bearer good good",
        "Bearer good, Bearer good",
        "Bearer gööd",
        "Bearer go\x7fod",
    ],
)
async def test_without_a_token_access_is_denied_without_a_review(header: str | None) -> None:
    fixture = EndpointFixture()
    headers = () if header is None else (("Authorization", header),)

    reply = await fixture.with_headers(*headers)

    assert reply.status == 401
    assert ("WWW-Authenticate", "Bearer") in reply.headers
    assert fixture.server.reviewed == []


async def test_two_tokens_are_rejected() -> None:
    twice = (("Authorization", "Bearer good"),) * 2

    assert (await EndpointFixture().with_headers(*twice)).status == 401


async def test_an_unknown_token_is_rejected() -> None:
    fixture = EndpointFixture()

    assert (await fixture.get("bad")).status == 401
    assert fixture.server.reviewed == [TOKENS]


async def test_a_token_that_is_not_accepted_is_rejected() -> None:
    fixture = EndpointFixture()
    fixture.server.authenticates = False

    assert (await fixture.get("good")).status == 401


async def test_a_permission_that_is_both_allowed_and_denied_is_denied() -> None:
    fixture = EndpointFixture()
    fixture.server.denies = True

    assert (await fixture.get("good")).status == 403


async def test_the_anonymous_user_is_rejected_whatever_its_permissions() -> None:
    fixture = EndpointFixture()
    fixture.server.users["odd"] = "system:anonymous"
    fixture.server.allowed.add("system:anonymous")

    assert (await fixture.get("odd")).status == 401


@pytest.mark.parametrize(
    ("token", "is_away", "status"),
    [(None, False, 401), ("bad", False, 401), ("poor", False, 403), ("good", True, 500)],
)
async def test_metrics_are_served_only_to_clients_that_may_read_them(
    token: str | None, is_away: bool, status: int
) -> None:
    fixture = EndpointFixture()
    fixture.server.failure = LOST if is_away else None

    for method in ("GET", "HEAD", "POST"):
        reply = await fixture.get(token, method=method)

        assert reply.status == status
        assert b"depth" not in reply.body


@pytest.mark.parametrize(
    "failure", [LOST, RuntimeError], ids=["no answer", "an answer that is an error"]
)
async def test_without_an_answer_access_is_denied(failure: object) -> None:
    fixture = EndpointFixture()
    if failure is LOST:
        fixture.server.failure = LOST
    else:
        fixture.server.transport._respond = lambda _: error_response(403, "Forbidden")

    reply = await fixture.get("good")

    assert reply.status == 500
    assert b"depth" not in reply.body


async def test_a_failed_review_is_repeated() -> None:
    fixture = EndpointFixture()
    fixture.server.failure = LOST
    await fixture.get("good")

    fixture.server.failure = None

    assert (await fixture.get("good")).status == 200


async def test_a_review_by_a_hanging_api_server_times_out() -> None:
    fixture = EndpointFixture(clock=ManualClock())
    fixture.server.gate = asyncio.Event()

    async with asyncio.TaskGroup() as group:
        reviewed = group.create_task(fixture.get("good"))
        await turns()
        fixture.clock.advance(REVIEW_SECONDS)

    assert reviewed.result().status == 500
    assert fixture.server.transport.open_responses == 0


async def test_a_queued_review_waits_no_longer_than_a_scrape() -> None:
    fixture = EndpointFixture(clock=ManualClock())
    fixture.server.gate = asyncio.Event()

    async with asyncio.TaskGroup() as group:
        reviewed = [
            group.create_task(fixture.get(f"n{each}")) for each in range(5 * MAX_CONCURRENT)
        ]
        await turns()
        fixture.clock.advance(SCRAPE_SECONDS / 2)
        await turns()
        fixture.clock.advance(SCRAPE_SECONDS / 2)

    assert {each.result().status for each in reviewed} == {500}


async def test_a_review_by_an_unreachable_server_is_not_retried() -> None:
    fixture = EndpointFixture()
    fixture.server.failure = Unreachable("refused", may_have_happened=False)

    await fixture.get("good")

    assert fixture.server.reviewed == [TOKENS]


async def test_review_results_are_cached() -> None:
    fixture = EndpointFixture()

    for token in ("good", "poor", "bad") * 3:
        await fixture.get(token)

    assert fixture.server.reviewed == [TOKENS, RIGHTS, TOKENS, RIGHTS, TOKENS]


async def test_a_user_is_cached_for_a_minute_and_a_permission_for_five() -> None:
    fixture = EndpointFixture()
    await fixture.get("good")

    fixture.clock.advance(KNOWN_SECONDS - 1)
    await fixture.get("good")
    before = list(fixture.server.reviewed)
    fixture.clock.advance(1)
    await fixture.get("good")
    after_a_minute = list(fixture.server.reviewed)
    fixture.clock.advance(ALLOWED_SECONDS - KNOWN_SECONDS)
    await fixture.get("good")

    assert before == [TOKENS, RIGHTS]
    assert after_a_minute == [TOKENS, RIGHTS, TOKENS]
    assert fixture.server.reviewed == [TOKENS, RIGHTS, TOKENS, TOKENS, RIGHTS]


async def test_a_new_permission_counts_half_a_minute_later() -> None:
    fixture = EndpointFixture()
    await fixture.get("poor")
    fixture.server.allowed.add("stranger")

    still = await fixture.get("poor")
    fixture.clock.advance(DENIED_SECONDS)

    assert still.status == 403
    assert (await fixture.get("poor")).status == 200


async def test_a_repeated_access_review_does_not_extend_the_cached_user() -> None:
    fixture = EndpointFixture()
    await fixture.get("poor")

    for _ in range(2):
        fixture.clock.advance(DENIED_SECONDS)
        await fixture.get("poor")

    assert fixture.server.reviewed == [TOKENS, RIGHTS, RIGHTS, TOKENS, RIGHTS]


async def test_a_revoked_token_is_rejected_a_minute_later() -> None:
    fixture = EndpointFixture()
    await fixture.get("good")
    del fixture.server.users["good"]

    fixture.clock.advance(KNOWN_SECONDS)

    assert (await fixture.get("good")).status == 401


async def test_concurrent_scrapes_with_one_token_share_a_review() -> None:
    fixture = EndpointFixture()
    fixture.server.gate = asyncio.Event()

    async with asyncio.TaskGroup() as group:
        scrapes = [group.create_task(fixture.get("good")) for _ in range(20)]
        await turns()
        fixture.server.gate.set()

    assert [each.result().status for each in scrapes] == [200] * 20
    assert fixture.server.reviewed == [TOKENS, RIGHTS]


async def test_a_waiting_scrape_reviews_when_the_first_one_disconnects() -> None:
    fixture = EndpointFixture()
    fixture.server.gate = asyncio.Event()

    async with asyncio.TaskGroup() as group:
        leaves = group.create_task(fixture.get("good"))
        stays = group.create_task(fixture.get("good"))
        await turns()
        leaves.cancel()
        await turns()
        fixture.server.gate.set()

    assert stays.result().status == 200
    assert fixture.server.reviewed == [TOKENS, TOKENS, RIGHTS]


async def test_invalid_tokens_cause_few_concurrent_reviews() -> None:
    fixture = EndpointFixture()
    fixture.server.gate = asyncio.Event()

    async with asyncio.TaskGroup() as group:
        for number in range(50):
            group.create_task(fixture.get(f"made-up-{number}"))
        await turns()
        at_once = fixture.server.transport.open_responses
        fixture.server.gate.set()

    assert at_once == MAX_CONCURRENT


async def test_invalid_tokens_do_not_evict_valid_ones() -> None:
    fixture = EndpointFixture()
    await fixture.get("good")
    for number in range(1100):
        await fixture.get(f"made-up-{number}")
    before = len(fixture.server.reviewed)

    await fixture.get("good")

    assert len(fixture.server.reviewed) == before
    assert len(fixture.reviews._unknown) == 1000


async def test_an_unknown_page_needs_no_review() -> None:
    fixture = EndpointFixture()

    assert (await fixture.get("good", path="/secrets")).status == 404
    assert fixture.server.reviewed == []


async def test_no_token_is_kept_or_shown() -> None:
    fixture = EndpointFixture()
    for token in ("good", "poor", "bad"):
        await fixture.get(token)

    reviews = fixture.reviews
    kept = (reviews._users._entries, reviews._unknown._entries, reviews._rights._entries)
    text = repr((kept, reviews, fixture.endpoint))

    assert not any(f"'{token}'" in text for token in ("good", "poor", "bad"))


def test_the_least_recently_used_entry_is_evicted_first() -> None:
    remembered = ExpiringCache[str, int](2, clock=FakeClock())
    for number, key in enumerate("ab"):
        remembered.put(key, number, for_seconds=10)
    remembered.get("a")

    remembered.put("c", 2, for_seconds=10)

    assert [remembered.get(key) for key in "abc"] == [0, None, 2]


# The endpoint by address


def endpoint(settings: ManagerSettings) -> MetricsEndpoint:
    fixture = EndpointFixture()
    return metrics_endpoint(
        new_registry(), settings, client=fixture.client, clock=fixture.clock, observe=ignore
    )


def test_on_loopback_metrics_are_plain_and_open() -> None:
    found = endpoint(ManagerSettings())

    assert found.tls is None
    assert isinstance(found.handler, Routes)


@pytest.mark.parametrize("address", [":8080", "192.0.2.1:8080", "[::]:8080", "metrics:8080"])
def test_beyond_loopback_metrics_are_encrypted_and_authorized(address: str) -> None:
    found = endpoint(ManagerSettings(metrics_address=address))

    assert found.tls is not None
    assert isinstance(found.handler, AuthorizedPages)


def test_without_cryptography_the_error_says_what_to_install_or_to_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "steersman.wire.certificates", raising=False)
    monkeypatch.setitem(sys.modules, "cryptography", None)

    with pytest.raises(BadSettings, match="without the package cryptography") as caught:
        endpoint(ManagerSettings(metrics_address=":8080"))

    assert "--tls-cert-file" in str(caught.value)
    assert "steersman[tls]" in str(caught.value)


def test_certificate_files_that_cannot_be_used_are_refused_at_once(tmp_path: Path) -> None:
    pair, other = Authority().server("localhost"), Authority().server("localhost")
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    settings = ManagerSettings(metrics_address=":8080", tls_cert_file=certificate, tls_key_file=key)

    with pytest.raises(BadSettings, match="cannot be read: No such file"):
        endpoint(settings)
    certificate.write_bytes(pair.certificate)
    key.write_bytes(other.key)
    with pytest.raises(BadSettings, match="key values mismatch"):
        endpoint(settings)
    key.write_bytes(pair.key)
    endpoint(settings)
