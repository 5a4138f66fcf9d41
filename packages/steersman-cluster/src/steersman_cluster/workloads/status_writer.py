"""How a status is written: what differs, as one patch, and nothing if nothing does."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec

from steersman.client import MergePatch, StrategicMergePatch
from steersman.controller import Context
from steersman.kinds import Codec, Part, Resource, core_v1

Obj = TypeVar("Obj", bound=Resource)

# Of a Pod's status, the lists that the server merges by a key of their items, and that are one's
# own all the same.
_OWN_LISTS: Final = ("hostIPs", "podIPs")

_ENCODE = Codec().encode


async def put_status(
    ctx: Context,
    obj: Obj,
    status: Part,
    *,
    annotations: Mapping[str, str] | None = None,
    if_unchanged: bool = False,
) -> Obj:
    """The object with this status; what only the old one had is gone.

    ``annotations`` are written along with it. With ``if_unchanged``, ``Conflict`` if somebody has
    written the object since it was read.
    """
    obj = await _as_it_is(ctx, obj)
    before: Any = getattr(obj, "status", None)
    change: dict[str, Any] = {}
    if before != status:
        change = merge_difference({} if before is None else plain(before), plain(status))
    news = {
        key: text for key, text in (annotations or {}).items() if obj.annotations.get(key) != text
    }
    if not change and not news:
        return obj
    body: dict[str, Any] = {"status": change} if change else {}
    if news:
        body["metadata"] = {"annotations": news}
    if if_unchanged:
        body.setdefault("metadata", {})["resourceVersion"] = obj.resource_version
    return await ctx.patch(obj, MergePatch(body), subresource="status")


async def put_pod_status(ctx: Context, pod: core_v1.Pod, status: core_v1.PodStatus) -> core_v1.Pod:
    """The Pod with this status, and with all conditions that others have put there meanwhile.

    Whoever opens a readiness gate writes beside the kubelet, and neither takes back the other's.
    """
    pod = await _as_it_is(ctx, pod)
    if pod.status == status:
        return pod
    change = pod_difference({} if pod.status is None else plain(pod.status), plain(status))
    if not change:
        return pod
    return await ctx.patch(pod, StrategicMergePatch({"status": change}), subresource="status")


def pod_difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What a strategic merge patch says to make one status of a Pod the other."""
    change = merge_difference(before, after)
    if "conditions" in change:
        old = {each["type"]: each for each in before.get("conditions", ())}
        conditions = after.get("conditions", ())
        news = [
            {"type": each["type"], **merge_difference(old.get(each["type"], {}), each)}
            for each in conditions
            if old.get(each["type"]) != each
        ]
        del change["conditions"]
        if news:
            change["conditions"] = news
            change["$setElementOrder/conditions"] = [{"type": each["type"]} for each in conditions]
    for name in _OWN_LISTS:
        if before.get(name) and change.get(name):
            change[name] = [*change[name], {"$patch": "replace"}]
    return change


def merge_difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What a merge patch says to make one of the other, both of plain JSON."""
    change: dict[str, Any] = {name: None for name in before if name not in after}
    for name, value in after.items():
        old = before.get(name)
        if isinstance(value, dict) and isinstance(old, dict):
            inner = merge_difference(old, value)
            if inner:
                change[name] = inner
        elif old != value:
            change[name] = value
    return change


def plain(part: Any) -> Any:
    """As it is sent."""
    return msgspec.json.decode(_ENCODE(part))


async def _as_it_is(ctx: Context, obj: Obj) -> Obj:
    """The object to compare with: asked of the server, if the last look has failed."""
    if not ctx.failures:
        return obj
    # What failed may have been done all the same, and the cache may not know it yet: a status
    # that differs from what it used to be only there would be left as it is.
    live = await ctx.live.get(type(obj), obj.name, namespace=obj.namespace)
    return live if live.uid == obj.uid else obj
