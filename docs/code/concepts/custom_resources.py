"""A custom kind: one class, from which the CRD is generated."""

from typing import Annotated

import steersman as sm


class Spec(
    sm.Part, validations=(sm.Cel("self.least <= self.most", "least must not be above most"),)
):
    """The desired state."""

    image: Annotated[str, sm.Rule(min_length=1)]

    least: Annotated[int, sm.Rule(ge=0)] = 1
    """The number of replicas without work."""

    most: Annotated[int, sm.Rule(le=100)] = 10


class Status(sm.Part):
    """The observed state."""

    running: int = 0


class Fleet(sm.CustomResource[Spec, Status], group="app.example.com", version="v1"):
    """Replicas of an image, as many as the work needs."""
