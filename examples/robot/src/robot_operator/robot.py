"""Robot, the kind: the client, the informer, the lister and the CRD all know it from these classes."""

from typing import Annotated

import steersman as sm

# What a Deployment and the label by which it finds its Pods can both be called.
DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"


class Spec(sm.Part):
    """What is wanted."""

    deployment_name: Annotated[
        str,
        sm.Rule(pattern=DNS_LABEL, max_length=63),
        sm.Cel("self == oldSelf", "deploymentName cannot be changed: make another Robot"),
    ]
    """The Deployment that runs the robot."""

    replicas: Annotated[int, sm.Rule(ge=0, format="int32")] = 1
    """How many of it run."""


class Status(sm.Part):
    """What has become of it."""

    observed_generation: int | None = None
    """The spec that this status is about."""

    available_replicas: int = 0
    """How many of it run and are ready."""

    conditions: tuple[sm.Condition, ...] = ()
    """Ready, once as many run as are wanted."""


class Robot(sm.CustomResource[Spec, Status], group="robot.llleon.io", version="v1"):
    """A robot, kept running in a Deployment."""
