"""Robot, the kind. The client, the informer, the lister and the CRD use these classes."""

from typing import Annotated

import steersman as sm

# A valid name of a Deployment, and a valid value of the label that selects its Pods.
DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"


class Spec(sm.Part):
    """The desired state."""

    deployment_name: Annotated[
        str,
        sm.Rule(pattern=DNS_LABEL, max_length=63),
        sm.Cel("self == oldSelf", "deploymentName cannot be changed: create another Robot"),
    ]
    """The Deployment that runs the robot."""

    replicas: Annotated[int, sm.Rule(ge=0, format="int32")] = 1
    """The desired number of Pods."""


class Status(sm.Part):
    """The observed state."""

    observed_generation: int | None = None
    """The generation that this status describes."""

    available_replicas: int = 0
    """The number of available Pods."""

    conditions: tuple[sm.Condition, ...] = ()
    """Ready is true once all replicas are available."""


class Robot(sm.CustomResource[Spec, Status], group="robot.llleon.io", version="v1"):
    """A robot, kept running in a Deployment."""
