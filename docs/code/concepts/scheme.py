"""A scheme: the class of each kind, and the conversions between versions."""

import steersman as sm


class OldSpec(sm.Part):
    """The desired state."""

    width_cm: int


class Spec(sm.Part):
    """The desired state."""

    width_mm: int


class OldSail(
    sm.CustomResource[OldSpec, sm.Part], group="sea.example.com", version="v1", kind="Sail"
):
    """A sail, in centimeters."""


class Sail(sm.CustomResource[Spec, sm.Part], group="sea.example.com", version="v2"):
    """A sail, in millimeters."""


def up(old: OldSail) -> Sail:
    return Sail(metadata=old.metadata, spec=Spec(width_mm=old.spec.width_cm * 10))


def down(new: Sail) -> OldSail:
    return OldSail(metadata=new.metadata, spec=OldSpec(width_cm=new.spec.width_mm // 10))


scheme = sm.Scheme([OldSail, Sail]).with_conversions(
    sm.Conversion(older=OldSail, newer=Sail, up=up, down=down)
)
