"""The controller history: it lists, creates, renumbers and deletes revisions in the cluster."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from steersman.client import MergePatch
from steersman.controller import Context, Watch
from steersman.errors import AlreadyExists
from steersman.kinds import Resource, apps_v1, core_v1, meta_v1
from steersman_cluster.workloads.pods import CONTROLLER_INDEX, by_controller_or_labels, claim
from steersman_cluster.workloads.revisions.content import (
    canonical,
    content_hash,
    revision_name,
    template_of,
    template_patch,
)
from steersman_cluster.workloads.revisions.history import (
    CreateRevision,
    KeepRevision,
    RenumberRevision,
    Revision,
    excess,
    in_order,
    make_plan,
)

#: The label with the hash of a StatefulSet's revision; DaemonSets use another one.
HASH_LABEL: Final = "controller.kubernetes.io/hash"

#: The ``watches`` of a controller with revisions, in addition to its ``writes``.
WATCHED: Final = Watch(
    apps_v1.ControllerRevision, indexes={CONTROLLER_INDEX: by_controller_or_labels}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentRevision:
    """The revision of a Pod template, the history that contains it, and the collision count."""

    revision: Revision
    history: tuple[Revision, ...]
    collisions: int


async def history_of(
    ctx: Context, owner: Resource, selector: meta_v1.LabelSelector
) -> tuple[Revision, ...]:
    """Return the revisions of ``owner``, a StatefulSet or DaemonSet, the oldest first.

    Revisions without a controller are adopted if ``selector`` matches. An owner that is being
    deleted adopts no revisions.
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
) -> CurrentRevision:
    """Return the revision of ``template``, which is then the newest revision of ``owner``.

    If ``history`` contains a revision of the template, this revision gets the highest number.
    Otherwise a revision is created.
    """
    patch = template_patch(template)
    match make_plan(history, patch):
        case KeepRevision(revision=revision):
            return CurrentRevision(revision=revision, history=tuple(history), collisions=collisions)
        case RenumberRevision(revision=revision, number=number):
            newest = await ctx.patch(revision, MergePatch({"revision": number}))
            others = [each for each in history if each is not revision]
            return CurrentRevision(
                revision=newest, history=(*others, newest), collisions=collisions
            )
        case CreateRevision(number=number):
            # Data written by an older server may differ in form.
            if history and template_of(history[-1]) == template:
                return CurrentRevision(
                    revision=history[-1], history=tuple(history), collisions=collisions
                )
            revision, collisions = await _create_revision(
                ctx, owner, template, patch, number, collisions, hash_label
            )
            return CurrentRevision(
                revision=revision, history=(*history, revision), collisions=collisions
            )


async def shorten(
    ctx: Context,
    history: Sequence[Revision],
    *,
    is_live: Callable[[Revision], bool],
    limit: int | None,
) -> None:
    """Delete revisions in ``history`` beyond the history limit ``limit``, the oldest first.

    Revisions for which ``is_live`` returns true are not deleted, and do not count toward the
    limit.
    """
    for revision in excess(history, is_live=is_live, limit=limit):
        await ctx.delete(revision)


async def _create_revision(
    ctx: Context,
    owner: Resource,
    template: core_v1.PodTemplateSpec,
    patch: bytes,
    number: int,
    collisions: int,
    hash_label: str,
) -> tuple[Revision, int]:
    """Create a revision, and return it with the collision count."""
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
            # Created by a request whose response was lost, or not yet in the cache.
            if canonical(there.data) == patch:
                return there, collisions
            collisions += 1
