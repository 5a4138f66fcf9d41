"""``Scope``: which objects of a kind a cache holds."""

import msgspec

from steersman.client import Fields, Labels
from steersman.errors import BadValue
from steersman.kinds import Resource, Unstructured
from steersman.names import ResourceType, check_label


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """The objects of a kind in these namespaces (all, if none is named) that match these selectors.

    Each namespace is listed and watched separately, so that permissions in these are enough.
    """

    namespaces: tuple[str, ...] = ()
    labels: Labels = Labels()
    fields: Fields = Fields()

    def __post_init__(self) -> None:
        for namespace in self.namespaces:
            check_label(namespace, wanted="a namespace's name")
        # Sorted and without duplicates, so that equal scopes are equal values.
        msgspec.structs.force_setattr(self, "namespaces", tuple(sorted(set(self.namespaces))))

    def check_fits(self, resource_type: ResourceType) -> None:
        """Refuse namespaces for a cluster-scoped kind."""
        if self.namespaces and not resource_type.namespaced:
            raise BadValue(
                wanted=f"a scope for {resource_type}",
                value=self.namespaces,
                rule="its objects live in no namespace; leave the namespaces out",
            )

    def parts(self) -> tuple[str | None, ...]:
        """The namespaces to watch one by one; ``None`` means all at once."""
        return self.namespaces or (None,)

    def holds(self, namespace: str | None) -> bool:
        """Whether objects of this namespace are in the scope."""
        return not self.namespaces or namespace in self.namespaces

    @property
    def is_limited(self) -> bool:
        """Whether a selector may exclude objects."""
        return bool(self.labels.requirements or self.fields.terms)

    def selects(self, obj: Resource | Unstructured) -> bool:
        """Whether the label selector matches; field selectors are evaluated by the server."""
        return not self.labels.requirements or self.labels.matches(obj.labels)

    def __str__(self) -> str:
        where = f" in {', '.join(self.namespaces)}" if self.namespaces else ""
        labels = f" with labels {self.labels}" if self.labels.requirements else ""
        fields = f" with fields {self.fields}" if self.fields.terms else ""
        return f"{where}{labels}{fields}".strip() or "everywhere"
