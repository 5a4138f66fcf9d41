"""An apply is sent only if it would change the object."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
import pytest

from steersman.client import Client, JsonPatch, MergePatch
from steersman.kinds import (
    Codec,
    Condition,
    Unstructured,
    apps_v1,
    core_v1,
    meta_v1,
    replace,
)
from tests.real.definitions import AnyWidget, Widget, WidgetStatus, widget
from tests.real.objects import container, deployment
from tests.real.recording_observer import RecordingObserver
from tests.real.writers import ControllerWriter, an_owner, running_writer

AnyDeployment = Unstructured.of("apps/v1", "Deployment")
Deployment = apps_v1.Deployment


def wanted(namespace: str) -> apps_v1.Deployment:
    """The Deployment that the controller applies: two containers and a label."""
    made = deployment(
        namespace, "web", container("web"), container("side", "example.com/side:1"), replicas=2
    )
    return replace(made, metadata=replace(made.metadata, labels={"app": "web"}))


def as_any(obj: apps_v1.Deployment) -> Unstructured:
    """The same Deployment, unstructured."""
    return AnyDeployment(msgspec.json.decode(Codec().encode(obj)))


class OtherClient:
    """Another client that writes to the Deployment."""

    def __init__(self, client: Client, namespace: str, *, manager: str = "them") -> None:
        self.client = client
        self.namespace = namespace
        self.manager = manager

    async def patch(self, patch: MergePatch | JsonPatch) -> None:
        await self.client.patch(
            Deployment, "web", patch, namespace=self.namespace, field_manager=self.manager
        )

    async def get(self) -> Unstructured:
        return await self.client.get(AnyDeployment, "web", namespace=self.namespace)

    async def put(self, *path: str | int, to: Any) -> None:
        changed = (await self.get()).changed(*path, to=to)
        await self.client.update(changed, field_manager=self.manager)

    async def apply(self, spec: dict[str, Any], **metadata: Any) -> None:
        body = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": self.namespace, **metadata},
            "spec": spec,
        }
        await self.client.apply(AnyDeployment(body), field_manager=self.manager, force=True)


Mutation = Callable[[OtherClient], Awaitable[None]]

_CONTAINERS = ("spec", "template", "spec", "containers")
_TEMPLATE = {
    "selector": {"matchLabels": {"app": "web"}},
    "template": {"metadata": {"labels": {"app": "web"}}},
}


def _spec(image: str) -> dict[str, Any]:
    containers = [
        {"name": "web", "image": image},
        {"name": "side", "image": "example.com/side:1"},
    ]
    return {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}},
    }


async def takes_a_field_by_put(other: OtherClient) -> None:
    await other.put("spec", "replicas", to=7)


async def takes_a_field_by_patch(other: OtherClient) -> None:
    await other.patch(MergePatch({"spec": {"replicas": 7}}))


async def takes_a_field_by_forced_apply(other: OtherClient) -> None:
    await other.apply({"replicas": 7, **_TEMPLATE})


async def takes_an_image(other: OtherClient) -> None:
    await other.put(*_CONTAINERS, 0, "image", to="example.com/other:1")


async def takes_a_field_and_changes_it_back(other: OtherClient) -> None:
    await other.put("spec", "replicas", to=7)
    await other.put("spec", "replicas", to=2)


async def removes_a_field(other: OtherClient) -> None:
    await other.patch(JsonPatch(JsonPatch.remove("/metadata/labels/app")))


async def removes_an_item(other: OtherClient) -> None:
    await other.patch(JsonPatch(JsonPatch.remove("/spec/template/spec/containers/1")))


async def changes_the_order_of_a_list(other: OtherClient) -> None:
    first, second = (await other.get()).get(*_CONTAINERS)
    await other.put(*_CONTAINERS, to=[second, first])


async def removes_the_owner_reference(other: OtherClient) -> None:
    await other.patch(JsonPatch(JsonPatch.remove("/metadata/ownerReferences")))


async def deletes_it(other: OtherClient) -> None:
    await other.client.delete(
        Deployment, "web", namespace=other.namespace, propagation="Background"
    )


async def changes_a_value_as_the_same_manager(other: OtherClient) -> None:
    # Within one second the manager's entry is unchanged, including its time.
    live = await other.get()
    body = as_any(wanted(other.namespace)).changed("spec", "replicas", to=7)
    body = body.changed("metadata", "ownerReferences", to=live.metadata["ownerReferences"])
    await other.client.apply(body, field_manager="us")


async def omits_a_field_as_the_same_manager(other: OtherClient) -> None:
    live = await other.get()
    body = as_any(wanted(other.namespace)).changed("metadata", "labels", to={})
    body = body.changed("metadata", "ownerReferences", to=live.metadata["ownerReferences"])
    await other.client.apply(body, field_manager="us")


REVERTED = (
    takes_a_field_by_put,
    takes_a_field_by_patch,
    takes_a_field_by_forced_apply,
    takes_an_image,
    takes_a_field_and_changes_it_back,
    removes_a_field,
    removes_an_item,
    changes_the_order_of_a_list,
    removes_the_owner_reference,
    deletes_it,
    changes_a_value_as_the_same_manager,
    omits_a_field_as_the_same_manager,
)


async def changes_its_status(other: OtherClient) -> None:
    status = other.client.status(Deployment, "web", namespace=other.namespace)
    await status.patch(MergePatch({"status": {"replicas": 2, "observedGeneration": 1}}))


async def adds_a_label(other: OtherClient) -> None:
    await other.patch(MergePatch({"metadata": {"labels": {"other": "yes"}}}))


async def sets_a_field_that_is_not_applied(other: OtherClient) -> None:
    await other.patch(MergePatch({"spec": {"paused": True, "revisionHistoryLimit": 3}}))


async def adds_a_container(other: OtherClient) -> None:
    patch = JsonPatch.add(
        "/spec/template/spec/containers/0", {"name": "other", "image": "example.com/other:1"}
    )
    await other.patch(JsonPatch(patch))


async def applies_the_same_values(other: OtherClient) -> None:
    await other.apply(_spec("example.com/main:1"), labels={"app": "web"})


async def applies_the_same_values_as_the_same_manager(other: OtherClient) -> None:
    body = as_any(wanted(other.namespace))
    live = await other.get()
    body = body.changed("metadata", "ownerReferences", to=live.metadata["ownerReferences"])
    await other.client.apply(body, field_manager="us")


IGNORED = (
    changes_its_status,
    adds_a_label,
    sets_a_field_that_is_not_applied,
    adds_a_container,
    applies_the_same_values,
    applies_the_same_values_as_the_same_manager,
)


@pytest.fixture
async def controller(
    client: Client, namespace: str, seen: RecordingObserver
) -> AsyncIterator[ControllerWriter]:
    """A running controller that caches Deployments in both forms."""
    async with running_writer(
        client, Deployment, AnyDeployment, namespace=namespace, observe=seen
    ) as controller:
        yield controller


@pytest.fixture(params=["typed", "unstructured"])
def child(request: pytest.FixtureRequest, namespace: str) -> apps_v1.Deployment | Unstructured:
    """The object that the controller applies."""
    typed = wanted(namespace)
    return typed if request.param == "typed" else as_any(typed)


async def made(controller: ControllerWriter, child: Any, namespace: str) -> core_v1.ConfigMap:
    """Create the child by two applies, of which the second changes nothing."""
    owner = await an_owner(controller.client, namespace)
    await controller.apply_owned(child, owner)
    await controller.catch_up(child)
    assert controller.verbs == ["apply"]
    await controller.apply_owned(child, owner)
    assert controller.verbs == []
    return owner


def applied_values(obj: Any) -> Any:
    """The values of the applied fields."""
    body = obj if isinstance(obj, Unstructured) else as_any(obj)
    owners = [each["name"] for each in body.metadata.get("ownerReferences") or ()]
    images = [(each["name"], each["image"]) for each in body.get(*_CONTAINERS)]
    return body.get("spec", "replicas"), images, body.labels.get("app"), owners


EXPECTED = (2, [("web", "example.com/main:1"), ("side", "example.com/side:1")], "web", ["owner"])


@pytest.mark.parametrize("mutation", REVERTED, ids=lambda each: each.__name__)
async def test_an_apply_is_sent_after_another_client_changed_an_applied_field(
    controller: ControllerWriter, child: Any, namespace: str, mutation: Mutation
) -> None:
    owner = await made(controller, child, namespace)
    await mutation(OtherClient(controller.client, namespace))
    await controller.catch_up(child)

    response = await controller.apply_owned(child, owner)

    assert controller.verbs == ["apply"]
    assert applied_values(response) == EXPECTED
    assert (
        applied_values(await controller.client.get(Deployment, "web", namespace=namespace))
        == EXPECTED
    )
    await controller.apply_owned(child, owner)
    await controller.catch_up(child)
    await controller.apply_owned(child, owner)
    assert controller.verbs == []


@pytest.mark.parametrize("mutation", IGNORED, ids=lambda each: each.__name__)
async def test_no_apply_is_sent_after_another_client_changed_other_fields(
    controller: ControllerWriter, child: Any, namespace: str, mutation: Mutation
) -> None:
    owner = await made(controller, child, namespace)
    await mutation(OtherClient(controller.client, namespace))
    seen = await controller.catch_up(child)

    response = await controller.apply_owned(child, owner)

    assert controller.verbs == []
    assert response is seen
    untouched = await controller.client.get(Deployment, "web", namespace=namespace)
    assert seen is not None
    assert untouched.resource_version == seen.resource_version


async def test_a_changed_body_is_sent_and_removes_the_fields_that_it_omits(
    controller: ControllerWriter, child: Any, namespace: str
) -> None:
    owner = await made(controller, child, namespace)
    less = replace(wanted(namespace), metadata=meta_v1.ObjectMeta(name="web"))

    response = await controller.apply_owned(
        as_any(less) if isinstance(child, Unstructured) else less, owner
    )

    assert controller.verbs == ["apply"]
    assert "app" not in response.labels


async def test_a_recreated_object_is_not_treated_as_owned(
    controller: ControllerWriter, child: Any, namespace: str
) -> None:
    owner = await made(controller, child, namespace)
    await deletes_it(OtherClient(controller.client, namespace))
    body = as_any(wanted(namespace))
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "owner",
        "uid": owner.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    adopted = body.changed("metadata", "ownerReferences", to=[reference])
    adopted = adopted.changed("spec", "replicas", to=9)
    await controller.client.apply(adopted, field_manager="us")
    await controller.catch_up(child)

    await controller.apply_owned(child, owner)

    assert controller.verbs == ["apply"]


async def test_a_change_is_reverted_once_the_cache_has_received_it(
    controller: ControllerWriter, child: Any, namespace: str
) -> None:
    owner = await made(controller, child, namespace)
    await takes_a_field_by_patch(OtherClient(controller.client, namespace))
    await controller.apply_owned(child, owner)
    await controller.catch_up(child)

    await controller.apply_owned(child, owner)

    now = await controller.client.get(Deployment, "web", namespace=namespace)
    assert applied_values(now) == EXPECTED


async def test_a_foreign_write_under_the_same_manager_changes_only_the_entrys_time(
    client: Client, namespace: str
) -> None:
    def entries(obj: apps_v1.Deployment) -> list[Any]:
        return [(e.manager, e.fields_v1, e.time) for e in obj.metadata.managed_fields or ()]

    first_body = wanted(namespace)
    assert first_body.spec is not None
    second_body = replace(first_body, spec=replace(first_body.spec, replicas=7))
    while True:
        first = await client.apply(first_body, field_manager="us")
        second = await client.apply(second_body, field_manager="us")
        if entries(first)[0][2] == entries(second)[0][2]:
            break
    await client.clock.sleep(1.1)
    third = await client.apply(first_body, field_manager="us")

    assert entries(first) == entries(second)
    assert first.resource_version != second.resource_version
    assert [each[:2] for each in entries(third)] == [each[:2] for each in entries(second)]
    assert entries(third) != entries(second)


# The status


@pytest.fixture
async def widget_writer(
    client: Client, namespace: str, seen: RecordingObserver, widgets: None
) -> AsyncIterator[ControllerWriter]:
    """A running controller of Widgets."""
    async with running_writer(
        client, Widget, AnyWidget, namespace=namespace, observe=seen
    ) as controller:
        yield controller


async def a_widget(controller: ControllerWriter, namespace: str, kind: type[Any]) -> Any:
    await controller.client.create(widget(namespace, "one"))
    one = await controller.client.get(kind, "one", namespace=namespace)
    await controller.catch_up(one)
    return controller.seen(one)


FORMS = ((Widget, WidgetStatus(ready=1)), (AnyWidget, {"ready": 1}))


@pytest.mark.parametrize(("kind", "status"), FORMS)
async def test_an_unchanged_status_is_not_sent_again_when_other_fields_change(
    widget_writer: ControllerWriter, namespace: str, kind: type[Any], status: Any
) -> None:
    controller = widget_writer
    one = await a_widget(controller, namespace, kind)
    await controller.apply_status(one, status)
    assert controller.verbs == ["apply status"]
    patch = MergePatch({"spec": {"size": 4}, "metadata": {"labels": {"a": "b"}}})
    await controller.client.patch(kind, "one", patch, namespace=namespace)
    other_status = any_status(namespace, conditions=[a_condition("Other")])
    await controller.client.status(AnyWidget, "one", namespace=namespace).apply(
        other_status, field_manager="them"
    )
    one = await controller.catch_up(one)
    assert one is not None

    response = await controller.apply_status(one, status)

    assert controller.verbs == []
    assert response is one


@pytest.mark.parametrize(("kind", "status"), FORMS)
@pytest.mark.parametrize("ready", [5, None])
async def test_a_status_that_another_client_changed_is_reverted(
    widget_writer: ControllerWriter, namespace: str, kind: type[Any], status: Any, ready: int | None
) -> None:
    controller = widget_writer
    one = await a_widget(controller, namespace, kind)
    await controller.apply_status(one, status)
    await controller.client.status(kind, "one", namespace=namespace).patch(
        MergePatch({"status": {"ready": ready}})
    )
    one = await controller.catch_up(one)
    assert one is not None

    await controller.apply_status(one, status)

    assert controller.verbs == ["apply status"] * 2
    stored = await controller.client.get(AnyWidget, "one", namespace=namespace)
    assert stored.get("status", "ready") == 1


def a_condition(type: str, status: str = "True") -> dict[str, str]:
    """A condition with only the required fields."""
    return {
        "type": type,
        "status": status,
        "reason": "Because",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


def any_status(namespace: str, **status: Any) -> Unstructured:
    """The status of the Widget ``one``, and nothing else."""
    body = dict(widget_head(namespace), status=status)
    return AnyWidget(body)


def widget_head(namespace: str) -> dict[str, Any]:
    """The fields that identify the Widget."""
    gvk = AnyWidget.resource_type.gvk
    return {
        "apiVersion": gvk.api_version,
        "kind": gvk.kind,
        "metadata": {"name": "one", "namespace": namespace},
    }


async def test_after_a_restart_an_unchanged_apply_is_not_sent(
    client: Client, namespace: str, seen: RecordingObserver, widgets: None
) -> None:
    owner = await an_owner(client, namespace)
    named = core_v1.Service(
        metadata=meta_v1.ObjectMeta(name="web"),
        spec=core_v1.ServiceSpec(
            selector={"app": "web"},
            type="NodePort",
            ports=(core_v1.ServicePort(port=80, name="a"), core_v1.ServicePort(port=81, name="b")),
        ),
    )
    status = WidgetStatus(ready=1).with_condition(Condition.when(True, "Ready", yes="Yes", no="No"))
    kinds = (Deployment, core_v1.Service, core_v1.ConfigMap, Widget)
    made = await client.create(widget(namespace, "one"))

    async def apply_all(controller: ControllerWriter) -> list[str]:
        await controller.apply_owned(wanted(namespace), owner)
        await controller.apply_owned(named, owner)
        one = controller.seen(made)
        assert one is not None
        await controller.apply_status(one, status)
        return controller.verbs

    async with running_writer(client, *kinds, namespace=namespace, observe=seen) as controller:
        assert await apply_all(controller) == ["apply", "apply", "apply status"]
        assert await apply_all(controller) == []
    async with running_writer(client, *kinds, namespace=namespace, observe=seen) as controller:
        assert await apply_all(controller) == []


async def test_after_a_restart_a_changed_apply_is_sent(
    client: Client, namespace: str, seen: RecordingObserver
) -> None:
    owner = await an_owner(client, namespace)
    first = wanted(namespace)
    assert first.spec is not None
    without_label = replace(first, metadata=replace(first.metadata, labels=None))
    paused = replace(first, spec=replace(first.spec, paused=True))

    for body in (first, without_label, paused):
        async with running_writer(
            client, Deployment, namespace=namespace, observe=seen
        ) as controller:
            response = await controller.apply_owned(body, owner)
            assert controller.verbs == ["apply"]
            assert (response.labels == {}) is (body is without_label)
