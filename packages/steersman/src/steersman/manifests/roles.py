"""The roles of the operator with their bindings, and roles for users of its kinds.

``controller.rbac`` derives the rules, and the preflight of ``manager`` checks the same rules. An
operator that manages only some namespaces has a Role in each of them, and a ClusterRole only for
cluster-scoped resources.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from steersman.controller import RbacRule, policy_rules, rules_by_namespace
from steersman.kinds import core_v1, meta_v1, rbac_v1
from steersman.manager import metrics_rules, needed_rules
from steersman.manifests.documents import Document, as_document
from steersman.manifests.installation import Installation

_GROUP: Final = "rbac.authorization.k8s.io"

_READ: Final = ("get", "list", "watch")
_WRITE: Final = ("create", "update", "patch", "delete", "deletecollection")
_CHANGE: Final = ("get", "update", "patch")


def service_account(installation: Installation) -> Document:
    """Return the ServiceAccount of the operator."""
    return as_document(
        core_v1.ServiceAccount(
            metadata=_meta(installation, installation.name, installation.namespace),
            # Only the operator's own Pods use its token, and they request it.
            automount_service_account_token=False,
        )
    )


def operator_grants(installation: Installation) -> tuple[Document, ...]:
    """Return the roles that the operator needs, each with its binding."""
    settings = installation.settings
    asides = metrics_rules(settings)
    needed = needed_rules(
        installation.controllers,
        settings=settings,
        namespace=installation.namespace,
        runnables=installation.runnables,
        caches=installation.caches,
    )
    extra = (
        rule
        for each in installation.deploy.rules
        for rule in each.rules(installation.settings.namespaces)
    )
    work = (*(rule for rule in needed if rule not in asides), *extra)
    return tuple(
        document
        for place, rules in rules_by_namespace(work).items()
        for document in _granted(installation, installation.name, place, rules)
    )


def metrics_grants(installation: Installation) -> tuple[Document, ...]:
    """Return the roles, with bindings, for the operator to check who may read its metrics.

    The result is empty if metrics are disabled.
    """
    rules = metrics_rules(installation.settings)
    return tuple(_granted(installation, f"{installation.name}-metrics-access", None, rules))


def metrics_reader(installation: Installation) -> Document | None:
    """Return the ClusterRole that permits reading the metrics, or ``None`` without metrics.

    An administrator binds this role to the readers.
    """
    if not installation.metrics:
        return None
    rule = rbac_v1.PolicyRule(non_resource_urls=("/metrics",), verbs=("get",))
    name = f"{installation.name}-metrics-reader"
    return as_document(rbac_v1.ClusterRole(metadata=_meta(installation, name), rules=(rule,)))


def user_roles(installation: Installation, crds: Iterable[Document]) -> tuple[Document, ...]:
    """Return the admin, editor and viewer roles for each kind that ``crds`` define.

    Kubernetes aggregates these roles to the default roles of the cluster: admin, edit and view.
    """
    return tuple(
        as_document(
            rbac_v1.ClusterRole(
                metadata=_meta(
                    installation,
                    f"{crd['metadata']['name']}-{role}",
                    labels={f"{_GROUP}/aggregate-to-{cluster_role}": "true"},
                ),
                rules=rules,
            )
        )
        for crd in crds
        for role, cluster_role, rules in _roles_of(crd["spec"])
    )


def _roles_of(spec: Mapping[str, Any]) -> Iterator[tuple[str, str, tuple[rbac_v1.PolicyRule, ...]]]:
    group, plural = spec["group"], spec["names"]["plural"]
    below = {each for version in spec["versions"] for each in version.get("subresources", ())}
    has_status, has_scale = "status" in below, "scale" in below

    def rule(resource: str, *verbs: str) -> rbac_v1.PolicyRule:
        return rbac_v1.PolicyRule(api_groups=(group,), resources=(resource,), verbs=verbs)

    def rules(own: tuple[str, ...], status: tuple[str, ...], scale: tuple[str, ...]) -> Any:
        yield rule(plural, *own)
        if has_status:
            yield rule(f"{plural}/status", *status)
        if has_scale:
            yield rule(f"{plural}/scale", *scale)

    # The operator writes the status; an admin may have to when the operator is gone.
    yield "admin", "admin", tuple(rules((*_READ, *_WRITE), _CHANGE, _CHANGE))
    yield "editor", "edit", tuple(rules((*_READ, *_WRITE), ("get",), _CHANGE))
    yield "viewer", "view", tuple(rules(_READ, ("get",), ("get",)))


def _granted(
    installation: Installation, name: str, place: str | None, rules: tuple[RbacRule, ...]
) -> Iterator[Document]:
    if not rules:
        return
    policy = policy_rules(rules)
    meta = _meta(installation, name, place)
    subject = rbac_v1.Subject(
        kind="ServiceAccount", name=installation.name, namespace=installation.namespace
    )
    if place is None:
        reference = rbac_v1.RoleRef(api_group=_GROUP, kind="ClusterRole", name=name)
        yield as_document(rbac_v1.ClusterRole(metadata=meta, rules=policy))
        yield as_document(
            rbac_v1.ClusterRoleBinding(metadata=meta, role_ref=reference, subjects=(subject,))
        )
    else:
        reference = rbac_v1.RoleRef(api_group=_GROUP, kind="Role", name=name)
        yield as_document(rbac_v1.Role(metadata=meta, rules=policy))
        yield as_document(
            rbac_v1.RoleBinding(metadata=meta, role_ref=reference, subjects=(subject,))
        )


def _meta(
    installation: Installation,
    name: str,
    namespace: str | None = None,
    *,
    labels: Mapping[str, str] | None = None,
) -> meta_v1.ObjectMeta:
    return meta_v1.ObjectMeta(
        name=name, namespace=namespace, labels={**installation.labels, **(labels or {})}
    )
