"""The controller of Robots, written with informers, listers and a work queue.

    informers ──▶ handlers ──keys──▶ work queue ──▶ workers ──▶ sync
        │                                                        │ ▲
        └──▶ listers, from memory ───────────────────────────────┼─┘
                                        client, recorder ◀───────┘

An informer caches the objects of a kind, and calls handlers with each change. The handlers enqueue
the key of a Robot: its namespace and name. A worker takes a key, reads the desired and the actual
state from the listers, and changes the actual state.
"""

import asyncio
from typing import Final

import steersman as sm
from steersman import recipes
from steersman.cache import Informer, background_tasks, handler_funcs
from steersman.client import Client, MergePatch
from steersman.controller import EventRecorder, controller_of, owned_by, status_to_apply
from steersman.errors import Forbidden, Invalid, NotOurs, QueueClosed
from steersman.kinds import apps_v1, core_v1, covers
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import ControllerStarted, Observer, ReconcileFinished, Write
from steersman.watch import key_of
from steersman.workqueue import WorkQueue, default_limiter

from robot_operator.robot import Robot, Status

NAME: Final = "robot-operator"
IMAGE: Final = "nginx:1.29"

# The name of the index that finds Robots by the Deployment in their spec.
BY_DEPLOYMENT: Final = "deployment"

# After a stop, running syncs have this long to end, and then the recorder to write its events.
GRACE_SECONDS: Final = 20.0
FLUSH_SECONDS: Final = 5.0


async def run_robots(client: Client, *, observe: Observer) -> None:
    """Run the controller until cancelled."""
    await Controller(client, observe=observe).run(workers=2)


class Controller:
    """Keeps a Deployment for each Robot."""

    def __init__(self, client: Client, *, observe: Observer) -> None:
        self.client = client
        self.observe = observe
        self.clock = client.clock
        self.robots = Informer(client, Robot, observe=observe)
        self.deployments = Informer(client, apps_v1.Deployment, observe=observe)
        self.queue = WorkQueue[ObjectKey](
            "robots",
            limiter=default_limiter(clock=client.clock, rng=client.rng),
            clock=client.clock,
            observe=observe,
        )
        self.recorder = EventRecorder(
            client,
            controller=NAME,
            instance=NAME,
            clock=client.clock,
            rng=client.rng,
            observe=observe,
        )
        self.robots.add_index(
            BY_DEPLOYMENT,
            lambda robot: [str(ObjectKey(robot.namespace, robot.spec.deployment_name))],
        )
        self.robots.add_handler(
            handler_funcs(added=self.enqueue, updated=lambda _old, robot: self.enqueue(robot))
        )
        self.deployments.add_handler(
            handler_funcs(
                added=self.enqueue_robots_of,
                updated=lambda _old, deployment: self.enqueue_robots_of(deployment),
                deleted=self.enqueue_robots_of,
            )
        )

    # Handlers: map a change to the keys of Robots.

    def enqueue(self, robot: Robot) -> None:
        """Enqueue the Robot."""
        self.queue.add(key_of(robot))

    def enqueue_robots_of(self, deployment: apps_v1.Deployment) -> None:
        """Enqueue the Robots that name this Deployment: its owner, and Robots that wait for it."""
        for robot in self.robots.lister.by_index(BY_DEPLOYMENT, str(key_of(deployment))):
            self.enqueue(robot)

    # The control loop

    async def run(self, *, workers: int) -> None:
        """Run until cancelled, and then let running syncs finish."""
        async with background_tasks() as start:
            start(self.recorder.run(), name="events")
            # No worker starts before both caches have synced: in a partial cache, objects seem to
            # be deleted. Robots come first, because the other handlers read them.
            async with self.robots.running(), self.deployments.running():
                for number in range(workers):
                    start(self.work(), name=f"worker {number}")
                self.observe(ControllerStarted(controller=NAME, workers=workers))
                try:
                    await asyncio.get_running_loop().create_future()
                finally:
                    await self.end()

    async def end(self) -> None:
        """Stop the queue, wait for running syncs, and write the last events."""
        try:
            async with self.clock.timeout(GRACE_SECONDS):
                await self.queue.drain()
        except TimeoutError:
            pass  # The next start reconciles all objects anyway.
        await self.recorder.flush(within_seconds=FLUSH_SECONDS)

    async def work(self) -> None:
        """Process one key after the other, until the queue is closed."""
        while True:
            try:
                async with self.queue.take() as key:
                    await self.process(key)
            except QueueClosed:
                return

    async def process(self, key: ObjectKey) -> None:
        """Sync one Robot; after an error, enqueue it again with a growing backoff."""
        began_at = self.clock.monotonic()
        outcome = "done"
        error: Exception | None = None
        writes: list[Write] = []
        try:
            await self.sync(key, writes)
        except NotOurs as caught:
            # A retry would not help. When that Deployment changes, a handler enqueues the Robot.
            outcome, error = "permanent", caught
        except Exception as caught:  # noqa: BLE001  other Robots continue after any error
            outcome, error = "failed", caught
        if outcome == "failed":
            self.queue.add_rate_limited(key)
        else:
            self.queue.forget(key)
        self.observe(
            ReconcileFinished(
                controller=NAME,
                ref=ObjectRef("Robot", key.namespace, key.name),
                outcome=outcome,
                took_seconds=self.clock.monotonic() - began_at,
                failures=self.queue.num_requeues(key),
                writes=tuple(writes),
                error=error,
            )
        )

    # The desired and the actual state

    async def sync(self, key: ObjectKey, writes: list[Write]) -> None:
        """Change the Deployment of a Robot to the desired state, and write the status."""
        robot = self.robots.lister.get(key.name, namespace=key.namespace)
        if robot is None or robot.deletion_time is not None:
            return  # The garbage collector deletes the Deployment, which the Robot owns.
        try:
            deployment = await self.provide(robot, writes)
        except (Forbidden, Invalid, NotOurs) as error:
            # A user has to act, and finds the reason in the status of the Robot.
            reason = type(error).__name__
            ready = sm.Condition.false("Ready", reason=reason, message=str(error))
            if await self.report(robot, ready, writes):
                self.recorder.record(robot, reason, str(error), type="Warning")
            raise
        ready = sm.Condition.when(
            sm.is_ready(deployment), "Ready", yes="RolledOut", no="RollingOut"
        )
        available = (deployment.status and deployment.status.available_replicas) or 0
        if await self.report(robot, ready, writes, available=available) and ready.is_true:
            self.recorder.record(robot, "Synced", f"{available} replicas are available")

    async def provide(self, robot: Robot, writes: list[Write]) -> apps_v1.Deployment:
        """The Robot's Deployment, up to date; ``NotOurs`` if it has another owner."""
        wanted = deployment_of(robot)
        found = self.deployments.lister.get(wanted.name, namespace=wanted.namespace)
        if found is None:
            created = self.client.create(wanted, field_manager=NAME)
            made = await self.deployments.record_write(created)
            self.recorder.record(robot, "Created", f"created {made.ref}", related=made)
            writes.append(Write(verb="create", ref=made.ref, is_change=True))
            return made
        owner = controller_of(found)
        if owner is None or owner.uid != robot.uid:
            holder = f"{owner.kind} {found.namespace}/{owner.name}" if owner else None
            raise NotOurs(wanted=str(found.ref), owner=str(robot.ref), actual_controller=holder)
        if covers(found.spec, wanted.spec):
            return found
        # A merge patch replaces lists: an apply would keep a container that another client added.
        # The uid makes the patch fail if the Deployment was created again meanwhile.
        change = MergePatch({"metadata": {"uid": found.uid}, "spec": wanted.spec})
        patch = self.client.patch(
            apps_v1.Deployment, found.name, change, namespace=found.namespace, field_manager=NAME
        )
        corrected = await self.deployments.record_write(patch)
        self.recorder.record(robot, "Corrected", f"corrected {found.ref}", related=found)
        writes.append(Write(verb="patch", ref=found.ref, is_change=True))
        return corrected

    async def report(
        self, robot: Robot, ready: sm.Condition, writes: list[Write], *, available: int = 0
    ) -> bool:
        """Write the Robot's status if it has changed, and return whether it has."""
        wanted = Status(available_replicas=available, conditions=(ready,))
        status = status_to_apply(robot, wanted, now=self.clock.now())
        if status == robot.status:
            return False
        change = MergePatch({"metadata": {"uid": robot.uid}, "status": status})
        below = self.client.status(Robot, robot.name, namespace=robot.namespace)
        await self.robots.record_write(below.patch(change, field_manager=NAME))
        writes.append(Write(verb="apply status", ref=robot.ref, is_change=True))
        return True


def deployment_of(robot: Robot) -> apps_v1.Deployment:
    """The desired Deployment of a Robot, with the Robot as its owner."""
    spec = robot.spec
    container = core_v1.Container(name="robot", image=IMAGE)
    wanted = recipes.deployment(spec.deployment_name, container, replicas=spec.replicas)
    return owned_by(wanted, robot)
