"""``Writes``: a kind that a controller or a runnable writes, as one rule of a Role. No I/O.

Both the generated RBAC and ``DeclaredAccess`` use ``Writes``: an undeclared write has no permission
on the server, and is rejected before it is sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args

from steersman.errors import BadName, BadValue, NotAKind
from steersman.kinds import Resource, Unstructured
from steersman.names import check_path_segment

Kind: TypeAlias = type[Resource] | type[Unstructured]

#: The RBAC verbs for writes.
WriteVerb: TypeAlias = Literal["create", "update", "patch", "delete", "deletecollection"]

VERBS: Final[tuple[WriteVerb, ...]] = get_args(WriteVerb)

# The verbs of server-side apply: the server requires both, because an apply may create the object.
APPLY: Final[tuple[WriteVerb, ...]] = ("create", "patch")


@dataclass(frozen=True, slots=True)
class Writes:
    """A kind that a controller or a runnable writes without owning it, with verbs and names.

    - ``verbs`` are RBAC verbs, by default the verbs of server-side apply: ``create`` and ``patch``.
      ``ctx.delete`` needs ``delete``.
    - ``names`` limits the rule to objects of these names. RBAC cannot limit ``create`` by name, so
      ``create`` is granted for all names, and the context rejects other names.
    - ``subresource`` is ``"status"`` for ``ctx.apply_status`` and ``ctx.patch(…,
      subresource="status")``. As in a Role, a subresource needs a separate rule. The default verb
      of such a rule is ``patch``.
    """

    kind: Kind
    verbs: tuple[WriteVerb, ...] = field(default=APPLY, kw_only=True)
    names: tuple[str, ...] = field(default=(), kw_only=True)
    subresource: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        name = check_is_kind(self.kind, wanted="the kind of a Writes")
        if self.subresource and self.verbs is APPLY:
            object.__setattr__(self, "verbs", ("patch",))
        check_verbs(self.verbs, wanted=f"the verbs of Writes({name})")
        if not isinstance(self.names, tuple):
            raise BadValue(
                wanted=f"the names of Writes({name})",
                value=self.names,
                rule='they must be a tuple: names=("one",)',
            )
        for each in self.names:
            # Some kinds permit further characters: an RBAC role may be named system:node.
            check_path_segment(each, wanted=f"the name of a {name}")
        if self.names and "deletecollection" in self.verbs:
            raise BadValue(
                wanted=f"the verbs of Writes({name}) with names",
                value=self.verbs,
                rule="names do not apply to deletecollection; remove one of them",
            )
        if self.subresource and not (
            self.subresource.isascii() and self.subresource.islower() and self.subresource.isalpha()
        ):
            raise BadName(
                wanted=f"a subresource of {name}",
                value=self.subresource,
                rule='it must consist of lower-case letters, such as "status"',
            )


def check_is_kind(kind: Any, *, wanted: str) -> str:
    """Return the class name of ``kind``; raise ``BadValue`` if it is not a kind's class."""
    try:
        if kind.resource_type.gvk:
            return str(kind.__name__)
    except (AttributeError, NotAKind):
        pass
    raise BadValue(
        wanted=wanted,
        value=kind,
        rule="pass the class of a kind; Unstructured.of creates one",
    )


def check_verbs(verbs: object, *, wanted: str) -> None:
    """Raise ``BadValue`` unless ``verbs`` are RBAC verbs for writes."""
    if not isinstance(verbs, tuple) or not verbs:
        raise BadValue(wanted=wanted, value=verbs, rule='they must be a tuple: verbs=("patch",)')
    for verb in verbs:
        if verb not in VERBS:
            raise BadValue(
                wanted=wanted,
                value=verb,
                rule=f"it must be one of {', '.join(VERBS)}; declare reads in watches or reads",
            )


def as_writes(declared: Sequence[Any]) -> tuple[Writes, ...]:
    """Return ``declared`` as ``Writes``; a kind becomes a ``Writes`` with the default verbs."""
    return tuple(each if isinstance(each, Writes) else Writes(each) for each in declared)
