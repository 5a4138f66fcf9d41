"""Kinds that are defined elsewhere: the expression for the class, and a sample object for a test.

built-in               apps_v1.Deployment, of steersman.kinds
with a models file     Certificate, of the module that ``steersman generate models`` wrote
any other              Certificate = sm.Unstructured.of("cert-manager.io/v1", "Certificate")
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from steersman.errors import BadName, ProjectError
from steersman.kinds import Scheme
from steersman.names import (
    GroupVersionKind,
    check_class_kind,
    check_group,
    check_plural,
    check_version,
    plural_of,
)

# Objects that are not stored cannot be watched.
_NEVER_KEPT: Final = frozenset(
    {
        *("Binding", "ComponentStatus", "Eviction", "Scale", "TokenRequest", "TokenReview"),
        *("LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectReview"),
        *("SelfSubjectRulesReview", "SubjectAccessReview"),
    }
)

# For tests: the arguments that a kind needs besides its name, before its labels.
_RECIPES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "CronJob": ("cron_job", '"@hourly"', "CONTAINER"),
        "DaemonSet": ("daemon_set", "CONTAINER"),
        "Deployment": ("deployment", "CONTAINER"),
        "Ingress": ("ingress", 'service="web"'),
        "Job": ("job", "CONTAINER"),
        "PersistentVolumeClaim": ("pvc", '"1Gi"'),
        "Pod": ("pod", "CONTAINER"),
        "Service": ("service", "[core_v1.ServicePort(port=80)]"),
        "StatefulSet": ("stateful_set", "CONTAINER"),
    }
)

# Kinds that need no more than a name.
_PLAIN: Final = frozenset(
    {
        *("ClusterRole", "ConfigMap", "Endpoints", "Lease", "LimitRange", "Namespace"),
        *("MutatingWebhookConfiguration", "NetworkPolicy", "Node", "PodDisruptionBudget"),
        *("PriorityClass", "ResourceQuota", "Role", "Secret", "ServiceAccount"),
        "ValidatingWebhookConfiguration",
    }
)


# Names that modules and tests use, besides the class of the kind.
_BESIDE: Final = frozenset({"Anything", "Cluster", "Labels", "MergePatch", "Scenario", "StandIn"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """A kind that the project uses and does not define."""

    gvk: GroupVersionKind
    plural: str
    namespaced: bool
    module: str  # in steersman.kinds, for a built-in kind
    models: str  # the module of a generated class

    @property
    def expression(self) -> str:
        """Return the expression for the class of the kind in generated code."""
        return f"{self.module}.{self.gvk.kind}" if self.module else self.gvk.kind

    @property
    def annotation(self) -> str:
        """The type annotation for an object of the kind in generated code."""
        return self.expression if self.module or self.models else "sm.Unstructured"

    @property
    def unstructured(self) -> bool:
        """Whether there is no Python class for the kind."""
        return not (self.module or self.models)

    @property
    def example(self) -> tuple[str, Sequence[str]] | None:
        """Return the function and the arguments that create an example object of the kind.

        A generated test calls the function, with its variable ``name``. The result is ``None`` if
        no valid object of the kind is known.
        """
        if self.module and self.gvk.kind in _RECIPES:
            recipe, *arguments = _RECIPES[self.gvk.kind]
            return f"recipes.{recipe}", ["name", *arguments, "labels=labels"]
        if self.module and self.gvk.kind in _PLAIN:
            return self.expression, ["metadata=meta_v1.ObjectMeta(name=name, labels=labels)"]
        return None

    @property
    def used_by_example(self) -> frozenset[str]:
        """Return the modules of ``steersman.kinds`` that the code of ``example`` needs."""
        called, arguments = self.example or ("", ())
        text = f"{called}({', '.join(arguments)})".replace("CONTAINER", "core_v1.Container")
        modules = ("core_v1", "meta_v1", "recipes")
        return frozenset(each for each in modules if f"{each}." in text)


def foreign_kind(
    *,
    group: str,
    version: str,
    kind: str,
    plural: str | None,
    namespaced: bool,
    models: str | None,
) -> Foreign:
    """Return the kind after checking its names.

    For a built-in kind, ``plural`` and ``namespaced`` are replaced by the known values.
    """
    gvk = GroupVersionKind("" if group == "core" else group, check_version(version), kind)
    check_class_kind(kind)
    if "." in gvk.group:
        check_group(gvk.group)
    scheme = Scheme()
    if scheme.knows(gvk.api_version, kind):
        if kind in _NEVER_KEPT:
            raise ProjectError(
                problem=f"{gvk} cannot be watched, because its objects are not stored",
                what_now="Choose another kind.",
            )
        found = scheme.class_of(gvk.api_version, kind)
        return Foreign(
            gvk=gvk,
            plural=found.resource_type.plural,
            namespaced=found.resource_type.namespaced,
            module=found.__module__.rpartition(".")[2],
            models="",
        )
    if "." not in gvk.group:
        known = [each.resource_type.gvk.api_version for each in scheme.versions_of(gvk.group, kind)]
        hint = f" There is {known[0]} {kind}." if known else ""
        raise ProjectError(
            problem=f"{gvk} is not a built-in kind, and other groups contain a dot",
            what_now=f"Use group, version and kind as `kubectl api-resources` shows them.{hint}",
        )
    if kind in _BESIDE:
        rule = f"{', '.join(sorted(_BESIDE))} are names of other classes in its module"
        raise BadName(wanted="a kind for which a controller can be written", value=kind, rule=rule)
    return Foreign(
        gvk=gvk,
        plural=check_plural(plural or plural_of(kind)),
        namespaced=namespaced,
        module="",
        models=_checked(models) if models else "",
    )


def _checked(models: str) -> str:
    if not all(each.isidentifier() for each in models.split(".")):
        raise ProjectError(
            problem=f"{models!r} is not the name of a Python module",
            what_now="Use its full name, such as shop_operator.models.certificate_v1",
        )
    return models
