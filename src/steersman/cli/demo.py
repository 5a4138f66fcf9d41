"""``steersman demo``: what people do to an object, and what an operator makes of it."""

from collections.abc import Callable
from typing import Any, Final

from steersman.cli.demo_appservice import AppService, Spec
from steersman.client import Client, MergePatch, wait_for, wait_until_gone
from steersman.clock import Clock
from steersman.kinds import Resource, apps_v1, core_v1, meta_v1

TARGET: Final = "steersman.cli.demo_appservice:controller"

NAME: Final = "web"
NAMESPACE: Final = "default"
FIELD_MANAGER: Final = "demo"

# For what takes a blink of an eye; on the slowest machine, a few.
PATIENCE_SECONDS: Final = 60.0


class Story:
    """The life of an AppService, told step by step, with a pause after each to look."""

    def __init__(
        self, client: Client, *, say: Callable[[str], None], clock: Clock, pause_seconds: float
    ) -> None:
        self._client = client
        self._say = say
        self._clock = clock
        self._pause_seconds = pause_seconds

    async def tell(self) -> None:
        """From its first Pod to its end."""
        await self._created()
        await self._grown()
        await self._without_its_pods()
        await self._meddled_with()
        await self._updated()
        await self._deleted()

    async def _created(self) -> None:
        self._say("somebody applies AppService web: one nginx:1.28")
        metadata = meta_v1.ObjectMeta(name=NAME, namespace=NAMESPACE)
        app = AppService(metadata=metadata, spec=Spec(image="nginx:1.28", size=1))
        await self._client.apply(app, field_manager=FIELD_MANAGER)
        await self._until_ready(1)

    async def _grown(self) -> None:
        self._say("they want three of it")
        await self._patch(AppService, {"spec": {"size": 3}})
        await self._until_ready(3)

    async def _without_its_pods(self) -> None:
        self._say("a Pod is deleted: Kubernetes itself replaces it")
        pods = await self._client.list(core_v1.Pod, namespace=NAMESPACE)
        pod = pods.items[0]
        await self._client.delete(core_v1.Pod, pod.name, namespace=NAMESPACE)
        await wait_until_gone(
            self._client,
            core_v1.Pod,
            pod.name,
            uid=pod.uid,
            namespace=NAMESPACE,
            within_seconds=PATIENCE_SECONDS,
        )
        await self._until_ready(3)

    async def _meddled_with(self) -> None:
        self._say("the Service is deleted behind the operator's back: it puts it back")
        service = await self._client.get(core_v1.Service, NAME, namespace=NAMESPACE)
        await self._client.delete(core_v1.Service, NAME, namespace=NAMESPACE)
        await self._until(core_v1.Service, lambda found: found.uid != service.uid)

    async def _updated(self) -> None:
        self._say("they want nginx:1.29: the Deployment rolls it out")
        await self._patch(AppService, {"spec": {"image": "nginx:1.29"}})
        await self._until(apps_v1.Deployment, _runs("nginx:1.29"))
        await self._until_ready(3)

    async def _deleted(self) -> None:
        self._say("the AppService is deleted, and all that it owns goes with it")
        await self._client.delete(AppService, NAME, namespace=NAMESPACE)
        for kind in (AppService, apps_v1.Deployment, core_v1.Service):
            await wait_until_gone(
                self._client, kind, NAME, namespace=NAMESPACE, within_seconds=PATIENCE_SECONDS
            )
        await self._clock.sleep(self._pause_seconds)

    async def _patch(self, kind: type[Resource], changes: dict[str, Any]) -> None:
        await self._client.patch(
            kind, NAME, MergePatch(changes), namespace=NAMESPACE, field_manager=FIELD_MANAGER
        )

    async def _until_ready(self, size: int) -> None:
        def is_so(app: AppService) -> bool:
            status = app.status
            return (
                status is not None
                and status.observed_generation == app.generation
                and status.ready_replicas == status.replicas == size
                and any(each.type == "Ready" and each.is_true for each in status.conditions or ())
            )

        await self._until(AppService, is_so)

    async def _until(self, kind: Any, holds: Callable[[Any], bool]) -> None:
        await wait_for(
            self._client,
            kind,
            NAME,
            holds,
            namespace=NAMESPACE,
            within_seconds=PATIENCE_SECONDS,
        )
        await self._clock.sleep(self._pause_seconds)


def _runs(image: str) -> Callable[[apps_v1.Deployment], bool]:
    def holds(deployment: apps_v1.Deployment) -> bool:
        pod = deployment.spec.template.spec if deployment.spec is not None else None
        return pod is not None and [each.image for each in pod.containers] == [image]

    return holds
