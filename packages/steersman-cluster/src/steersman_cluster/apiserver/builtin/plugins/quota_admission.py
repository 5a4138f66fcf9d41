"""The admission plugin ResourceQuota, which rejects writes that exceed a quota.

The plugin charges the other writes to the quotas. It also rejects writes as long as the quota
controller has not yet written the usage into the status of a quota.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from steersman.names import GroupResource
from steersman.units import Quantity
from steersman_cluster.apiserver.builtin.plugins.quota_usage import (
    Usage,
    is_counted,
    is_in_scope,
    matching,
    missing,
    usage,
)
from steersman_cluster.apiserver.meta.status_errors import forbidden
from steersman_cluster.apiserver.meta.strategy import Object

QUOTAS: Final = GroupResource("", "resourcequotas")
# The plugin ignores these resources.
_IGNORED: Final = frozenset((GroupResource("", "events"), GroupResource("events.k8s.io", "events")))
_ZERO: Final = Quantity(0)


def charged_quotas(
    quotas: Iterable[Object], resource: GroupResource, obj: Object, old: Object | None
) -> list[Object]:
    """Return the quotas of which ``obj`` uses more than ``old``, with their new usage.

    ``quotas`` contains the quotas of the namespace. Raises a ``StatusError`` if the write exceeds a
    quota.
    """
    if resource in _IGNORED or not is_counted(resource, obj, old):
        return []
    name = obj["metadata"].get("name", "")
    counting: list[Object] = []
    for quota in quotas:
        status, called = quota.get("status") or {}, quota["metadata"]["name"]
        hard, used = status.get("hard") or {}, status.get("used") or {}
        names = matching(resource, hard)
        if not names or not is_in_scope(resource, obj, quota):
            continue
        if unsaid := missing(resource, obj, names):
            raise forbidden(resource, name, f"failed quota: {called}: must specify {unsaid}")
        if not used.keys() >= set(names):
            why = f"status unknown for quota: {called}, resources: {','.join(sorted(names))}"
            raise forbidden(resource, name, why)
        counting.append(quota)
    if not counting:
        return []
    now = usage(resource, obj)
    return [
        charged
        for quota in counting
        if (charged := _charged(quota, _more(now, resource, old, quota), resource, name))
    ]


def _more(now: Usage, resource: GroupResource, old: Object | None, quota: Object) -> Usage:
    if old is None or not is_in_scope(resource, old, quota):
        before: Usage = {}
    else:
        before = usage(resource, old)
    changes = {name: amount - before.get(name, _ZERO) for name, amount in now.items()}
    return {name: amount for name, amount in changes.items() if amount > _ZERO}


def _charged(quota: Object, more: Usage, resource: GroupResource, name: str) -> Object | None:
    status = quota["status"]
    hard, used = status["hard"], status.get("used") or {}
    asked = {each: amount for each, amount in more.items() if each in hard}
    if not asked:
        return None
    after = {each: Quantity(used.get(each, "0")) + amount for each, amount in asked.items()}
    exceeded = sorted(each for each, amount in after.items() if amount > Quantity(hard[each]))
    if exceeded:
        requested = {each: asked[each].canonical() for each in exceeded}
        why = (
            f"exceeded quota: {quota['metadata']['name']},"
            f" requested: {_shown(requested, exceeded)},"
            f" used: {_shown(used, exceeded)}, limited: {_shown(hard, exceeded)}"
        )
        raise forbidden(resource, name, why)
    changed = {**used, **{each: amount.canonical() for each, amount in after.items()}}
    return {**quota, "metadata": {**quota["metadata"]}, "status": {**status, "used": changed}}


def _shown(amounts: Mapping[str, str], names: list[str]) -> str:
    return ",".join(f"{each}={amounts[each]}" for each in names if each in amounts)
