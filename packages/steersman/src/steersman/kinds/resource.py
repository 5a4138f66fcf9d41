"""``Resource``: an object with a kind and a name. ``CustomResource``: a resource with spec and
status.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar, cast

from steersman.kinds.base import Part
from steersman.kinds.cel import Cel
from steersman.kinds.crd import Crd
from steersman.kinds.declaration import NoResourceType
from steersman.kinds.meta_v1 import ObjectMeta
from steersman.names import ObjectRef, ResourceType

# Covariant, because objects are frozen: an App is a CustomResource[Part, Part] too.
Spec_co = TypeVar("Spec_co", bound=Part, covariant=True)
Status_co = TypeVar("Status_co", bound=Part, covariant=True)


class Resource(Part):
    """An object of a kind that the API server serves.

    The class statement defines the kind: ``class Widget(Resource, group=..., version=...)``. The
    keywords ``kind=``, ``plural=`` and ``namespaced=`` default to the class's name, the regular
    plural, and ``True``. ``crd=`` contains the settings of the CustomResourceDefinition, or is
    ``None`` for a kind that another project defines.
    """

    if TYPE_CHECKING:  # at run time, the metaclass takes these

        def __init_subclass__(
            cls,
            *,
            group: str | None = None,
            version: str | None = None,
            kind: str | None = None,
            plural: str | None = None,
            namespaced: bool | None = None,
            wire_names: Mapping[str, str] | None = None,
            sensitive: Collection[str] = (),
            validations: Sequence[Cel] = (),
            crd: Crd | None = Crd(),
        ) -> None: ...

    resource_type: ClassVar[ResourceType] = cast(ResourceType, NoResourceType())
    declared_crd: ClassVar[Crd | None] = None

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()

    @property
    def name(self) -> str:
        """``metadata.name``, or ``""`` if it is not set."""
        return self.metadata.name or ""

    @property
    def namespace(self) -> str | None:
        """``metadata.namespace``; ``None`` for a cluster-scoped object."""
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        """``metadata.uid``, or ``""`` before the server has set it."""
        return self.metadata.uid or ""

    @property
    def resource_version(self) -> str:
        """``metadata.resourceVersion``, or ``""`` before the server has set it."""
        return self.metadata.resource_version or ""

    @property
    def generation(self) -> int:
        """``metadata.generation``, or 0 before the server has set it."""
        return self.metadata.generation or 0

    @property
    def labels(self) -> Mapping[str, str]:
        """``metadata.labels``; empty if not set."""
        return self.metadata.labels or {}

    @property
    def annotations(self) -> Mapping[str, str]:
        """``metadata.annotations``; empty if not set."""
        return self.metadata.annotations or {}

    @property
    def deletion_time(self) -> datetime | None:
        """``metadata.deletionTimestamp``; ``None`` unless the object is being deleted."""
        return self.metadata.deletion_timestamp

    @property
    def ref(self) -> ObjectRef:
        """Return the reference ``Kind namespace/name`` of the object."""
        metadata = self.metadata
        name = metadata.name or f"{metadata.generate_name or ''}*"
        return ObjectRef(self.kind, metadata.namespace, name)


class CustomResource(Resource, Generic[Spec_co, Status_co]):
    """A custom kind: ``class App(CustomResource[Spec, Status], group=..., version=...)``."""

    spec: Spec_co
    status: Status_co | None = None
