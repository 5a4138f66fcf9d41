"""``DeclaredAccess``: the reads and writes that a controller's declaration allows."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NoReturn

from steersman.controller.declaration.cached_kinds import cached_kinds
from steersman.controller.declaration.declaration import Declaration
from steersman.controller.declaration.writes import APPLY, VERBS
from steersman.errors import UndeclaredRead, UndeclaredWrite
from steersman.kinds import Unstructured

_STATUS: Final = "status"

_NO_NAMES: Final[frozenset[str]] = frozenset()

# Used instead of a subresource; no subresource has this name.
_OWNED: Final = "*"


class DeclaredAccess:
    """A check that rejects the reads and writes that a controller does not declare.

    The error says what to declare. There is one instance for each controller, because every read
    and write of every reconcile is checked.
    """

    __slots__ = ("_allowed", "_controller", "_listed", "_owned", "_verbs", "_written")

    def __init__(self, controller: Declaration) -> None:
        self._controller = controller.name
        self._owned = _identities(each.kind for each in controller.owned)
        self._listed = _identities(
            (*(each.kind for each in cached_kinds(controller)), *controller.reads)
        )
        # The names to which a verb is limited; None if it is not limited.
        self._verbs: dict[tuple[object, str], dict[str, frozenset[str] | None]] = {}
        self._allow(controller.kind, "patch", subresource=_STATUS)
        for owns in controller.owned:
            self._allow(owns.kind, *owns.verbs)
        for writes in controller.written:
            of = writes.kind
            self._allow(of, *writes.verbs, subresource=writes.subresource, names=writes.names)
            if "patch" in writes.verbs:
                self._allow(of, "get", names=writes.names)
        self._written = _identities(each.kind for each in controller.written)
        # Checks that passed whatever the object's name: at most one for each declared kind and
        # verb. Classes of Unstructured are not stored, because each may be new.
        self._allowed: set[tuple[type[Any], tuple[str, ...], str]] = set()

    def check_own(self, kind: type[Any], wanted: str, verbs: tuple[str, ...]) -> None:
        """Raise ``UndeclaredWrite`` unless the controller's ``owns`` contains ``kind`` with
        ``verbs``.

        ``wanted`` describes the write in the error.
        """
        if (kind, verbs, _OWNED) in self._allowed:
            return
        identity = _identity(kind)
        if identity not in self._owned:
            self._refuse_write(kind, wanted, f"Add owns=({_owns(kind, verbs)},) to the controller")
        allowed = self._verbs[identity, ""]
        # A rule with names does not cover all owned objects.
        if any(allowed.get(verb, _NO_NAMES) is not None for verb in verbs):
            self._refuse_verbs(kind, wanted, verbs)
        self._remember(kind, verbs, _OWNED)

    def check_write(
        self,
        kind: type[Any],
        wanted: str,
        verbs: tuple[str, ...],
        *,
        name: str,
        subresource: str = "",
    ) -> None:
        """Raise ``UndeclaredWrite`` unless ``verbs`` are declared for the object ``name`` of
        ``kind``.

        ``name`` may be empty for a new object. ``wanted`` describes the write in the error.
        """
        if (kind, verbs, subresource) in self._allowed:
            return
        allowed = self._verbs.get((_identity(kind), subresource))
        has_names = False
        for verb in verbs:
            if allowed is None or verb not in allowed:
                self._refuse_verbs(kind, wanted, verbs, subresource=subresource)
            names = allowed[verb]
            if names is not None:
                has_names = True
                if name not in names:
                    self._refuse_name(kind, wanted, name, names)
        if not has_names:
            self._remember(kind, verbs, subresource)

    def check_get(self, kind: type[Any], name: str) -> None:
        """Raise ``UndeclaredRead`` unless this object may be read from the API server."""
        identity = _identity(kind)
        if identity in self._listed:
            return
        gettable = self._verbs.get((identity, ""), {})
        if "get" not in gettable:
            self._refuse_read(kind, f"read {kind.resource_type}")
        names = gettable["get"]
        if names is not None and name not in names:
            self._refuse_read(kind, f"read {kind.resource_type} {name}")

    def check_list(self, kind: type[Any]) -> None:
        """Raise ``UndeclaredRead`` unless objects of ``kind`` may be listed on the API server."""
        if _identity(kind) not in self._listed:
            self._refuse_read(kind, f"list {kind.resource_type}")

    def allows_any(self, kind: type[Any], verb: str) -> bool:
        """Return whether ``verb`` is declared for at least one object of ``kind``."""
        return verb in self._verbs.get((_identity(kind), ""), ())

    def _remember(self, kind: type[Any], verbs: tuple[str, ...], how: str) -> None:
        if not issubclass(kind, Unstructured):
            self._allowed.add((kind, verbs, how))

    def _allow(
        self, kind: type[Any], *verbs: str, subresource: str = "", names: tuple[str, ...] = ()
    ) -> None:
        allowed = self._verbs.setdefault((_identity(kind), subresource), {})
        for verb in verbs:
            before = allowed.get(verb, frozenset())
            allowed[verb] = None if before is None or not names else before | set(names)

    def _refuse_verbs(
        self, kind: type[Any], wanted: str, verbs: Sequence[str], *, subresource: str = ""
    ) -> NoReturn:
        identity = _identity(kind)
        declared = self._verbs.get((identity, subresource), {})
        every = [verb for verb in VERBS if verb in declared or verb in verbs]
        if identity in self._owned and not subresource:
            self._refuse_write(
                kind, wanted, f"Write owns=({_owns(kind, every)},) in the controller"
            )
        if identity not in self._written and not subresource and tuple(every) == APPLY:
            self._refuse_write(kind, wanted, f"Add writes=({kind.__name__},) to the controller")
        below = f', subresource="{subresource}"' if subresource else ""
        rule = f"sm.Writes({kind.__name__}, verbs={_listed(every)}{below})"
        self._refuse_write(kind, wanted, f"Add writes=({rule},) to the controller")

    def _refuse_name(
        self, kind: type[Any], wanted: str, name: str, names: frozenset[str]
    ) -> NoReturn:
        self._refuse_write(
            kind,
            wanted,
            f"Its Writes({kind.__name__}) is limited to {', '.join(sorted(names))}: add the name to"
            " it, or remove its names",
            name=name or "without a name",
        )

    def _refuse_write(
        self, kind: type[Any], wanted: str, what_now: str, *, name: str = ""
    ) -> NoReturn:
        named = f" {name}" if name else ""
        raise UndeclaredWrite(
            controller=self._controller,
            wanted=f"{wanted} {kind.resource_type}{named}",
            what_now=f"{what_now}; the generated RBAC then includes the permission.",
        )

    def _refuse_read(self, kind: type[Any], wanted: str) -> NoReturn:
        raise UndeclaredRead(
            controller=self._controller,
            wanted=wanted,
            what_now=f"Add reads=({kind.__name__},) to the controller; the generated RBAC then"
            " includes the permission.",
        )


def _owns(kind: type[Any], verbs: Sequence[str]) -> str:
    """Return the declaration of an owned kind with these verbs, as Python code."""
    if set(verbs) <= set(APPLY):
        return kind.__name__
    every = [verb for verb in VERBS if verb in (*APPLY, *verbs)]
    return f"sm.Owns({kind.__name__}, verbs={_listed(every)})"


def _listed(verbs: Sequence[str]) -> str:
    quoted = ", ".join(f'"{verb}"' for verb in verbs)
    return f"({quoted},)" if len(verbs) == 1 else f"({quoted})"


def _identities(kinds: Iterable[type[Any]]) -> frozenset[object]:
    return frozenset(map(_identity, kinds))


def _identity(kind: type[Any]) -> object:
    """Return a value that identifies ``kind``: equal for all ``Unstructured`` classes of one
    kind.
    """
    return kind.resource_type if issubclass(kind, Unstructured) else kind
