"""The status writer, which sends the changed fields of a status as one patch.

If no field has changed, no request is sent.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec

from steersman.client import MergePatch, StrategicMergePatch
from steersman.controller import Context
from steersman.kinds import Codec, Part, Resource, core_v1

Obj = TypeVar("Obj", bound=Resource)

# Lists of a Pod's status that the server merges by key, but that have a single writer.
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
    """Change the status of ``obj`` to ``status``, and remove fields that ``status`` lacks.

    ``annotations`` are written in the same patch. With ``if_unchanged``, raise ``Conflict`` if the
    object has changed since it was read.
    """
    obj = await _current(ctx, obj)
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
    """Change the status of ``pod`` to ``status``, and preserve conditions of other writers.

    For example, a controller that sets a readiness gate and the kubelet both write conditions of
    the same Pod. Neither removes the other's conditions.
    """
    pod = await _current(ctx, pod)
    if pod.status == status:
        return pod
    change = pod_difference({} if pod.status is None else plain(pod.status), plain(status))
    if not change:
        return pod
    return await ctx.patch(pod, StrategicMergePatch({"status": change}), subresource="status")


def pod_difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the strategic merge patch that changes the Pod status ``before`` to ``after``."""
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
    """Return the merge patch that changes the JSON object ``before`` to ``after``."""
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
    """Return ``part`` as plain dictionaries, lists and scalars, as decoded from JSON."""
    return msgspec.json.decode(_ENCODE(part))


async def _current(ctx: Context, obj: Obj) -> Obj:
    """Return the object to compare with: the live object if the last reconcile has failed,
    otherwise ``obj``.
    """
    if not ctx.failures:
        return obj
    # A failed write may have taken effect without the cache having it yet. Compared with the cache,
    # a status that equals the old one would then not be written.
    live = await ctx.live.get(type(obj), obj.name, namespace=obj.namespace)
    return live if live.uid == obj.uid else obj
