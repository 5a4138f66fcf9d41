"""The identity of a StatefulSet's Pods: ordinals, names, labels and claims. No I/O."""

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

from steersman.kinds import apps_v1, core_v1, meta_v1, replace
from steersman_cluster.workloads.pods import pod_from, pod_prefix

StatefulSet: TypeAlias = apps_v1.StatefulSet
Pod: TypeAlias = core_v1.Pod
Claim: TypeAlias = core_v1.PersistentVolumeClaim

POD_NAME_LABEL: Final = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL: Final = "apps.kubernetes.io/pod-index"
REVISION_LABEL: Final = "controller-revision-hash"

# No leading zeros: each ordinal has exactly one name.
_MEMBER: Final = re.compile(r"(?P<set>.*)-(?P<ordinal>0|[1-9][0-9]*)", re.DOTALL)
_MOST: Final = 2**31 - 1


def parent_and_ordinal(pod_name: str) -> tuple[str, int] | None:
    """Return the set's name and the ordinal in a Pod's name, or ``None`` for any other name."""
    found = _MEMBER.fullmatch(pod_name)
    if found is None or int(found["ordinal"]) > _MOST:
        return None
    return found["set"], int(found["ordinal"])


def is_member(set_name: str, pod: Pod) -> bool:
    """Return whether a Pod has the name of a member of the set."""
    found = parent_and_ordinal(pod.name)
    return found is not None and found[0] == set_name


def ordinal_of(pod: Pod) -> int:
    """Return the ordinal of a Pod."""
    return int(pod.name.rpartition("-")[2])


def first_ordinal(wanted: apps_v1.StatefulSetSpec) -> int:
    """Return the ordinal of the first Pod."""
    return (wanted.ordinals.start or 0) if wanted.ordinals is not None else 0


def replicas_of(wanted: apps_v1.StatefulSetSpec) -> int:
    """Return the desired number of Pods."""
    return 1 if wanted.replicas is None else wanted.replicas


def is_in_range(wanted: apps_v1.StatefulSetSpec, pod: Pod) -> bool:
    """Return whether the set should have a Pod with this ordinal."""
    return 0 <= ordinal_of(pod) - first_ordinal(wanted) < replicas_of(wanted)


def pod_name(set_name: str, ordinal: int) -> str:
    """Return the name of the Pod with this ordinal."""
    return f"{set_name}-{ordinal}"


def claim_name(template: Claim, set_name: str, ordinal: int) -> str:
    """Return the name of a PersistentVolumeClaim: template name, StatefulSet name and ordinal."""
    return f"{template.name}-{set_name}-{ordinal}"


def revision_of(pod: Pod) -> str:
    """Return the name of the revision of a Pod."""
    return pod.labels.get(REVISION_LABEL, "")


def new_pod(
    owner: StatefulSet, template: core_v1.PodTemplateSpec, *, ordinal: int, revision: str
) -> Pod:
    """Return a new Pod with this ordinal, from the template of a revision."""
    name = pod_name(owner.name, ordinal)
    wanted = spec_of(owner)
    inner = template.spec or core_v1.PodSpec(containers=())
    pod = pod_from(
        template,
        owner=owner,
        name=name,
        labels={
            POD_NAME_LABEL: name,
            POD_INDEX_LABEL: str(ordinal),
            REVISION_LABEL: revision,
        },
        spec=replace(
            inner,
            hostname=name,
            subdomain=wanted.service_name or None,
            volumes=volumes_with_claims(owner, ordinal, inner.volumes or ()) or None,
        ),
    )
    return replace(pod, metadata=replace(pod.metadata, generate_name=pod_prefix(owner.name)))


def volumes_with_claims(
    owner: StatefulSet, ordinal: int, volumes: Iterable[core_v1.Volume]
) -> tuple[core_v1.Volume, ...]:
    """Return the Pod's volumes: one for each claim, and the other volumes of the template.

    A volume of the template is left out if a claim template has the same name.
    """
    templates = spec_of(owner).volume_claim_templates or ()
    claims = {
        each.name: core_v1.Volume(
            name=each.name,
            persistent_volume_claim=core_v1.PersistentVolumeClaimVolumeSource(
                claim_name=claim_name(each, owner.name, ordinal)
            ),
        )
        for each in templates
    }
    return (*claims.values(), *(each for each in volumes if each.name not in claims))


def claims_for(owner: StatefulSet, ordinal: int) -> tuple[Claim, ...]:
    """Return the PersistentVolumeClaims of the Pod with this ordinal."""
    wanted = spec_of(owner)
    selected = wanted.selector.match_labels or {}
    return tuple(
        core_v1.PersistentVolumeClaim(
            metadata=meta_v1.ObjectMeta(
                name=claim_name(each, owner.name, ordinal),
                namespace=owner.namespace,
                labels={**each.labels, **selected} or None,
                annotations=each.metadata.annotations,
                finalizers=each.metadata.finalizers,
            ),
            spec=each.spec,
        )
        for each in wanted.volume_claim_templates or ()
    )


def has_identity(pod: Pod) -> bool:
    """Return whether the ``statefulset.kubernetes.io/pod-name`` label equals the Pod's name."""
    return pod.labels.get(POD_NAME_LABEL) == pod.name


def has_storage(owner: StatefulSet, pod: Pod) -> bool:
    """Return whether a Pod has a volume for each of its PersistentVolumeClaims."""
    templates = spec_of(owner).volume_claim_templates
    if not templates:
        return True
    volumes = {each.name: each for each in (pod.spec.volumes if pod.spec else None) or ()}
    ordinal = ordinal_of(pod)
    for template in templates:
        volume = volumes.get(template.name)
        source = volume.persistent_volume_claim if volume is not None else None
        if source is None or source.claim_name != claim_name(template, owner.name, ordinal):
            return False
    return True


def spec_of(owner: StatefulSet) -> apps_v1.StatefulSetSpec:
    """Return the spec of the StatefulSet; raise ``ValueError`` without a spec, which the API server
    does not permit.
    """
    if owner.spec is None:
        raise ValueError(f"{owner.ref} has no spec")
    return owner.spec
