"""What a write uses up of the ResourceQuotas of its namespace."""

from collections.abc import Sequence

from steersman_cluster.apiserver.builtin.cluster.quotas import RESOURCE_QUOTA
from steersman_cluster.apiserver.builtin.plugins.quota_admission import QUOTAS, charged_quotas
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.registry.call import Call
from steersman_cluster.apiserver.storage import Key


def charged_quotas_of(call: Call, kept: Object, old: Object | None) -> Sequence[Object]:
    """The quotas that the write uses up something of, as they are then; it may be refused."""
    if not call.served.namespaced:
        return ()
    quotas = call.store.every(QUOTAS, namespace=call.asked.namespace)
    return charged_quotas(quotas, call.served.group_resource, kept, old) if quotas else ()


def charge(call: Call, quota: Object) -> None:
    """Keep what is now used of a quota."""
    key = Key(str(QUOTAS), f"{call.asked.namespace}/{quota['metadata']['name']}")
    entry = call.store.view.get(key)
    if entry is not None:
        call.store.write(key, quota, rules=RESOURCE_QUOTA, replacing=entry)
