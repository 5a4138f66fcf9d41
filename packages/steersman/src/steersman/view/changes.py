"""One line for each object that has changed since the previous call, for pipes and logs."""

from collections.abc import Iterator, Sequence

from steersman.names import ObjectRef
from steersman.view.lines import printable
from steersman.view.states import state_of
from steersman.view.tree import Branch, owner_of


class ChangeLines:
    """Formats one line for each object that has changed since the previous call of ``lines``."""

    def __init__(self) -> None:
        self._shown: dict[ObjectRef, tuple[str, str]] = {}

    def __repr__(self) -> str:
        return f"<ChangeLines of {len(self._shown)} objects>"

    def lines(self, grown: Sequence[Branch]) -> Iterator[str]:
        """Yield a line for each object in the trees ``grown`` that is new, changed or re-created.

        Also yield a line for each object that has been deleted since the previous call.
        """
        objects = {obj.uid: obj for branch in grown for obj in branch}
        now: dict[ObjectRef, tuple[str, str]] = {}
        for obj in objects.values():
            owner = owner_of(obj, objects)
            of = f", of {owner.gvk.kind} {owner.name}" if owner is not None else ""
            now[obj.ref] = (obj.uid, f"{obj.ref}{of}: {state_of(obj)}")
        for ref, (uid, text) in now.items():
            before, shown = self._shown.get(ref, (uid, ""))
            if before != uid:
                yield printable(f"{text}, re-created")
            elif shown != text:
                yield printable(text)
        for ref in self._shown:
            if ref not in now:
                yield printable(f"{ref} is gone")
        self._shown = now
