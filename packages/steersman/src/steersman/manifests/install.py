"""The objects of an installation: by name, and in the order in which to apply them."""

from dataclasses import dataclass, fields
from typing import Any

from steersman.manifests import deployment, roles
from steersman.manifests.crd import crds_of
from steersman.manifests.documents import Document, as_document
from steersman.manifests.installation import Installation


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallManifests:
    """The objects of an installation, by purpose.

    If metrics are disabled, the fields for the objects that serve metrics are empty or ``None``.
    """

    namespace: Document
    crds: tuple[Document, ...]
    account: Document
    # The operator's own permissions, and those to authorize readers of its metrics.
    grants: tuple[Document, ...]
    metrics_grants: tuple[Document, ...]
    # The roles that need bindings: to Prometheus, and to users.
    metrics_reader: Document | None
    user_roles: tuple[Document, ...]
    deployment: Document
    metrics_service: Document | None
    disruption_budget: Document
    network_policy: Document
    # Not part of ``in_order``, because the server rejects it without a Prometheus operator.
    monitor: Document | None

    @property
    def in_order(self) -> tuple[Document, ...]:
        """Return the objects that every cluster accepts, each after the objects that it needs."""
        maybe = (
            self.namespace,
            *self.crds,
            self.account,
            *self.grants,
            *self.metrics_grants,
            self.metrics_reader,
            *self.user_roles,
            self.network_policy,
            self.disruption_budget,
            self.metrics_service,
            self.deployment,
        )
        return tuple(each for each in maybe if each is not None)


def parts_of(installation: Installation) -> InstallManifests:
    """Return all objects of an installation."""
    crds = crd_documents(installation)
    parts = InstallManifests(
        namespace=deployment.namespace(installation),
        crds=crds,
        account=roles.service_account(installation),
        grants=roles.operator_grants(installation),
        metrics_grants=roles.metrics_grants(installation),
        metrics_reader=roles.metrics_reader(installation),
        user_roles=roles.user_roles(installation, crds),
        deployment=deployment.deployment(installation),
        metrics_service=deployment.metrics_service(installation),
        disruption_budget=deployment.disruption_budget(installation),
        network_policy=deployment.network_policy(installation),
        monitor=deployment.service_monitor(installation),
    )
    if not installation.deploy.labels and not installation.deploy.annotations:
        return parts
    return InstallManifests(
        **{
            each.name: _with_common_metadata(getattr(parts, each.name), installation)
            for each in fields(parts)
        }
    )


def _with_common_metadata(part: Any, installation: Installation) -> Any:
    """Return the objects with the operator author's labels and annotations for every object."""
    if part is None:
        return None
    if isinstance(part, tuple):
        return tuple(_with_common_metadata(each, installation) for each in part)
    metadata = part["metadata"]
    common = {
        "labels": {**installation.deploy.labels, **metadata.get("labels", {})},
        "annotations": {**installation.deploy.annotations, **metadata.get("annotations", {})},
    }
    added = {key: value for key, value in common.items() if value}
    return {**part, "metadata": {**metadata, **added}}


def crd_documents(installation: Installation) -> tuple[Document, ...]:
    """Return the CRDs of the kinds that the operator defines, sorted by name."""
    crds = map(as_document, crds_of(installation.kinds))
    return tuple(sorted(crds, key=lambda crd: str(crd["metadata"]["name"])))


def install_documents(installation: Installation) -> tuple[Document, ...]:
    """Return the objects that every cluster accepts, in the order in which to apply them."""
    return parts_of(installation).in_order
