"""The results of a client's methods, the requests that it rejects, and its settings."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from steersman.client import (
    Client,
    ClientSettings,
    Deletion,
    Impersonation,
    Labels,
    MergePatch,
)
from steersman.errors import (
    BadName,
    BadValue,
    Expired,
    InvalidObject,
    InvalidResponse,
    Unreachable,
)
from steersman.kinds import (
    Unstructured,
    authentication_v1,
    autoscaling_v1,
    meta_v1,
    metadata_only,
    policy_v1,
)
from steersman.names import ObjectKey
from tests.transports import FakeResponse, error_response, json_response
from tests.unit.client.scripted_client import (
    TYPED,
    Galaxy,
    LooseWidget,
    ScriptedClient,
    Widget,
    WidgetSpec,
    widget,
    widgets,
)

Verb = Callable[[Client], Awaitable[object]]

HOME = "/apis/example.com/v1/namespaces/default/widgets"
APP_LABELS = Labels.equal({"app": "web"})


async def test_a_read_returns_an_object_of_the_requested_class() -> None:
    fixture = ScriptedClient(json_response(widget(size=4)), json_response(widget(size=4)))

    typed = await fixture.client.get(Widget, "web", namespace="default")
    loose = await fixture.client.get(LooseWidget, "web", namespace="default")

    assert type(typed) is Widget
    assert typed.spec.size == 4
    assert type(loose) is LooseWidget
    assert loose.body == widget(size=4)


async def test_a_delete_returns_the_last_state_if_the_server_does() -> None:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Success", "details": {"uid": "u"}}
    fixture = ScriptedClient(json_response(widget(version="8")), json_response(status))

    held = await fixture.client.delete(Widget, "web", namespace="default")
    gone = await fixture.client.delete(Widget, "web", namespace="default")

    assert held.obj is not None
    assert held.obj.resource_version == "8"
    assert held.uid == "u-1"
    assert gone == Deletion(
        resource_type=Widget.resource_type,
        key=ObjectKey("default", "web"),
        obj=None,
        uid="u",
        is_gone=True,
    )
    assert (held.resource_type, held.key) == (gone.resource_type, gone.key)


async def test_a_dry_run_of_a_delete_keeps_the_object() -> None:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Success", "details": {"uid": "u"}}
    fixture = ScriptedClient(json_response(status), json_response(status), json_response(widget()))
    cautious = fixture.client.with_settings(dry_run=True)

    answers = [
        await fixture.client.delete(Widget, "web", namespace="default", dry_run=True),
        await cautious.delete(Widget, "web", namespace="default"),
        await cautious.delete(Widget, "web", namespace="default"),
    ]

    assert [each.is_gone for each in answers] == [False, False, False]


async def test_a_delete_without_details_returns_no_uid() -> None:
    fixture = ScriptedClient(
        json_response({"kind": "Status", "apiVersion": "v1", "status": "Success"})
    )

    answer = await fixture.client.delete(Widget, "web", namespace="default")

    assert (answer.obj, answer.uid, answer.is_gone) == (None, "", True)


async def test_an_eviction_confirmed_by_a_status_returns_the_eviction() -> None:
    fixture = ScriptedClient(json_response({"kind": "Status", "status": "Success"}, status=201))
    eviction = policy_v1.Eviction(metadata=meta_v1.ObjectMeta(name="web"))

    answer = await fixture.client.eviction("web", namespace="default").create(eviction)

    assert answer is eviction


async def test_a_token_request_returns_the_token() -> None:
    answer = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"audiences": []},
        "status": {"token": "abc", "expirationTimestamp": "2026-01-01T00:00:00Z"},
    }
    fixture = ScriptedClient(json_response(answer, status=201))
    request = authentication_v1.TokenRequest(spec=authentication_v1.TokenRequestSpec(audiences=()))

    given = await fixture.client.token("me", namespace="default").create(request)

    assert given.status is not None
    assert given.status.token == "abc"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (FakeResponse(body=b"x" * 10_000_000), "larger than 6291456 bytes"),
        (FakeResponse(body=b"<html>hello</html>"), "not the expected JSON"),
        (FakeResponse(body=b""), "not the expected JSON"),
        (FakeResponse(body=b'{"kind": "Wid'), "not the expected JSON"),
        (FakeResponse(body=b'"\xff"'), "not the expected JSON"),
        (FakeResponse(body=b"[" * 100_000), "not the expected JSON"),
        (json_response([]), "the response is not a JSON object"),
        (json_response(widget() | {"kind": "Gadget"}), "example.com/v1 Gadget"),
        (json_response(widget() | {"apiVersion": "example.com/v2"}), "example.com/v2 Widget"),
        (json_response({"kind": "Status", "apiVersion": "v1", "status": "Success"}), "v1 Status"),
        (FakeResponse(status=302, headers={"location": "https://elsewhere"}), "a redirect"),
    ],
)
@pytest.mark.parametrize("kind", [Widget, LooseWidget])
async def test_an_invalid_response_is_an_error(
    kind: type[Widget | Unstructured], answer: FakeResponse, problem: str
) -> None:
    with pytest.raises(InvalidResponse, match=problem) as caught:
        await ScriptedClient(answer).client.get(kind, "web", namespace="default")

    assert str(caught.value).startswith("could not get Widget default/web: ")
    assert len(str(caught.value)) < 400


async def test_an_object_that_cannot_be_decoded_is_an_error_with_the_reason() -> None:
    fixture = ScriptedClient(json_response(widget(size="large")))

    with pytest.raises(InvalidObject, match=r"Widget default/web does not fit Widget") as caught:
        await fixture.client.get(Widget, "web", namespace="default")

    assert caught.value.body == widget(size="large")


# Pages


async def test_list_reads_all_pages_and_returns_one_list() -> None:
    fixture = ScriptedClient(
        json_response(widgets(widget("a"), widget("b"), token="2/3")),
        json_response(widgets(widget("c"))),
    )

    listing = await fixture.client.list(
        Widget, namespace="default", page_size=2, resource_version="5", labels=APP_LABELS
    )

    assert [item.name for item in listing.items] == ["a", "b", "c"]
    assert listing.resource_version == "9"
    # The token contains the version, and the server rejects a second one.
    assert fixture.server.sent == [
        f"GET {HOME}?limit=2&resourceVersion=5&labelSelector=app%3Dweb",
        f"GET {HOME}?limit=2&continue=2%2F3&labelSelector=app%3Dweb",
    ]


async def test_each_yields_objects_without_reading_later_pages() -> None:
    fixture = ScriptedClient(json_response(widgets(widget("a"), widget("b"), token="more")))

    async for item in fixture.client.iterate(Widget, page_size=2):
        if item.name == "b":
            break

    assert len(fixture.server.requests) == 1


async def test_each_continues_to_the_last_page() -> None:
    fixture = ScriptedClient(
        json_response(widgets(widget("a"), token="more")), json_response(widgets(widget("b")))
    )

    names = [item.name async for item in fixture.client.iterate(Widget, namespace="default")]

    assert names == ["a", "b"]


async def test_pages_separate_objects_that_cannot_be_decoded() -> None:
    fixture = ScriptedClient(
        json_response(
            widgets(widget("a"), widget("b", size="large"), remainingItemCount=1, token="x")
        ),
        json_response(widgets(widget("c"))),
    )

    pages = [page async for page in fixture.client.pages(Widget)]

    assert [[item.name for item in page.items] for page in pages] == [["a"], ["c"]]
    assert [len(page.invalid) for page in pages] == [1, 0]
    assert [page.remaining for page in pages] == [1, None]


async def test_list_raises_if_an_object_cannot_be_decoded() -> None:
    page = json_response(widgets(widget("a"), widget("b", size="large")))

    with pytest.raises(InvalidObject, match="Widget default/b"):
        await ScriptedClient(page).client.list(Widget)
    with pytest.raises(InvalidObject, match="Widget default/b"):
        _ = [item async for item in ScriptedClient(page).client.iterate(Widget)]


async def test_an_expired_continue_token_is_an_error() -> None:
    fixture = ScriptedClient(
        json_response(widgets(widget("a"), token="old")), error_response(410, "Expired")
    )

    with pytest.raises(Expired):
        await fixture.client.list(Widget)


async def test_the_size_limit_of_a_page_exceeds_that_of_an_object() -> None:
    settings = ClientSettings(object_limit_bytes=10, page_limit_bytes=10_000)
    fixture = ScriptedClient(
        json_response(widgets(widget())), json_response(widget()), settings=settings
    )

    assert len((await fixture.client.list(Widget)).items) == 1
    with pytest.raises(InvalidResponse, match="larger than 10 bytes"):
        await fixture.client.get(Widget, "web", namespace="default")


async def test_a_write_with_an_oversized_response_may_have_been_carried_out() -> None:
    fixture = ScriptedClient(
        json_response(widget()), settings=ClientSettings(object_limit_bytes=10)
    )

    with pytest.raises(InvalidResponse, match="read before writing again"):
        await fixture.client.create(TYPED)


@pytest.mark.parametrize(
    "body", [widget(), {"kind": "GadgetList", "apiVersion": "example.com/v2"}, [], {}]
)
@pytest.mark.parametrize("kind", [Widget, LooseWidget])
async def test_a_list_of_another_kind_is_an_error(
    kind: type[Widget | Unstructured], body: object
) -> None:
    with pytest.raises(InvalidResponse):
        await ScriptedClient(json_response(body)).client.list(kind)


async def test_items_of_an_unstructured_list_have_their_kind() -> None:
    bare = {"metadata": {"name": "a"}, "spec": {}}
    fixture = ScriptedClient(json_response(widgets(bare)))

    (item,) = (await fixture.client.list(LooseWidget)).items

    assert item.gvk == Widget.resource_type.gvk


# Requests that the client rejects


async def rejection(fixture: ScriptedClient, call: Awaitable[object], match: str) -> None:
    with pytest.raises((BadName, BadValue), match=match):
        await call
    assert fixture.server.requests == []


async def test_a_typed_object_is_never_sent_as_a_full_update() -> None:
    fixture = ScriptedClient()
    read: Any = Widget(
        metadata=meta_v1.ObjectMeta(name="web", resource_version="7"), spec=TYPED.spec
    )

    await rejection(fixture, fixture.client.update(read), "a typed object lacks the fields")
    status = fixture.client.status(Widget, "web", namespace="default")
    await rejection(fixture, status.update(read), "a typed object lacks the fields")


async def test_an_update_without_a_resource_version_is_rejected() -> None:
    fixture = ScriptedClient()
    loose = LooseWidget(widget(version=""))

    await rejection(fixture, fixture.client.update(loose), "overwrite the changes of other clients")
    status = fixture.client.status(LooseWidget, "web", namespace="default")
    await rejection(fixture, status.update(loose), "overwrite the changes of other clients")
    scale = fixture.client.scale(Widget, "web", namespace="default")
    await rejection(
        fixture, scale.update(autoscaling_v1.Scale()), "overwrite the changes of other clients"
    )


@pytest.mark.parametrize(
    "verb",
    [
        lambda c: c.get(Widget, "web"),
        lambda c: c.create(Widget(spec=WidgetSpec(size=3))),
        lambda c: c.patch(Widget, "web", MergePatch({})),
        lambda c: c.apply(
            Widget(metadata=meta_v1.ObjectMeta(name="web"), spec=TYPED.spec), field_manager="me"
        ),
        lambda c: c.delete(Widget, "web"),
        lambda c: c.delete_all(Widget),
    ],
)
async def test_a_namespaced_object_without_a_namespace_is_rejected(verb: Verb) -> None:
    fixture = ScriptedClient()

    await rejection(fixture, verb(fixture.client), "is namespaced; pass a namespace")


def test_a_subresource_of_a_namespaced_object_needs_a_namespace() -> None:
    with pytest.raises(BadName, match="pass a namespace"):
        ScriptedClient().client.status(Widget, "web")


async def test_a_cluster_scoped_object_with_a_namespace_is_rejected() -> None:
    fixture = ScriptedClient()

    await rejection(fixture, fixture.client.get(Galaxy, "web", namespace="a"), "is cluster-scoped")


async def test_an_apply_without_a_name_is_rejected() -> None:
    fixture = ScriptedClient()
    nameless = Widget(metadata=meta_v1.ObjectMeta(namespace="default"), spec=TYPED.spec)

    await rejection(fixture, fixture.client.apply(nameless, field_manager="me"), "an object's name")


async def test_an_unstructured_object_without_a_resource_is_rejected() -> None:
    fixture = ScriptedClient()

    await rejection(fixture, fixture.client.create(Unstructured(widget())), "no group and version")


# Settings


async def test_impersonation_is_sent_with_every_request() -> None:
    who = Impersonation(user="jane", groups=("dev", "ops"))
    fixture = ScriptedClient(
        json_response(widget()), FakeResponse(), settings=ClientSettings(impersonate=who)
    )

    await fixture.client.get(Widget, "web", namespace="default")
    async with fixture.client.watch(Widget):
        pass

    for request in fixture.server.requests:
        assert [header for header in request.headers if header[0].startswith("Imp")] == [
            ("Impersonate-User", "jane"),
            ("Impersonate-Group", "dev"),
            ("Impersonate-Group", "ops"),
        ]


async def test_an_adjusted_client_does_not_change_the_first() -> None:
    fixture = ScriptedClient(json_response(widget()), json_response(widget()))

    await fixture.client.with_settings(dry_run=True, user_agent="trial").create(TYPED)
    await fixture.client.create(TYPED)

    trial, meant = fixture.server.requests
    assert ("dryRun", "All") in trial.query
    assert ("User-Agent", "trial") in trial.headers
    assert ("dryRun", "All") not in meant.query
    assert ("User-Agent", "steersman") in meant.headers


async def test_an_adjusted_client_has_the_same_retry_budget() -> None:
    fixture = ScriptedClient(respond=lambda _: Unreachable("refused", may_have_happened=False))
    for _ in range(2):  # Each call retries five times, and the reserve is ten retries.
        with pytest.raises(Unreachable):
            await fixture.client.get(Widget, "web", namespace="default")
    fixture.server.requests.clear()

    with pytest.raises(Unreachable):
        await fixture.client.with_settings(dry_run=True).get(Widget, "web", namespace="default")

    assert len(fixture.server.requests) == 1


def test_an_adjusted_client_shows_its_settings() -> None:
    client = ScriptedClient().client

    assert client.with_settings(page_size=7).settings == ClientSettings(page_size=7)
    assert client.with_settings(page_size=7).rng is client.rng
    assert client.settings == ClientSettings()


async def test_metadata_alone_is_no_content_of_an_object_or_of_a_subresource() -> None:
    fixture = ScriptedClient()
    metadata = metadata_only(Widget)(metadata=TYPED.metadata)
    status = fixture.client.subresource(
        Widget, "web", "status", of=metadata_only(Widget), namespace="default"
    )

    for write, verb in (
        (fixture.client.create(metadata), "create"),
        (fixture.client.update(metadata), "update"),  # type: ignore[type-var]
        (fixture.client.apply(metadata, field_manager="tests"), "apply"),
        (status.create(metadata), "create"),
        (status.update(metadata), "update"),
        (status.apply(metadata, field_manager="tests"), "apply"),
    ):
        with pytest.raises(BadValue, match=f"contains only metadata; patch that, or {verb} a"):
            await write

    assert fixture.server.requests == []
