"""The creation of a Pod from a template. No I/O."""

from collections.abc import Mapping

from steersman.controller import owner_reference
from steersman.kinds import Resource, core_v1, meta_v1

# The maximum for a Pod's generated name; a dash at the end of the prefix counts.
_MAX_NAME_LENGTH = 253


def pod_prefix(owner_name: str) -> str:
    """Return the ``generateName`` of the Pods of the owner named ``owner_name``."""
    return f"{owner_name}-" if len(owner_name) < _MAX_NAME_LENGTH else owner_name


def pod_from(
    template: core_v1.PodTemplateSpec,
    *,
    owner: Resource,
    name: str | None = None,
    generate_name: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    finalizers: tuple[str, ...] = (),
    spec: core_v1.PodSpec | None = None,
) -> core_v1.Pod:
    """Return a Pod from ``template``, in the namespace of ``owner`` and controlled by it.

    ``labels``, ``annotations`` and ``finalizers`` are added to those of the template. ``spec``
    replaces the template's spec. If there is no ``name``, the API server generates one from
    ``generate_name``.
    """
    inner = template.metadata or meta_v1.ObjectMeta()
    all_labels = {**(inner.labels or {}), **(labels or {})}
    all_annotations = {**(inner.annotations or {}), **(annotations or {})}
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(
            name=name,
            generate_name=None if name else generate_name or pod_prefix(owner.name),
            namespace=owner.namespace,
            labels=all_labels or None,
            annotations=all_annotations or None,
            finalizers=(*(inner.finalizers or ()), *finalizers) or None,
            owner_references=(owner_reference(owner),),
        ),
        spec=spec if spec is not None else template.spec,
    )
