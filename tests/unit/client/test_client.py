"""What comes of the answers, what is refused before it is sent, and settings."""

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
    policy_v1,
)
from steersman.names import ObjectKey
from tests.transports import Answer, refusing, saying
from tests.unit.client.kit import (
    TYPED,
    Fixture,
    Galaxy,
    LooseWidget,
    Widget,
    WidgetSpec,
    widget,
    widgets,
)

Verb = Callable[[Client], Awaitable[object]]

HOME = "/apis/example.com/v1/namespaces/default/widgets"
APP_LABELS = Labels.equal({"app": "web"})


async def test_a_read_returns_an_object_of_the_requested_class() -> None:
    world = Fixture(saying(widget(size=4)), saying(widget(size=4)))

    typed = await world.client.get(Widget, "web", namespace="default")
    loose = await world.client.get(LooseWidget, "web", namespace="default")

    assert type(typed) is Widget
    assert typed.spec.size == 4
    assert type(loose) is LooseWidget
    assert loose.body == widget(size=4)


async def test_a_delete_returns_the_last_state_if_the_server_does() -> None:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Success", "details": {"uid": "u"}}
    world = Fixture(saying(widget(version="8")), saying(status))

    held = await world.client.delete(Widget, "web", namespace="default")
    gone = await world.client.delete(Widget, "web", namespace="default")

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
    world = Fixture(saying(status), saying(status), saying(widget()))
    cautious = world.client.with_settings(dry_run=True)

    answers = [
        await world.client.delete(Widget, "web", namespace="default", dry_run=True),
        await cautious.delete(Widget, "web", namespace="default"),
        await cautious.delete(Widget, "web", namespace="default"),
    ]

    assert [each.is_gone for each in answers] == [False, False, False]


async def test_a_delete_without_details_returns_no_uid() -> None:
    world = Fixture(saying({"kind": "Status", "apiVersion": "v1", "status": "Success"}))

    answer = await world.client.delete(Widget, "web", namespace="default")

    assert (answer.obj, answer.uid, answer.is_gone) == (None, "", True)


async def test_an_eviction_confirmed_by_a_status_returns_the_eviction() -> None:
    world = Fixture(saying({"kind": "Status", "status": "Success"}, status=201))
    eviction = policy_v1.Eviction(metadata=meta_v1.ObjectMeta(name="web"))

    answer = await world.client.eviction("web", namespace="default").create(eviction)

    assert answer is eviction


async def test_a_token_request_returns_the_token() -> None:
    answer = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"audiences": []},
        "status": {"token": "abc", "expirationTimestamp": "2026-01-01T00:00:00Z"},
    }
    world = Fixture(saying(answer, status=201))
    request = authentication_v1.TokenRequest(spec=authentication_v1.TokenRequestSpec(audiences=()))

    given = await world.client.token("me", namespace="default").create(request)

    assert given.status is not None
    assert given.status.token == "abc"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Answer(body=b"x" * 10_000_000), "larger than 6291456 bytes"),
        (Answer(body=b"<html>hello</html>"), "not the expected JSON"),
        (Answer(body=b""), "not the expected JSON"),
        (Answer(body=b'{"kind": "Wid'), "not the expected JSON"),
        (Answer(body=b'"\xff"'), "not the expected JSON"),
        (Answer(body=b"[" * 100_000), "not the expected JSON"),
        (saying([]), "the response is not a JSON object"),
        (saying(widget() | {"kind": "Gadget"}), "example.com/v1 Gadget"),
        (saying(widget() | {"apiVersion": "example.com/v2"}), "example.com/v2 Widget"),
        (saying({"kind": "Status", "apiVersion": "v1", "status": "Success"}), "v1 Status"),
        (Answer(status=302, headers={"location": "https://elsewhere"}), "a redirect"),
    ],
)
@pytest.mark.parametrize("kind", [Widget, LooseWidget])
async def test_an_invalid_response_is_a_bad_answer(
    kind: type[Widget | Unstructured], answer: Answer, problem: str
) -> None:
    with pytest.raises(InvalidResponse, match=problem) as caught:
        await Fixture(answer).client.get(kind, "web", namespace="default")

    assert str(caught.value).startswith("could not get Widget default/web: ")
    assert len(str(caught.value)) < 400


async def test_an_object_that_cannot_be_decoded_is_an_error_with_the_reason() -> None:
    world = Fixture(saying(widget(size="large")))

    with pytest.raises(InvalidObject, match=r"Widget default/web does not fit Widget") as caught:
        await world.client.get(Widget, "web", namespace="default")

    assert caught.value.body == widget(size="large")


# Pages


async def test_list_reads_all_pages_and_returns_one_list() -> None:
    world = Fixture(
        saying(widgets(widget("a"), widget("b"), token="2/3")),
        saying(widgets(widget("c"))),
    )

    listing = await world.client.list(
        Widget, namespace="default", page_size=2, resource_version="5", labels=APP_LABELS
    )

    assert [item.name for item in listing.items] == ["a", "b", "c"]
    assert listing.resource_version == "9"
    # The token says which version it belongs to, and the server refuses a second one.
    assert world.server.sent == [
        f"GET {HOME}?limit=2&resourceVersion=5&labelSelector=app%3Dweb",
        f"GET {HOME}?limit=2&continue=2%2F3&labelSelector=app%3Dweb",
    ]


async def test_each_yields_objects_without_reading_later_pages() -> None:
    world = Fixture(saying(widgets(widget("a"), widget("b"), token="more")))

    async for item in world.client.iterate(Widget, page_size=2):
        if item.name == "b":
            break

    assert len(world.server.requests) == 1


async def test_each_continues_to_the_last_page() -> None:
    world = Fixture(saying(widgets(widget("a"), token="more")), saying(widgets(widget("b"))))

    names = [item.name async for item in world.client.iterate(Widget, namespace="default")]

    assert names == ["a", "b"]


async def test_pages_separate_objects_that_cannot_be_decoded() -> None:
    world = Fixture(
        saying(widgets(widget("a"), widget("b", size="large"), remainingItemCount=1, token="x")),
        saying(widgets(widget("c"))),
    )

    pages = [page async for page in world.client.pages(Widget)]

    assert [[item.name for item in page.items] for page in pages] == [["a"], ["c"]]
    assert [len(page.invalid) for page in pages] == [1, 0]
    assert [page.remaining for page in pages] == [1, None]


async def test_list_raises_if_an_object_cannot_be_decoded() -> None:
    page = saying(widgets(widget("a"), widget("b", size="large")))

    with pytest.raises(InvalidObject, match="Widget default/b"):
        await Fixture(page).client.list(Widget)
    with pytest.raises(InvalidObject, match="Widget default/b"):
        _ = [item async for item in Fixture(page).client.iterate(Widget)]


async def test_an_expired_continue_token_is_an_error() -> None:
    world = Fixture(saying(widgets(widget("a"), token="old")), refusing(410, "Expired"))

    with pytest.raises(Expired):
        await world.client.list(Widget)


async def test_the_size_limit_of_a_page_exceeds_that_of_an_object() -> None:
    settings = ClientSettings(object_limit_bytes=10, page_limit_bytes=10_000)
    world = Fixture(saying(widgets(widget())), saying(widget()), settings=settings)

    assert len((await world.client.list(Widget)).items) == 1
    with pytest.raises(InvalidResponse, match="larger than 10 bytes"):
        await world.client.get(Widget, "web", namespace="default")


async def test_a_write_with_an_oversized_response_may_have_been_carried_out() -> None:
    world = Fixture(saying(widget()), settings=ClientSettings(object_limit_bytes=10))

    with pytest.raises(InvalidResponse, match="read before writing again"):
        await world.client.create(TYPED)


@pytest.mark.parametrize(
    "body", [widget(), {"kind": "GadgetList", "apiVersion": "example.com/v2"}, [], {}]
)
@pytest.mark.parametrize("kind", [Widget, LooseWidget])
async def test_a_list_of_another_kind_is_a_bad_answer(
    kind: type[Widget | Unstructured], body: object
) -> None:
    with pytest.raises(InvalidResponse):
        await Fixture(saying(body)).client.list(kind)


async def test_items_of_an_unstructured_list_have_their_kind() -> None:
    bare = {"metadata": {"name": "a"}, "spec": {}}
    world = Fixture(saying(widgets(bare)))

    (item,) = (await world.client.list(LooseWidget)).items

    assert item.gvk == Widget.resource_type.gvk


# What is refused before it is sent


async def refused(world: Fixture, call: Awaitable[object], match: str) -> None:
    with pytest.raises((BadName, BadValue), match=match):
        await call
    assert world.server.requests == []


async def test_a_typed_object_is_never_sent_as_a_full_update() -> None:
    world = Fixture()
    read: Any = Widget(
        metadata=meta_v1.ObjectMeta(name="web", resource_version="7"), spec=TYPED.spec
    )

    await refused(world, world.client.update(read), "a typed object lacks the fields")
    status = world.client.status(Widget, "web", namespace="default")
    await refused(world, status.update(read), "a typed object lacks the fields")


async def test_an_update_without_a_resource_version_is_refused() -> None:
    world = Fixture()
    loose = LooseWidget(widget(version=""))

    await refused(world, world.client.update(loose), "overwrite the changes of other clients")
    status = world.client.status(LooseWidget, "web", namespace="default")
    await refused(world, status.update(loose), "overwrite the changes of other clients")
    scale = world.client.scale(Widget, "web", namespace="default")
    await refused(
        world, scale.update(autoscaling_v1.Scale()), "overwrite the changes of other clients"
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
async def test_a_namespaced_object_without_a_namespace_is_refused(verb: Verb) -> None:
    world = Fixture()

    await refused(world, verb(world.client), "is namespaced; pass a namespace")


def test_a_subresource_of_a_namespaced_object_needs_a_namespace() -> None:
    with pytest.raises(BadName, match="pass a namespace"):
        Fixture().client.status(Widget, "web")


async def test_a_cluster_scoped_object_with_a_namespace_is_refused() -> None:
    world = Fixture()

    await refused(world, world.client.get(Galaxy, "web", namespace="a"), "is cluster-scoped")


async def test_an_apply_without_a_name_is_refused() -> None:
    world = Fixture()
    nameless = Widget(metadata=meta_v1.ObjectMeta(namespace="default"), spec=TYPED.spec)

    await refused(world, world.client.apply(nameless, field_manager="me"), "an object's name")


async def test_an_unstructured_object_without_a_resource_is_refused() -> None:
    world = Fixture()

    await refused(world, world.client.create(Unstructured(widget())), "no group and version")


# Settings


async def test_impersonation_is_sent_with_every_request() -> None:
    who = Impersonation(user="jane", groups=("dev", "ops"))
    world = Fixture(saying(widget()), Answer(), settings=ClientSettings(impersonate=who))

    await world.client.get(Widget, "web", namespace="default")
    async with world.client.watch(Widget):
        pass

    for request in world.server.requests:
        assert [header for header in request.headers if header[0].startswith("Imp")] == [
            ("Impersonate-User", "jane"),
            ("Impersonate-Group", "dev"),
            ("Impersonate-Group", "ops"),
        ]


async def test_an_adjusted_client_does_not_change_the_first() -> None:
    world = Fixture(saying(widget()), saying(widget()))

    await world.client.with_settings(dry_run=True, user_agent="trial").create(TYPED)
    await world.client.create(TYPED)

    trial, meant = world.server.requests
    assert ("dryRun", "All") in trial.query
    assert ("User-Agent", "trial") in trial.headers
    assert ("dryRun", "All") not in meant.query
    assert ("User-Agent", "steersman") in meant.headers


async def test_an_adjusted_client_has_the_same_retry_budget() -> None:
    world = Fixture(answering=lambda _: Unreachable("refused", may_have_happened=False))
    for _ in range(2):  # Five retries each, and the reserve is ten.
        with pytest.raises(Unreachable):
            await world.client.get(Widget, "web", namespace="default")
    world.server.requests.clear()

    with pytest.raises(Unreachable):
        await world.client.with_settings(dry_run=True).get(Widget, "web", namespace="default")

    assert len(world.server.requests) == 1


def test_an_adjusted_client_shows_its_settings() -> None:
    client = Fixture().client

    assert client.with_settings(page_size=7).settings == ClientSettings(page_size=7)
    assert client.settings == ClientSettings()
