"""Adoption and release of objects by a controller, according to its selector.

``claimed`` decides, and ``claim`` writes. An object with another controller is left alone. An
object without a controller is adopted if the selector matches. An owned object is released if the
selector no longer matches.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from steersman.client import StrategicMergePatch
from steersman.controller import Context, controller_of, owner_reference
from steersman.errors import Conflict, Invalid, NotFound
from steersman.kinds import Resource, meta_v1
from steersman_cluster.workloads.pods.selectors import CONTROLLER_INDEX, selector_index_key, selects

Obj = TypeVar("Obj", bound=Resource)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Generic[Obj]):
    """The objects that an owner keeps, the objects to adopt, and the objects to release."""

    ours: tuple[Obj, ...]
    adopt: tuple[Obj, ...]
    release: tuple[Obj, ...]


def claimed(
    owner: Resource,
    selector: meta_v1.LabelSelector | None,
    objects: Iterable[Obj],
    *,
    is_fit: Callable[[Obj], bool] | None = None,
) -> Claim[Obj]:
    """Return which of ``objects`` the controller ``owner`` keeps, adopts and releases.

    The objects are in the owner's namespace. ``is_fit`` is a condition in addition to the selector.
    An owner that is being deleted neither adopts nor releases objects. An object that is being
    deleted is not adopted.
    """
    ours: list[Obj] = []
    adopt: list[Obj] = []
    release: list[Obj] = []
    is_ending = owner.metadata.deletion_timestamp is not None
    for obj in objects:
        controller = controller_of(obj)
        if controller is not None and controller.uid != owner.uid:
            continue
        matches = selects(selector, obj.labels) and (is_fit is None or is_fit(obj))
        if controller is not None:
            if matches:
                ours.append(obj)
            elif not is_ending:
                release.append(obj)
        elif matches and not is_ending and obj.metadata.deletion_timestamp is None:
            adopt.append(obj)
    return Claim(ours=tuple(ours), adopt=tuple(adopt), release=tuple(release))


def candidates(
    ctx: Context, owner: Resource, selector: meta_v1.LabelSelector | None, kind: type[Obj]
) -> list[Obj]:
    """Return the cached objects of ``kind`` that ``owner`` controls or might adopt.

    An object that might be adopted has no controller, and its labels may match ``selector``.
    """
    return [
        *ctx.by_index(kind, CONTROLLER_INDEX, owner.uid),
        *ctx.by_index(kind, CONTROLLER_INDEX, selector_index_key(owner.namespace, selector)),
    ]


async def claim(
    ctx: Context,
    owner: Resource,
    selector: meta_v1.LabelSelector | None,
    kind: type[Obj],
    *,
    is_fit: Callable[[Obj], bool] | None = None,
    finalizers: tuple[str, ...] = (),
) -> list[Obj]:
    """Adopt and release objects of ``kind``, and return those that ``owner`` then controls.

    Before the first adoption, the owner is read from the API server, because it may have been
    deleted. ``finalizers`` are added to adopted objects and removed from released objects.
    ``is_fit`` is a condition in addition to the selector. The ``Controller`` that calls this needs
    the ``CONTROLLER_INDEX`` of ``kind``, and ``kind`` in its ``writes``.
    """
    objects = candidates(ctx, owner, selector, kind)
    return await claim_among(ctx, owner, selector, objects, is_fit=is_fit, finalizers=finalizers)


async def claim_among(
    ctx: Context,
    owner: Resource,
    selector: meta_v1.LabelSelector | None,
    objects: Iterable[Obj],
    *,
    is_fit: Callable[[Obj], bool] | None = None,
    finalizers: tuple[str, ...] = (),
) -> list[Obj]:
    """Adopt and release objects as ``claim`` does, but only among ``objects``."""
    found = claimed(owner, selector, objects, is_fit=is_fit)
    for obj in found.release:
        await _release(ctx, owner, obj, finalizers)
    if not found.adopt:
        return list(found.ours)
    await _check_may_adopt(ctx, owner)
    adopted = [await _adopt(ctx, owner, obj, finalizers) for obj in found.adopt]
    return [*found.ours, *(obj for obj in adopted if obj is not None)]


async def _check_may_adopt(ctx: Context, owner: Resource) -> None:
    # An owner that is deleted with orphans would otherwise adopt them again from an old cache.
    now = await ctx.live.get(type(owner), owner.name)
    if now.uid != owner.uid or now.deletion_time is not None:
        raise Conflict(
            wanted=f"adopt what {owner.ref} selects",
            code=409,
            reason="Conflict",
            message="it is being deleted, or was replaced by an object with the same name",
        )


async def _adopt(
    ctx: Context, owner: Resource, obj: Obj, finalizers: tuple[str, ...]
) -> Obj | None:
    metadata: dict[str, Any] = {"ownerReferences": [_written(owner_reference(owner))]}
    if finalizers:
        metadata["finalizers"] = list(finalizers)
    try:
        return await ctx.patch(obj, StrategicMergePatch({"metadata": metadata}))
    except NotFound:
        return None


async def _release(
    ctx: Context, owner: Resource, obj: Resource, finalizers: tuple[str, ...]
) -> None:
    metadata: dict[str, Any] = {"ownerReferences": [{"$patch": "delete", "uid": owner.uid}]}
    if finalizers:
        metadata["$deleteFromPrimitiveList/finalizers"] = list(finalizers)
    # It is gone, or another object has its name.
    with suppress(NotFound, Invalid):
        await ctx.patch(obj, StrategicMergePatch({"metadata": metadata}))


def _written(reference: meta_v1.OwnerReference) -> dict[str, Any]:
    return {
        "apiVersion": reference.api_version,
        "kind": reference.kind,
        "name": reference.name,
        "uid": reference.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
