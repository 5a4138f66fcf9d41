"""``Permits``: what a controller's declaration allows it to touch."""

from collections.abc import Iterable
from typing import Any, NoReturn

from steersman.controller.declaring import Controller
from steersman.errors import UndeclaredRead, UndeclaredWrite
from steersman.kinds import Unstructured


class Permits:
    """Says no to what is not declared, and what to declare.

    Made once for a controller, because each read and write of each reconcile is asked about.
    """

    __slots__ = ("_controller", "_owned", "_read", "_stated", "_written")

    def __init__(self, controller: Controller[Any]) -> None:
        owned = [each.kind for each in controller.owned]
        self._controller = controller.name
        self._owned = _identities(owned)
        self._written = _identities((*owned, *controller.writes))
        self._stated = _identities((controller.kind, *controller.writes))
        self._read = _identities((*controller.cached_kinds, *controller.reads, *controller.writes))

    def check_own(self, kind: type[Any], verb: str) -> None:
        """Whether its objects may be owned; ``UndeclaredWrite`` if not, as for all writes."""
        if kind not in self._owned and _identity(kind) not in self._owned:
            self._refuse_write(kind, verb, f"owns=({kind.__name__},)")

    def check_write(self, kind: type[Any], verb: str) -> None:
        """Whether its objects may be written."""
        if kind not in self._written and _identity(kind) not in self._written:
            self._refuse_write(kind, verb, f"writes=({kind.__name__},)")

    def check_write_status(self, kind: type[Any], verb: str) -> None:
        """Whether the status of its objects may be written."""
        if kind not in self._stated and _identity(kind) not in self._stated:
            self._refuse_write(kind, verb, f"writes=({kind.__name__},)")

    def check_read(self, kind: type[Any]) -> None:
        """Whether the server may be asked for its objects; ``UndeclaredRead`` if not."""
        if _identity(kind) not in self._read:
            raise UndeclaredRead(
                controller=self._controller,
                wanted=f"read {kind.resource_type}",
                what_now=f"Add reads=({kind.__name__},) to the controller, so that it gets the"
                f" right to.",
            )

    def _refuse_write(self, kind: type[Any], verb: str, declaration: str) -> NoReturn:
        raise UndeclaredWrite(
            controller=self._controller,
            wanted=f"{verb} {kind.resource_type}",
            what_now=f"Add {declaration} to the controller, so that it gets the right to.",
        )


def _identities(kinds: Iterable[type[Any]]) -> frozenset[object]:
    return frozenset(map(_identity, kinds))


def _identity(kind: type[Any]) -> object:
    """What stands for a class: those that Unstructured.of made for one kind are as good as one."""
    return kind.resource_type if issubclass(kind, Unstructured) else kind
