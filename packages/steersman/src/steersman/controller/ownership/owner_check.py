"""Owners that have lost a child: before another is made, somebody looks whether they are there.

Whoever has not heard of an owner's end, because a watch was cut, sees its children go one by one,
and would make them anew as fast as the garbage collector deletes them.
"""

from collections.abc import Callable
from typing import Any

from steersman.client import Client
from steersman.controller.ownership.owner_references import controller_of
from steersman.errors import Conflict, NotFound
from steersman.kinds import Resource, Unstructured, metadata_only


class Bereaved:
    """The owners of whom that is so."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._losses: dict[str, int] = {}  # how many there were, by the owner's uid

    def __len__(self) -> int:
        """How many there are."""
        return len(self._losses)

    def lost(self, child: Resource | Unstructured, *, is_known: Callable[[str, str], bool]) -> None:
        """A child is gone; ``is_known`` says whether we think that its owner is there."""
        holder = controller_of(child)
        if holder is not None and is_known(holder.name, holder.uid):
            self._losses[holder.uid] = self._losses.get(holder.uid, 0) + 1

    def forget(self, uid: str) -> None:
        """The owner is there for certain; or gone, and we know it."""
        self._losses.pop(uid, None)

    async def check(self, owner: Resource | Unstructured, child: Resource | Unstructured) -> None:
        """Raise ``Conflict`` if the owner is gone, or on its way, and its child not to be made."""
        losses = self._losses.get(owner.uid)
        if losses is None:
            return
        kind: type[Any] = metadata_only(owner.resource_type)
        try:
            now = await self._client.get(kind, owner.name, namespace=owner.namespace)
        except NotFound as error:
            raise _too_late(owner, child, "is gone") from error
        if now.uid != owner.uid:
            raise _too_late(owner, child, "is another object by now")
        if now.deletion_time is not None and owner.deletion_time is None:
            raise _too_late(owner, child, "is being deleted")
        # What was lost while we asked may have been lost for another reason.
        if self._losses.get(owner.uid) == losses:
            self.forget(owner.uid)


def _too_late(owner: Resource | Unstructured, child: Resource | Unstructured, why: str) -> Conflict:
    return Conflict(
        wanted=f"make {child.ref} again",
        code=409,
        reason="Conflict",
        message=f"its owner {owner.ref} {why}, which our cache has not heard yet",
    )
