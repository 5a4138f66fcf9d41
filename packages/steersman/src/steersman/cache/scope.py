"""``Scope``: the selection of the objects of a kind that a cache holds."""

import msgspec

from steersman.client import Fields, Labels
from steersman.errors import BadValue
from steersman.kinds import Resource, Unstructured
from steersman.names import ResourceType, check_label


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """A selection of objects of a kind, by namespace and by selector.

    If ``namespaces`` is empty, all namespaces are selected. Otherwise each of them is listed and
    watched separately, so the operator needs permissions only in these namespaces.
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
        """Raise ``BadValue`` if ``resource_type`` is cluster-scoped but the scope is not."""
        if self.namespaces and not resource_type.namespaced:
            raise BadValue(
                wanted=f"a scope for {resource_type}",
                value=self.namespaces,
                rule="the kind is cluster-scoped; remove the namespaces",
            )

    def parts(self) -> tuple[str | None, ...]:
        """The namespaces to watch separately; ``(None,)`` means one watch of all namespaces."""
        return self.namespaces or (None,)

    def holds(self, namespace: str | None) -> bool:
        """Whether the scope includes objects of ``namespace``."""
        return not self.namespaces or namespace in self.namespaces

    @property
    def is_limited(self) -> bool:
        """Whether the scope has a label selector or a field selector."""
        return bool(self.labels.requirements or self.fields.terms)

    def selects(self, obj: Resource | Unstructured) -> bool:
        """Whether the label selector matches ``obj``; the server evaluates the field selectors."""
        return not self.labels.requirements or self.labels.matches(obj.labels)

    def __str__(self) -> str:
        where = f" in {', '.join(self.namespaces)}" if self.namespaces else ""
        labels = f" with labels {self.labels}" if self.labels.requirements else ""
        fields = f" with fields {self.fields}" if self.fields.terms else ""
        return f"{where}{labels}{fields}".strip() or "everywhere"
