"""An operator restores the fields that it owns, and keeps the fields of other managers."""

from collections.abc import AsyncIterator

import pytest

import steersman as sm
from steersman import recipes
from steersman.client import Client, MergePatch
from steersman.kinds import apps_v1, core_v1
from steersman.observe import FieldConflictFound, HotLoop, ReconcileFinished
from steersman_cluster.testing import ControlPlane
from tests.real.definitions import Widget, widget
from tests.real.operators import Operator, running_operator, wait_for_object

Deployment = apps_v1.Deployment

pytestmark = pytest.mark.usefixtures("widgets")


async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    """Apply a Deployment with an environment variable for the color and for each tag."""
    color = (core_v1.EnvVar(name="COLOR", value=obj.spec.color),) if obj.spec.color else ()
    tags = tuple(core_v1.EnvVar(name=tag, value="yes") for tag in obj.spec.tags)
    container = core_v1.Container(name="main", image="example.com/main:1", env=color + tags)
    labels = {"color": obj.spec.color} if obj.spec.color else None
    await ctx.apply_owned(
        recipes.deployment(obj.name, container, replicas=obj.spec.size, labels=labels)
    )
    return sm.Done()


CONTROLLER = sm.Controller(Widget, reconcile=reconcile, owns=(Deployment,))


class OwnedDeployment:
    """An idle operator with one object and its child, and clients that change both."""

    def __init__(self, client: Client, namespace: str, operator: Operator) -> None:
        self._client = client
        self._namespace = namespace
        self.operator = operator

    async def deployment(self) -> apps_v1.Deployment:
        return await self._client.get(Deployment, "web", namespace=self._namespace)

    async def set_spec(self, **spec: object) -> None:
        """Change the object's spec, and wait until the operator has reconciled it."""
        reconciles = self.operator.reconcile_count
        patch = MergePatch({"spec": spec})
        await self._client.patch(Widget, "web", patch, namespace=self._namespace)
        await self.operator.wait_for_reconcile("web", after=reconciles)
        await self.operator.wait_until_quiet()

    async def patch_child(self, patch: MergePatch) -> None:
        """Change the child as another manager, and wait until the operator has reconciled it."""
        reconciles = self.operator.reconcile_count
        await self._client.patch(
            Deployment, "web", patch, namespace=self._namespace, field_manager="other"
        )
        await self.operator.wait_for_reconcile("web", after=reconciles)
        await self.operator.wait_until_quiet()

    async def roll_out(self, replicas: int) -> None:
        """Write the status of a rollout, and wait until the operator has reconciled it."""
        reconciles = self.operator.reconcile_count
        status = {"replicas": replicas, "readyReplicas": replicas, "updatedReplicas": replicas}
        await self._client.status(Deployment, "web", namespace=self._namespace).patch(
            MergePatch({"status": status}), field_manager="kubernetes"
        )
        await self.operator.wait_for_reconcile("web", after=reconciles)


@pytest.fixture
async def owned(
    client: Client, control_plane: ControlPlane, namespace: str
) -> AsyncIterator[OwnedDeployment]:
    await client.create(widget(namespace, "web", size=3, color="red", tags=("FAST", "SAFE")))
    async with running_operator(control_plane, namespace, CONTROLLER) as operator:
        await operator.wait_for_reconcile("web")
        await wait_for_object(client, Deployment, "web", lambda _: True, namespace=namespace)
        await operator.wait_until_quiet()
        yield OwnedDeployment(client, namespace, operator)
    assert operator.of(FieldConflictFound) == []
    assert operator.of(HotLoop) == []


def environment(deployment: apps_v1.Deployment) -> dict[str, str | None]:
    assert deployment.spec is not None
    assert deployment.spec.template.spec is not None
    (container,) = deployment.spec.template.spec.containers
    return {each.name: each.value for each in container.env or ()}


async def test_a_field_that_apply_omits_is_removed_from_the_child(owned: OwnedDeployment) -> None:
    before = await owned.deployment()
    assert environment(before) == {"COLOR": "red", "FAST": "yes", "SAFE": "yes"}
    assert before.labels["color"] == "red"

    await owned.set_spec(color=None, tags=["SAFE"])

    after = await owned.deployment()
    assert environment(after) == {"SAFE": "yes"}
    assert "color" not in after.labels
    assert after.uid == before.uid


async def test_an_edit_of_an_owned_field_by_another_client_is_reverted(
    owned: OwnedDeployment,
) -> None:
    await owned.patch_child(
        MergePatch({"spec": {"replicas": 7}, "metadata": {"labels": {"color": "x"}}})
    )

    after = await owned.deployment()
    assert after.spec is not None
    assert after.spec.replicas == 3
    assert after.labels["color"] == "red"
    # The first apply and one correction.
    assert len(owned.operator.writes) == 2


async def test_an_owned_field_that_another_client_removes_is_restored(
    owned: OwnedDeployment,
) -> None:
    await owned.patch_child(MergePatch({"metadata": {"labels": {"color": None}}}))

    assert (await owned.deployment()).labels["color"] == "red"
    assert len(owned.operator.writes) == 2


async def test_labels_and_fields_of_other_clients_are_kept(owned: OwnedDeployment) -> None:
    foreign = {"labels": {"team": "blue"}, "annotations": {"note": "mine"}}
    await owned.patch_child(MergePatch({"metadata": foreign, "spec": {"minReadySeconds": 9}}))
    assert len(owned.operator.writes) == 1

    await owned.set_spec(size=4)

    after = await owned.deployment()
    assert after.spec is not None
    assert (after.labels["team"], after.annotations["note"]) == ("blue", "mine")
    assert (after.spec.min_ready_seconds, after.spec.replicas) == (9, 4)


async def test_a_reconcile_that_would_change_nothing_sends_nothing(owned: OwnedDeployment) -> None:
    assert len(owned.operator.writes) == 1

    await owned.set_spec(shiny=True)

    last = owned.operator.of(ReconcileFinished)[-1]
    assert (last.writes, last.skipped_writes) == ((), 1)
    assert len(owned.operator.writes) == 1


async def test_nothing_is_sent_while_the_status_of_the_child_changes(
    owned: OwnedDeployment,
) -> None:
    for replicas in (1, 2, 3, 2, 3):
        await owned.roll_out(replicas)
    await owned.operator.wait_until_quiet()

    assert len(owned.operator.writes) == 1
    assert {each.skipped_writes for each in owned.operator.of(ReconcileFinished)[-5:]} == {1}
