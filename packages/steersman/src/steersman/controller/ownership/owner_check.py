"""``OwnerCheck``: reads an owner from the server before one of its deleted children is re-created.

A cache may miss the deletion of an owner because a watch was interrupted, and still receive the
deletions of the owner's children one by one. Without this check, the controller would re-create the
children as fast as the cluster's garbage collector deletes them.
"""

from collections.abc import Callable
from typing import Any

from steersman.client import Client
from steersman.controller.ownership.owner_references import controller_of
from steersman.errors import Conflict, NotFound
from steersman.kinds import Resource, Unstructured, metadata_only


class OwnerCheck:
    """A check that the owner of a deleted child still exists, before the child is re-created."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._losses: dict[str, int] = {}  # the number of lost children, by the owner's uid

    def __len__(self) -> int:
        """The number of owners that must be checked, because a child of theirs was deleted."""
        return len(self._losses)

    def note_lost_child(
        self, child: Resource | Unstructured, *, is_cached: Callable[[str, str], bool]
    ) -> None:
        """Record that ``child`` was deleted, if the cache contains its controlling owner.

        ``is_cached`` is called with the owner's name and uid.
        """
        holder = controller_of(child)
        if holder is not None and is_cached(holder.name, holder.uid):
            self._losses[holder.uid] = self._losses.get(holder.uid, 0) + 1

    def forget(self, uid: str) -> None:
        """Stop tracking the owner ``uid``, because it is known whether this owner exists."""
        self._losses.pop(uid, None)

    async def check(self, owner: Resource | Unstructured, child: Resource | Unstructured) -> None:
        """Raise ``Conflict`` if ``owner`` is deleted or being deleted, contrary to the cache.

        ``owner`` is read from the API server only if one of its children was deleted since the last
        check.
        """
        losses = self._losses.get(owner.uid)
        if losses is None:
            return
        kind: type[Any] = metadata_only(owner.resource_type)
        try:
            now = await self._client.get(kind, owner.name, namespace=owner.namespace)
        except NotFound as error:
            raise _owner_gone(owner, child, "no longer exists") from error
        if now.uid != owner.uid:
            raise _owner_gone(owner, child, "was replaced by another object of the same name")
        if now.deletion_time is not None and owner.deletion_time is None:
            raise _owner_gone(owner, child, "is being deleted")
        # A child lost during the request may have been lost for another reason.
        if self._losses.get(owner.uid) == losses:
            self.forget(owner.uid)


def _owner_gone(
    owner: Resource | Unstructured, child: Resource | Unstructured, why: str
) -> Conflict:
    return Conflict(
        wanted=f"create {child.ref} again",
        code=409,
        reason="Conflict",
        message=f"its owner {owner.ref} {why}; the cache is behind",
    )
