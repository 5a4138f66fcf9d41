"""The controller of Robots, from the pieces of which every controller is made.

    informers ──▶ handlers ──keys──▶ work queue ──▶ workers ──▶ sync
        │                                                        │ ▲
        └──▶ listers, from memory ───────────────────────────────┼─┘
                                        client, recorder ◀───────┘

An informer holds all objects of a kind, and tells handlers what changes. The handlers only put the
key of a Robot, its namespace and name, into the queue. A worker takes it out, reads from the
listers what is wanted and what is there, and makes the one the other.
"""

import asyncio
from typing import Final

from steersman.cache import Informer, in_background, key_of, on
from steersman.client import Client, MergePatch
from steersman.controller import EventRecorder, controller_of, owned_by, status_to_apply
from steersman.errors import Forbidden, Invalid, NotOurs, QueueClosed
from steersman.kinds import Condition, apps_v1, core_v1, covers, is_ready, recipes
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import ControllerStarted, Observer, ReconcileFinished, Write
from steersman.workqueue import WorkQueue, default_limiter

from robot_operator.robot import Robot, Status

NAME: Final = "robot-operator"
IMAGE: Final = "nginx:1.29"

# The name of an index: Robots, by the Deployment that they name.
BY_DEPLOYMENT: Final = "deployment"

# For what is in hand when the operator is told to stop, and for its last events.
GRACE_SECONDS: Final = 20.0
FLUSH_SECONDS: Final = 5.0


async def run_robots(client: Client, *, observe: Observer) -> None:
    """Look after all Robots of a cluster, until cancelled."""
    await Controller(client, observe=observe).run(workers=2)


class Controller:
    """Keeps for each Robot a Deployment of its own."""

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
            on(added=self.enqueue, updated=lambda _old, robot: self.enqueue(robot))
        )
        self.deployments.add_handler(
            on(
                added=self.enqueue_robots_of,
                updated=lambda _old, deployment: self.enqueue_robots_of(deployment),
                deleted=self.enqueue_robots_of,
            )
        )

    # Handlers: whom does a change concern?

    def enqueue(self, robot: Robot) -> None:
        """Have a look at this Robot."""
        self.queue.add(key_of(robot))

    def enqueue_robots_of(self, deployment: apps_v1.Deployment) -> None:
        """Have a look at the Robot that owns it, and at those that wait for its name."""
        for robot in self.robots.lister.by_index(BY_DEPLOYMENT, str(key_of(deployment))):
            self.enqueue(robot)

    # The control loop

    async def run(self, *, workers: int) -> None:
        """Work until cancelled; what is in hand by then is brought to its end."""
        async with in_background() as start:
            start(self.recorder.run(), name="events")
            # No worker starts before both caches are whole: half a cache looks like a cluster in
            # which half of the objects were deleted. Robots first, the other handlers read them.
            async with self.robots.running(), self.deployments.running():
                for number in range(workers):
                    start(self.work(), name=f"worker {number}")
                self.observe(ControllerStarted(controller=NAME, workers=workers))
                try:
                    await asyncio.get_running_loop().create_future()
                finally:
                    await self.end()

    async def end(self) -> None:
        """Give out no more keys, wait for those in hand, and write the last events."""
        try:
            async with self.clock.timeout(GRACE_SECONDS):
                await self.queue.drain()
        except TimeoutError:
            pass  # Whoever starts next looks at everything anyway.
        await self.recorder.flush(within_seconds=FLUSH_SECONDS)

    async def work(self) -> None:
        """Take one key after the other, until the queue is closed."""
        while True:
            try:
                async with self.queue.take() as key:
                    await self.process(key)
            except QueueClosed:
                return

    async def process(self, key: ObjectKey) -> None:
        """Sync one Robot; if that fails, have it tried again, later each time."""
        began_at = self.clock.monotonic()
        outcome = "done"
        error: Exception | None = None
        writes: list[Write] = []
        try:
            await self.sync(key, writes)
        except NotOurs as caught:
            # No use to try again: when that Deployment changes or goes, a handler is told.
            outcome, error = "permanent", caught
        except Exception as caught:  # noqa: BLE001  whatever it is, the other Robots go on
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

    # What is wanted, and what is there

    async def sync(self, key: ObjectKey, writes: list[Write]) -> None:
        """Make what there is for a Robot what it wants, and say in its status how that stands."""
        robot = self.robots.lister.get(key.name, namespace=key.namespace)
        if robot is None or robot.deletion_time is not None:
            return  # Its Deployment goes with it, because it names the Robot as its owner.
        try:
            deployment = await self.provide(robot, writes)
        except (Forbidden, Invalid, NotOurs) as error:
            # Somebody has to do something, and looks at the Robot to find out what.
            reason = type(error).__name__
            ready = Condition.false("Ready", reason=reason, message=str(error))
            if await self.report(robot, ready, writes):
                self.recorder.record(robot, reason, str(error), type="Warning")
            raise
        ready = Condition.when(is_ready(deployment), "Ready", yes="RolledOut", no="RollingOut")
        available = (deployment.status and deployment.status.available_replicas) or 0
        if await self.report(robot, ready, writes, available=available) and ready.is_true:
            self.recorder.record(robot, "Synced", f"{available} replicas are available")

    async def provide(self, robot: Robot, writes: list[Write]) -> apps_v1.Deployment:
        """The Robot's Deployment, as it should be; ``NotOurs`` if somebody else has it."""
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
        # A merge patch, because it replaces lists: an apply would leave a container there that
        # somebody added. With the uid, so that it is this very Deployment which is put right.
        change = MergePatch({"metadata": {"uid": found.uid}, "spec": wanted.spec})
        patch = self.client.patch(
            apps_v1.Deployment, found.name, change, namespace=found.namespace, field_manager=NAME
        )
        corrected = await self.deployments.record_write(patch)
        self.recorder.record(robot, "Corrected", f"corrected {found.ref}", related=found)
        writes.append(Write(verb="patch", ref=found.ref, is_change=True))
        return corrected

    async def report(
        self, robot: Robot, ready: Condition, writes: list[Write], *, available: int = 0
    ) -> bool:
        """Write the Robot's status, if it says anything new; whether it does."""
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
    """What there should be for a Robot, which owns it."""
    spec = robot.spec
    container = core_v1.Container(name="robot", image=IMAGE)
    wanted = recipes.deployment(spec.deployment_name, container, replicas=spec.replicas)
    return owned_by(wanted, robot)
