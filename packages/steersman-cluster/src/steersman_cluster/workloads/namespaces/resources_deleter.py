"""The deletion of a namespace's content: Pods first, then the other kinds one by one.

The result is a report of the objects that are left.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from steersman.client import Client, Discovery, ServedResource
from steersman.errors import MethodNotAllowed, NotFound, SteersmanError
from steersman.kinds import MetadataOnly, core_v1, metadata_only
from steersman_cluster.workloads.api_errors import error_message
from steersman_cluster.workloads.namespaces.conditions import Findings, ObjectsWithFinalizers

# How long the controller waits for finalizers before the next attempt.
FINALIZER_SECONDS: Final = 15

_ENDED: Final = ("Succeeded", "Failed")


def deletable(discovery: Discovery) -> Iterator[ServedResource]:
    """Yield each namespaced kind in ``discovery`` that supports delete.

    A kind that is served in several versions is yielded once, in its preferred version.
    """
    seen: set[tuple[str, str]] = set()
    for each in discovery.resources:
        found = each.resource_type
        resource = found.gvk.group, found.plural
        if found.namespaced and "delete" in each.verbs and resource not in seen:
            seen.add(resource)
            yield each


async def delete_all(client: Client, namespace: str, *, deletion_time: datetime) -> Findings:
    """Delete all objects in ``namespace``, and return which objects are left and why."""
    discovery = await client.discover()
    findings = Findings(stale=discovery.stale)
    kinds = list(deletable(discovery))
    pods = next((each for each in kinds if _is_pods(each)), None)
    if pods is not None:
        waited_seconds = (client.clock.now() - deletion_time).total_seconds()
        await _delete_kind(client, pods, namespace, findings, waited_seconds)
        if findings.remaining:
            findings.is_counted = False
            return findings
    for each in kinds:
        if each is not pods:
            await _delete_kind(client, each, namespace, findings, 0.0)
    return findings


async def is_unchanged(client: Client, namespace: str, findings: Findings) -> bool:
    """Return whether the objects with finalizers are still the same as in ``findings``.

    If so, another attempt to delete these objects would have no effect.
    """
    if findings.has_failed or not findings.is_counted or not findings.objects_with_finalizers:
        return False
    for where, held in findings.objects_with_finalizers.items():
        if _objects_with_finalizers(await _listed(client, metadata_only(where), namespace)) != held:
            return False
    return True


async def _delete_kind(
    client: Client,
    served: ServedResource,
    namespace: str,
    findings: Findings,
    waited_seconds: float,
) -> None:
    """Delete all objects of one kind; an error does not affect other kinds."""
    try:
        estimate_seconds, left = await _left_of(client, served, namespace, waited_seconds)
    except SteersmanError as error:
        findings.failures.append(error_message(error))
        return
    if not left:
        return
    where = served.resource_type
    finalizers = Counter(name for each in left for name in each.metadata.finalizers or ())
    findings.remaining[f"{where.plural}.{where.gvk.group}"] = len(left)
    findings.objects_with_finalizers[where] = _objects_with_finalizers(left)
    for name, count in finalizers.items():
        findings.finalizers[name] = findings.finalizers.get(name, 0) + count
    if not estimate_seconds and not finalizers:
        gvr = f"{where.gvk.group}/{where.gvk.version}, Resource={where.plural}"
        findings.failures.append(
            f"unexpected items still remain in namespace: {namespace} for gvr: {gvr}"
        )
    elif not estimate_seconds:
        estimate_seconds = FINALIZER_SECONDS
    findings.estimate_seconds = max(findings.estimate_seconds, estimate_seconds)


async def _left_of(
    client: Client, served: ServedResource, namespace: str, waited_seconds: float
) -> tuple[int, Sequence[MetadataOnly]]:
    kind = metadata_only(served.resource_type)
    # List first: most kinds have no objects there, and a list costs less than a deletion.
    there = await _listed(client, kind, namespace)
    if not there:
        return 0, ()
    estimate_seconds = 0
    if _is_pods(served):
        estimate_seconds = await _grace_seconds(client, namespace)
        if waited_seconds >= estimate_seconds:
            estimate_seconds = 0
    # Neither in the foreground nor with orphans: dependents are deleted as well.
    if "deletecollection" in served.verbs:
        await client.delete_all(kind, namespace=namespace, propagation="Background")
    else:
        for each in there:
            try:
                await client.delete(kind, each.name, namespace=namespace, propagation="Background")
            except (NotFound, MethodNotAllowed):
                continue
    return estimate_seconds, await _listed(client, kind, namespace)


async def _listed(
    client: Client, kind: type[MetadataOnly], namespace: str
) -> Sequence[MetadataOnly]:
    try:
        return (await client.list(kind, namespace=namespace)).items
    except (NotFound, MethodNotAllowed):
        return ()  # The kind is no longer served, or cannot be listed: there is nothing to do.


async def _grace_seconds(client: Client, namespace: str) -> int:
    """Return the longest grace period of the Pods that still run."""
    pods = (await client.list(core_v1.Pod, namespace=namespace)).items
    return max(
        (
            pod.spec.termination_grace_period_seconds or 0
            for pod in pods
            if pod.spec is not None and not (pod.status is not None and pod.status.phase in _ENDED)
        ),
        default=0,
    )


def _objects_with_finalizers(left: Sequence[MetadataOnly]) -> ObjectsWithFinalizers:
    return tuple((each.uid, each.metadata.finalizers or ()) for each in left)


def _is_pods(served: ServedResource) -> bool:
    return (served.resource_type.gvk.group, served.resource_type.plural) == ("", "pods")
