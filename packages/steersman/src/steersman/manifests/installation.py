"""``Installation``: how an operator is installed, as one frozen value."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from steersman.cache import CacheOptions
from steersman.controller import Controller
from steersman.errors import BadName, BadValue
from steersman.kinds import Resource
from steersman.manager import ManagerSettings, Runnable, lease_name
from steersman.manifests.deploy_settings import BundleSettings, DeploySettings
from steersman.names import check_label
from steersman.units import Quantity

# One is the leader. If its node fails, the other becomes the leader within the lease duration.
DEFAULT_REPLICAS: Final = 2

HEALTH_PORT: Final = 8081
METRICS_PORT: Final = 8443

# Twice the measured memory of an idle operator (65 MB), with room for some ten thousand objects in
# its caches. No limit for the CPU: an operator that is throttled loses its lease.
REQUESTS: Final = {"cpu": Quantity("10m"), "memory": Quantity("128Mi")}
LIMITS: Final = {"memory": Quantity("512Mi")}

# Names of Services and namespaces have at most 63 characters, including the suffixes.
_MAX_NAME_LENGTH: Final = 50

_NAME: Final = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")

_PRERELEASE: Final = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_VERSION: Final = re.compile(
    rf"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-{_PRERELEASE}(\.{_PRERELEASE})*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)

_HOST: Final = r"[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?"
_STEP: Final = r"[a-z0-9]+([._-]+[a-z0-9]+)*"
_IMAGE: Final = re.compile(
    rf"({_HOST}(\.{_HOST})*(:[0-9]{{1,5}})?/)?{_STEP}(/{_STEP})*"
    r"(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The controllers and runnables of an operator, and the settings of its installation.

    ``namespaces`` are the namespaces that the operator manages; if empty, it manages the entire
    cluster. If ``metrics`` is false, the metrics cannot be read from outside the Pods.
    """

    name: str
    controllers: tuple[Controller[Any], ...]
    runnables: tuple[Runnable, ...] = ()
    caches: tuple[CacheOptions[Any], ...] = ()
    image: str
    version: str
    namespaces: tuple[str, ...] = ()
    replicas: int = DEFAULT_REPLICAS
    metrics: bool = True
    # Shown in catalogs.
    title: str = ""
    description: str = ""
    maintainers: tuple[tuple[str, str], ...] = ()  # name and e-mail
    # The author's additions.
    deploy: DeploySettings = field(default_factory=DeploySettings)
    bundle: BundleSettings = field(default_factory=BundleSettings)

    def __post_init__(self) -> None:
        _require(
            _NAME.fullmatch(self.name) and len(self.name) <= _MAX_NAME_LENGTH,
            "the name of an operator",
            self.name,
            "it has lower-case letters, digits and dashes, begins with a letter, ends with a"
            f" letter or digit, and is {_MAX_NAME_LENGTH} characters at most",
        )
        _require(
            _IMAGE.fullmatch(self.image),
            "the name of an image",
            self.image,
            "it must be NAME, NAME:TAG or NAME@sha256:DIGEST, where NAME is in lower case",
        )
        _require(
            _VERSION.fullmatch(self.version),
            "the version of an operator",
            self.version,
            "it must be a semantic version, such as 1.2.3 or 1.2.3-rc.1",
        )
        for namespace in self.namespaces:
            check_label(namespace, wanted="a namespace")
        if not self.controllers:
            raise BadValue(
                wanted="an operator", value=self.name, rule="it must have at least one controller"
            )
        if self.replicas < 1:
            raise BadValue(
                wanted="a number of replicas", value=self.replicas, rule="it must be at least 1"
            )
        self._check_env()
        self._check_resources()

    def _check_env(self) -> None:
        own = self.settings.environ()
        for each in self.deploy.env:
            if each.name in own:
                raise BadValue(
                    wanted="an additional variable",
                    value=each.name,
                    rule="the installation already sets it",
                )

    def _check_resources(self) -> None:
        requests, limits = self.resources
        for name, amount in requests.items():
            if name in limits and limits[name] < amount:
                raise BadValue(
                    wanted=f"a limit for {name}",
                    value=str(limits[name]),
                    rule=f"it must not be less than the request, {amount}",
                )

    @property
    def resources(self) -> tuple[dict[str, Quantity], dict[str, Quantity]]:
        """Return the resource requests and the limits of the operator's container."""
        return {**REQUESTS, **self.deploy.requests}, {**LIMITS, **self.deploy.limits}

    @property
    def namespace(self) -> str:
        """Return the namespace in which the operator runs."""
        return f"{self.name}-system"

    @property
    def kinds(self) -> tuple[type[Resource], ...]:
        """Return the kinds that the operator defines, as ``own_kinds`` determines them."""
        return own_kinds(self.controllers)

    @property
    def settings(self) -> ManagerSettings:
        """Return the manager settings; the Pods receive them as environment variables."""
        return ManagerSettings(
            namespaces=tuple(dict.fromkeys(self.namespaces)),
            # The default, explicit because the role names it.
            lease_name=lease_name(self.controllers),
            # The kubelet and Prometheus connect from outside the Pod.
            health_address=f":{HEALTH_PORT}",
            metrics_address=f":{METRICS_PORT}" if self.metrics else "",
            log_style="json",
        )

    @property
    def selector(self) -> dict[str, str]:
        """Return the labels that select the operator's Pods; these labels never change."""
        return {"app.kubernetes.io/name": self.name, "app.kubernetes.io/component": "operator"}

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels of every installed object."""
        return {"app.kubernetes.io/name": self.name, "app.kubernetes.io/version": self._word}

    @property
    def _word(self) -> str:
        # A label value has at most 63 characters, and no plus.
        return self.version.replace("+", "_")[:63].rstrip("-_.")


def own_kinds(controllers: Iterable[Controller[Any]]) -> tuple[type[Resource], ...]:
    """Return the kinds that an operator with these ``controllers`` defines.

    These are the kinds that the controllers reconcile, except those that another project defines.
    Of the kinds that the controllers own, read or write, those in the same API groups are included
    too, although no controller reconciles them.
    """
    every = tuple(controllers)
    own = [each.kind for each in every if _is_defined(each.kind)]
    groups = {kind.resource_type.gvk.group for kind in own}
    others = (
        kind
        for each in every
        for kind in _touched(each)
        if _is_defined(kind) and kind.resource_type.gvk.group in groups
    )
    return tuple(dict.fromkeys((*own, *others)))


def _touched(controller: Controller[Any]) -> Iterator[type[Any]]:
    yield from (each.kind for each in controller.owned)
    yield from (each.kind for each in controller.watches)
    yield from controller.reads
    yield from (each.kind for each in controller.written)


def _is_defined(kind: type[Any]) -> bool:
    # A kind that another project defines is installed by that project.
    return issubclass(kind, Resource) and kind.declared_crd is not None


def _require(holds: object, wanted: str, value: str, rule: str) -> None:
    if not holds:
        raise BadName(wanted=wanted, value=value, rule=rule)
