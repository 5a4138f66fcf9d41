"""A namespace emptied, kind by kind, Pods first; and what is left of it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from steersman.client import Client, Discovery, ServedResource
from steersman.errors import MethodNotAllowed, NotFound, SteersmanError
from steersman.kinds import MetadataOnly, core_v1, metadata_only
from steersman_cluster.workloads.api_errors import said
from steersman_cluster.workloads.namespaces.conditions import Findings, Held

# How long what has finalizers is given, before anybody looks again.
FINALIZER_SECONDS: Final = 15

_ENDED: Final = ("Succeeded", "Failed")


def deletable(discovery: Discovery) -> Iterator[ServedResource]:
    """Each kind that is in namespaces and can be deleted, in the version that is preferred."""
    seen: set[tuple[str, str]] = set()
    for each in discovery.resources:
        found = each.resource_type
        resource = found.gvk.group, found.plural
        if found.namespaced and "delete" in each.verbs and resource not in seen:
            seen.add(resource)
            yield each


async def empty(client: Client, namespace: str, *, deletion_time: datetime) -> Findings:
    """Ask for the end of everything in a namespace; what has not come to its end, and why."""
    discovery = await client.discover()
    findings = Findings(stale=discovery.stale)
    kinds = list(deletable(discovery))
    pods = next((each for each in kinds if _is_pods(each)), None)
    if pods is not None:
        waited_seconds = (client.clock.now() - deletion_time).total_seconds()
        await _empty_of(client, pods, namespace, findings, waited_seconds)
        if findings.remaining:
            findings.is_counted = False
            return findings
    for each in kinds:
        if each is not pods:
            await _empty_of(client, each, namespace, findings, 0.0)
    return findings


async def is_as_found(client: Client, namespace: str, findings: Findings) -> bool:
    """Whether what finalizers held is held as it was, so that there is nothing new to be done."""
    if findings.has_failed or not findings.is_counted or not findings.held:
        return False
    for where, held in findings.held.items():
        if _held(await _listed(client, metadata_only(where), namespace)) != held:
            return False
    return True


async def _empty_of(
    client: Client,
    served: ServedResource,
    namespace: str,
    findings: Findings,
    waited_seconds: float,
) -> None:
    """Ask for the end of all objects of one kind; its trouble is no other kind's."""
    try:
        estimate_seconds, left = await _left_of(client, served, namespace, waited_seconds)
    except SteersmanError as error:
        findings.failures.append(said(error))
        return
    if not left:
        return
    where = served.resource_type
    finalizers = Counter(name for each in left for name in each.metadata.finalizers or ())
    findings.remaining[f"{where.plural}.{where.gvk.group}"] = len(left)
    findings.held[where] = _held(left)
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
    # Looked for first: most kinds have nothing there, and a question costs less than a deletion.
    there = await _listed(client, kind, namespace)
    if not there:
        return 0, ()
    estimate_seconds = 0
    if _is_pods(served):
        estimate_seconds = await _grace_seconds(client, namespace)
        if waited_seconds >= estimate_seconds:
            estimate_seconds = 0
    # Not in the foreground, nor so that dependents stay: they are all to go.
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
        return ()  # It was served a moment ago, or cannot be listed: there is nothing to be done.


async def _grace_seconds(client: Client, namespace: str) -> int:
    """How long the Pods that run may take to end."""
    pods = (await client.list(core_v1.Pod, namespace=namespace)).items
    return max(
        (
            pod.spec.termination_grace_period_seconds or 0
            for pod in pods
            if pod.spec is not None and not (pod.status is not None and pod.status.phase in _ENDED)
        ),
        default=0,
    )


def _held(left: Sequence[MetadataOnly]) -> Held:
    return tuple((each.uid, each.metadata.finalizers or ()) for each in left)


def _is_pods(served: ServedResource) -> bool:
    return (served.resource_type.gvk.group, served.resource_type.plural) == ("", "pods")
