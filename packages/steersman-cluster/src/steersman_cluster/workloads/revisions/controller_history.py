"""The history of a set in the cluster: found, added to, and kept short."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from steersman.client import MergePatch
from steersman.controller import Context, Watch
from steersman.errors import AlreadyExists
from steersman.kinds import Resource, apps_v1, core_v1, meta_v1
from steersman_cluster.workloads.pods import HOLDER_INDEX, by_holder, claim
from steersman_cluster.workloads.revisions.content import (
    canonical,
    content_hash,
    revision_name,
    template_of,
    template_patch,
)
from steersman_cluster.workloads.revisions.history import (
    Keep,
    Make,
    Renumber,
    Revision,
    excess,
    in_order,
    planned,
)

#: The label of a revision that has its hash, of StatefulSets; DaemonSets have one of their own.
HASH_LABEL: Final = "controller.kubernetes.io/hash"

#: For the ``watches`` of a controller that has revisions, beside its ``writes``.
WATCHED: Final = Watch(apps_v1.ControllerRevision, indexes={HOLDER_INDEX: by_holder})


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The revision of a template, the history with it, and how many names were taken by others."""

    revision: Revision
    history: tuple[Revision, ...]
    collisions: int


async def history_of(
    ctx: Context, owner: Resource, selector: meta_v1.LabelSelector
) -> tuple[Revision, ...]:
    """The revisions of a set, in order; those that nobody controls and it selects become its own.

    None are taken up by a set that is being deleted.
    """
    return in_order(await claim(ctx, owner, selector, apps_v1.ControllerRevision))


async def revision_for(
    ctx: Context,
    owner: Resource,
    template: core_v1.PodTemplateSpec,
    history: Sequence[Revision],
    *,
    collisions: int,
    hash_label: str = HASH_LABEL,
) -> Kept:
    """The revision of a template, made or renumbered to be the newest if it is not."""
    patch = template_patch(template)
    match planned(history, patch):
        case Keep(revision=revision):
            return Kept(revision=revision, history=tuple(history), collisions=collisions)
        case Renumber(revision=revision, number=number):
            newest = await ctx.patch(revision, MergePatch({"revision": number}))
            others = [each for each in history if each is not revision]
            return Kept(revision=newest, history=(*others, newest), collisions=collisions)
        case Make(number=number):
            # What an older server wrote may say the same in other words.
            if history and template_of(history[-1]) == template:
                return Kept(revision=history[-1], history=tuple(history), collisions=collisions)
            revision, collisions = await _made(
                ctx, owner, template, patch, number, collisions, hash_label
            )
            return Kept(revision=revision, history=(*history, revision), collisions=collisions)


async def shorten(
    ctx: Context,
    history: Sequence[Revision],
    *,
    is_live: Callable[[Revision], bool],
    limit: int | None,
) -> None:
    """Delete what is too much of a history, the oldest first."""
    for revision in excess(history, is_live=is_live, limit=limit):
        await ctx.delete(revision)


async def _made(
    ctx: Context,
    owner: Resource,
    template: core_v1.PodTemplateSpec,
    patch: bytes,
    number: int,
    collisions: int,
    hash_label: str,
) -> tuple[Revision, int]:
    """A new revision, and how many names were taken by others."""
    labels = (template.metadata.labels if template.metadata else None) or {}
    while True:
        digest = content_hash(patch, collisions)
        revision = apps_v1.ControllerRevision(
            metadata=meta_v1.ObjectMeta(
                name=revision_name(owner.name, digest),
                labels={**labels, hash_label: digest},
                annotations=owner.metadata.annotations,
            ),
            data=msgspec.Raw(patch),
            revision=number,
        )
        try:
            return await ctx.create_owned(revision), collisions
        except AlreadyExists:
            there = await ctx.live.get(apps_v1.ControllerRevision, revision.name)
            # Ours, made by a call whose answer was lost, or still to be seen by the cache.
            if canonical(there.data) == patch:
                return there, collisions
            collisions += 1
