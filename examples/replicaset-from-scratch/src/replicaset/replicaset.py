"""PodSet: a ReplicaSet written from scratch. Observe, compare, act, report."""

from collections.abc import Iterator
from itertools import count, islice
from typing import Annotated

import steersman as sm
from steersman import changed
from steersman.errors import ApiError
from steersman.kinds import core_v1, meta_v1


class Spec(sm.Part):
    """The desired state, which users write."""

    replicas: Annotated[int, sm.Rule(ge=0)] = 1
    """The desired number of Pods."""

    image: Annotated[str, sm.Rule(min_length=1)]
    """The image of new Pods, such as nginx:1.29."""


class Status(sm.Part):
    """The observed state, which the controller writes."""

    replicas: int = 0
    """The number of Pods."""

    ready_replicas: int = 0
    """The number of ready Pods."""

    observed_generation: int | None = None
    """The generation that this status describes."""

    conditions: tuple[sm.Condition, ...] = ()


class PodSet(
    sm.CustomResource[Spec, Status],
    group="scratch.example.com",
    version="v1",
    crd=sm.Crd(
        scale=sm.ScalePaths(spec=".spec.replicas", status=".status.replicas"),
        columns=(
            sm.Column("Desired", ".spec.replicas"),
            sm.Column("Current", ".status.replicas"),
            sm.Column("Ready", ".status.readyReplicas"),
            sm.Column("Age", ".metadata.creationTimestamp"),
        ),
    ),
    # The name is the value of a label of the Pods.
    validations=(sm.Cel("self.metadata.name.size() <= 63", "use a name of at most 63 characters"),),
):
    """Keeps a number of Pods with the same image."""


async def reconcile(pod_set: PodSet, ctx: sm.Context) -> sm.Outcome:
    """Create missing Pods and delete surplus ones, after a change of the PodSet or its Pods."""
    pods = alive(ctx)  # observe
    missing = pod_set.spec.replicas - len(pods)  # compare
    try:  # act
        for name in islice(next_names(pod_set, ctx), max(missing, 0)):
            await ctx.create_owned(pod_of(pod_set, name))
            ctx.record("Created", f"created Pod {name}: there were too few")
        for pod in newest_first(pods)[: max(-missing, 0)]:
            await ctx.delete(pod)
            ctx.record("Deleted", f"deleted Pod {pod.name}: there were too many")
    except ApiError as error:
        await report(pod_set, ctx, problem=error.message)
        raise  # the controller retries with a backoff
    return await report(pod_set, ctx)


async def report(pod_set: PodSet, ctx: sm.Context, *, problem: str = "") -> sm.Outcome:
    """Write the observed state, which includes the writes of this reconcile."""
    pods = alive(ctx)
    ready = [pod for pod in pods if sm.is_ready(pod)]
    is_met = len(pods) == len(ready) == pod_set.spec.replicas
    condition = sm.Condition.when(
        is_met, "Ready", yes="PodsReady", no="PodsNotReady", message=problem
    )
    status = Status(replicas=len(pods), ready_replicas=len(ready), conditions=(condition,))
    await ctx.apply_status(pod_set, status)
    return sm.Done() if is_met else sm.Later()


async def finalize(pod_set: PodSet, ctx: sm.Context) -> sm.Outcome:
    """Delete one Pod after the other, the newest first, once the PodSet is being deleted."""
    if "orphan" in (pod_set.metadata.finalizers or ()):
        return sm.Done()  # kubectl delete --cascade=orphan keeps the Pods
    left = ctx.owned(core_v1.Pod)
    if not left:
        return sm.Done()
    await report(pod_set, ctx)
    if all(pod.deletion_time is None for pod in left):
        last = newest_first(left)[0]
        await ctx.delete(last)
        ctx.record("Terminated", f"deleted Pod {last.name}: {len(left) - 1} left")
    return sm.Later()


def alive(ctx: sm.Context) -> list[core_v1.Pod]:
    """The Pods that are neither being deleted nor terminated."""
    return [
        pod
        for pod in ctx.owned(core_v1.Pod)
        if pod.deletion_time is None
        and (pod.status is None or pod.status.phase not in ("Failed", "Succeeded"))
    ]


def next_names(pod_set: PodSet, ctx: sm.Context) -> Iterator[str]:
    """NAME-0, NAME-1 and so on, after the last Pod of the PodSet, without names that are taken."""
    # Not random names: if the cache does not have NAME-2 yet, a second create of NAME-2 fails. With
    # a random name, it would succeed, and there would be one Pod too many.
    start = max(map(number_of, ctx.owned(core_v1.Pod)), default=-1) + 1
    names = (f"{pod_set.name}-{number}" for number in count(start))
    return (name for name in names if ctx.get(core_v1.Pod, name) is None)


def pod_of(pod_set: PodSet, name: str) -> core_v1.Pod:
    """A Pod of the PodSet."""
    labels = {"app.kubernetes.io/name": pod_set.name}
    container = core_v1.Container(name="main", image=pod_set.spec.image)
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(name=name, labels=labels),
        spec=core_v1.PodSpec(containers=(container,)),
    )


def newest_first(pods: list[core_v1.Pod]) -> list[core_v1.Pod]:
    """The Pods in the order of deletion: those that are not ready first, then the newest."""
    return sorted(pods, key=lambda pod: (sm.is_ready(pod), -number_of(pod)))


def number_of(pod: core_v1.Pod) -> int:
    """The number at the end of the name."""
    number = pod.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


controller = sm.Controller(
    PodSet,
    reconcile=reconcile,
    finalize=finalize,
    owns=(sm.Owns(core_v1.Pod, verbs=("create", "delete")),),
    when=changed.generation,
)
manager = sm.Manager(controllers=[controller])
