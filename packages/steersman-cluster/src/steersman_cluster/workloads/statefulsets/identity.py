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
    """Return the StatefulSet's name and the ordinal that ``pod_name`` consists of.

    Return ``None`` if ``pod_name`` does not have this form.
    """
    found = _MEMBER.fullmatch(pod_name)
    if found is None or int(found["ordinal"]) > _MOST:
        return None
    return found["set"], int(found["ordinal"])


def is_member(set_name: str, pod: Pod) -> bool:
    """Return whether the name of ``pod`` consists of ``set_name`` and an ordinal."""
    found = parent_and_ordinal(pod.name)
    return found is not None and found[0] == set_name


def ordinal_of(pod: Pod) -> int:
    """Return the ordinal at the end of the name of ``pod``."""
    return int(pod.name.rpartition("-")[2])


def first_ordinal(wanted: apps_v1.StatefulSetSpec) -> int:
    """Return the ordinal of the first Pod of a StatefulSet with the spec ``wanted``."""
    return (wanted.ordinals.start or 0) if wanted.ordinals is not None else 0


def replicas_of(wanted: apps_v1.StatefulSetSpec) -> int:
    """Return the desired number of Pods of a StatefulSet with the spec ``wanted``."""
    return 1 if wanted.replicas is None else wanted.replicas


def is_in_range(wanted: apps_v1.StatefulSetSpec, pod: Pod) -> bool:
    """Return whether a StatefulSet with the spec ``wanted`` should have a Pod with this ordinal."""
    return 0 <= ordinal_of(pod) - first_ordinal(wanted) < replicas_of(wanted)


def pod_name(set_name: str, ordinal: int) -> str:
    """Return the name of the Pod with the ordinal ``ordinal`` in the StatefulSet ``set_name``."""
    return f"{set_name}-{ordinal}"


def claim_name(template: Claim, set_name: str, ordinal: int) -> str:
    """Return the name of the PersistentVolumeClaim of one Pod for a claim template.

    The name consists of the template's name, the StatefulSet's name, and the Pod's ordinal.
    """
    return f"{template.name}-{set_name}-{ordinal}"


def revision_of(pod: Pod) -> str:
    """Return the name of the revision from which ``pod`` was created."""
    return pod.labels.get(REVISION_LABEL, "")


def new_pod(
    owner: StatefulSet, template: core_v1.PodTemplateSpec, *, ordinal: int, revision: str
) -> Pod:
    """Return the Pod with the ordinal ``ordinal``, from the Pod template of a revision.

    ``template`` is that Pod template, and ``revision`` is the name of the revision.
    """
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
    """Return the volumes of the Pod with the ordinal ``ordinal``.

    There is one for each claim template of ``owner``. ``volumes`` are the volumes of the Pod
    template; a volume that has the same name as a claim template is left out.
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
    """Return the PersistentVolumeClaims of the Pod with the ordinal ``ordinal``."""
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
    """Return whether the ``pod-name`` label of ``pod`` equals its name.

    The label is ``statefulset.kubernetes.io/pod-name``.
    """
    return pod.labels.get(POD_NAME_LABEL) == pod.name


def has_storage(owner: StatefulSet, pod: Pod) -> bool:
    """Return whether ``pod`` has a volume with the right claim for each template of ``owner``."""
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
    """Return the spec of ``owner``.

    Raise ``ValueError`` if there is no spec; the API server rejects such a StatefulSet.
    """
    if owner.spec is None:
        raise ValueError(f"{owner.ref} has no spec")
    return owner.spec
