"""Charges of writes to the ResourceQuotas of their namespaces."""

from collections.abc import Sequence

from steersman_cluster.apiserver.builtin.cluster.quotas import RESOURCE_QUOTA
from steersman_cluster.apiserver.builtin.plugins.quota_admission import QUOTAS, charged_quotas
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.registry.request_scope import RequestScope
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.storage import Key


def charged_quotas_of(
    request: APIRequest, scope: RequestScope, kept: Object, old: Object | None
) -> Sequence[Object]:
    """Return the quotas that the write of ``kept`` over ``old`` charges, with their new usage.

    Raises an error if the write exceeds a quota of the namespace.
    """
    if not request.served.namespaced:
        return ()
    quotas = scope.store.every(QUOTAS, namespace=request.info.namespace)
    return charged_quotas(quotas, request.served.group_resource, kept, old) if quotas else ()


def charge(request: APIRequest, scope: RequestScope, quota: Object) -> None:
    """Store ``quota``, which contains its new usage."""
    key = Key(str(QUOTAS), f"{request.info.namespace}/{quota['metadata']['name']}")
    entry = scope.store.view.get(key)
    if entry is not None:
        scope.store.write(key, quota, strategy=RESOURCE_QUOTA, replacing=entry)
