"""What an author adds to the installation of an operator: as one frozen value, ready to render."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from steersman.controller import RbacRule
from steersman.kinds import core_v1, networking_v1
from steersman.units import Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraRule:
    """Rights beyond those that the controllers declare.

    They hold where the operator acts: in each of its namespaces, if it has some, and in the whole
    cluster otherwise, or if ``everywhere`` says so.
    """

    groups: tuple[str, ...]
    resources: tuple[str, ...]  # ``pods``, ``pods/log``
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()
    everywhere: bool = False

    def rules(self, namespaces: tuple[str, ...]) -> tuple[RbacRule, ...]:
        """The same for each group, resource and namespace."""
        places = (None,) if self.everywhere or not namespaces else tuple(dict.fromkeys(namespaces))
        return tuple(
            RbacRule(
                namespace=place,
                group=group,
                resource=resource.partition("/")[0],
                subresource=resource.partition("/")[2],
                names=self.names,
                verbs=self.verbs,
            )
            for place in places
            for group in self.groups
            for resource in self.resources
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploySettings:
    """``[tool.steersman.deploy]``, but for replicas and the digest of the image.

    ``labels`` and ``annotations`` are on every object that is installed, and on its Pods;
    ``pod_labels`` and ``pod_annotations`` are on Pods only. ``requests`` and ``limits`` replace the
    usual amounts, resource by resource. ``egress`` is ``None`` where nothing is said of it.
    """

    env: tuple[core_v1.EnvVar, ...] = ()
    requests: Mapping[str, Quantity] = field(default_factory=dict)
    limits: Mapping[str, Quantity] = field(default_factory=dict)
    egress: tuple[networking_v1.NetworkPolicyEgressRule, ...] | None = None
    rules: tuple[ExtraRule, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    pod_labels: Mapping[str, str] = field(default_factory=dict)
    pod_annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleSettings:
    """``[tool.steersman.bundle]``: the channel, the version that is replaced, and the icon.

    ``icon`` is a media type and an image.
    """

    channel: str | None = None
    replaces: str | None = None
    icon: tuple[str, bytes] | None = None
