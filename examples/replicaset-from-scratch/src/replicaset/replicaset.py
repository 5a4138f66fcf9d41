"""PodSet: a ReplicaSet written from scratch. Observe, compare, act, report."""

from collections.abc import Iterator
from itertools import count, islice
from typing import Annotated

import steersman as sm
from steersman import changed
from steersman.errors import ApiError
from steersman.kinds import core_v1, meta_v1


class Spec(sm.Part):
    """What its user wants; only users write it."""

    replicas: Annotated[int, sm.Rule(ge=0)] = 1
    """How many Pods there should be."""

    image: Annotated[str, sm.Rule(min_length=1)]
    """What a new Pod runs, such as nginx:1.29."""


class Status(sm.Part):
    """What its controller has observed; only the controller writes it."""

    replicas: int = 0
    """How many Pods there are."""

    ready_replicas: int = 0
    """How many of them are ready."""

    observed_generation: int | None = None
    """Which version of the spec this is about."""

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
    # Its Pods have its name as a label.
    rules=(sm.Cel("self.metadata.name.size() <= 63", "its name must have 63 letters at most"),),
):
    """So many Pods that run the same image."""


async def reconcile(pod_set: PodSet, ctx: sm.Context) -> sm.Outcome:
    """Called whenever the PodSet or a Pod of it has changed: have as many as it wants."""
    pods = alive(ctx)  # observe
    missing = pod_set.spec.replicas - len(pods)  # compare
    try:  # act
        for name in islice(next_names(pod_set, ctx), max(missing, 0)):
            await ctx.create_owned(pod_of(pod_set, name))
            ctx.record("Created", f"Pod {name}: there were too few")
        for pod in newest_first(pods)[: max(-missing, 0)]:
            await ctx.delete(pod)
            ctx.record("Deleted", f"Pod {pod.name}: there were too many")
    except ApiError as refusal:
        await report(pod_set, ctx, why_not=refusal.message)
        raise  # so that it is tried again, later and later
    return await report(pod_set, ctx)


async def report(pod_set: PodSet, ctx: sm.Context, *, why_not: str = "") -> sm.Outcome:
    """Say in the status what is there now; what was just written counts."""
    pods = alive(ctx)
    ready = [pod for pod in pods if sm.is_ready(pod)]
    is_met = len(pods) == len(ready) == pod_set.spec.replicas
    condition = sm.Condition.when(
        is_met, "Ready", yes="AsManyAsWanted", no="OnTheWay", message=why_not
    )
    status = Status(replicas=len(pods), ready_replicas=len(ready), conditions=(condition,))
    await ctx.apply_status(pod_set, status)
    return sm.Done() if is_met else sm.Later()


async def finalize(pod_set: PodSet, ctx: sm.Context) -> sm.Outcome:
    """Called once somebody deletes the PodSet: end one Pod after the other, the newest first."""
    if "orphan" in (pod_set.metadata.finalizers or ()):
        return sm.Done()  # kubectl delete --cascade=orphan: the Pods are to stay
    left = ctx.owned(core_v1.Pod)
    if not left:
        return sm.Done()
    await report(pod_set, ctx)
    if all(pod.deletion_time is None for pod in left):
        last = newest_first(left)[0]
        await ctx.delete(last)
        ctx.record("Ended", f"Pod {last.name}: {len(left) - 1} left to end")
    return sm.Later()


def alive(ctx: sm.Context) -> list[core_v1.Pod]:
    """The Pods that count: neither being deleted nor over."""
    return [
        pod
        for pod in ctx.owned(core_v1.Pod)
        if pod.deletion_time is None
        and (pod.status is None or pod.status.phase not in ("Failed", "Succeeded"))
    ]


def next_names(pod_set: PodSet, ctx: sm.Context) -> Iterator[str]:
    """NAME-0, NAME-1 and so on, from where its Pods end, without those that a stranger has."""
    # Not names by chance: whoever creates NAME-2 for the second time, because it has not heard of
    # the first, is refused. With a name by chance there would be one Pod too many.
    start = max(map(number_of, ctx.owned(core_v1.Pod)), default=-1) + 1
    names = (f"{pod_set.name}-{number}" for number in count(start))
    return (name for name in names if ctx.get(core_v1.Pod, name) is None)


def pod_of(pod_set: PodSet, name: str) -> core_v1.Pod:
    """One Pod of it."""
    labels = {"app.kubernetes.io/name": pod_set.name}
    container = core_v1.Container(name="main", image=pod_set.spec.image)
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(name=name, labels=labels),
        spec=core_v1.PodSpec(containers=(container,)),
    )


def newest_first(pods: list[core_v1.Pod]) -> list[core_v1.Pod]:
    """The same Pods in the order in which to end them: those first that do not work yet."""
    return sorted(pods, key=lambda pod: (sm.is_ready(pod), -number_of(pod)))


def number_of(pod: core_v1.Pod) -> int:
    """The number at the end of its name."""
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
