"""The operator author's settings for an installation, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from steersman.controller import RbacRule
from steersman.kinds import core_v1, networking_v1
from steersman.units import Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraRule:
    """Permissions for the operator in addition to those that its controllers declare.

    The permissions apply in each of the operator's namespaces; if the operator manages the entire
    cluster, they apply there. With ``everywhere``, they always apply in the entire cluster.
    """

    groups: tuple[str, ...]
    resources: tuple[str, ...]  # ``pods``, ``pods/log``
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()
    everywhere: bool = False

    def rules(self, namespaces: tuple[str, ...]) -> tuple[RbacRule, ...]:
        """Return an ``RbacRule`` for each combination of API group, resource and namespace.

        ``namespaces`` are the operator's namespaces; empty if it manages the entire cluster.
        """
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
    """The settings of ``[tool.steersman.deploy]``, except the replicas and the image digest.

    ``labels`` and ``annotations`` are set on every installed object and on its Pods; ``pod_labels``
    and ``pod_annotations`` are set on Pods only. ``requests`` and ``limits`` replace the default
    quantity of each resource that they contain. ``egress`` is ``None`` if the project does not set
    it.
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
    """The settings of ``[tool.steersman.bundle]``: channel, replaced version and icon.

    ``icon`` is a media type with the bytes of an image.
    """

    channel: str | None = None
    replaces: str | None = None
    icon: tuple[str, bytes] | None = None
