"""The creation of a Job's Pods, with the tracking finalizer and a completion index. No I/O."""

from typing import Final

from steersman.client import StrategicMergePatch
from steersman.kinds import batch_v1, core_v1
from steersman.kinds.base import replace
from steersman_cluster.workloads.jobs.accessors import (
    COMPLETION_INDEX,
    INDEX_FAILURES,
    INDEX_IGNORED_FAILURES,
    NO_INDEX,
    TRACKING,
    ignored_index_failures,
    index_failures,
    spec_of,
)
from steersman_cluster.workloads.jobs.policies import failure_effect
from steersman_cluster.workloads.pods import pod_from

Job = batch_v1.Job
Pod = core_v1.Pod

#: The patch that removes the finalizer of a Pod that is counted.
RELEASE: Final = StrategicMergePatch(
    {"metadata": {"$deleteFromPrimitiveList/finalizers": [TRACKING]}}
)

# The server adds five letters, and a Pod's hostname is a label.
_MAX_PREFIX_LENGTH: Final = 58
_VARIABLE: Final = core_v1.EnvVar(
    name="JOB_COMPLETION_INDEX",
    value_from=core_v1.EnvVarSource(
        field_ref=core_v1.ObjectFieldSelector(field_path=f"metadata.labels['{COMPLETION_INDEX}']")
    ),
)


def pod_for(job: Job, index: int = NO_INDEX, replaced: Pod | None = None) -> Pod:
    """Return the Pod that ``job`` creates for the completion index ``index``.

    If the Pod replaces a failed Pod, ``replaced`` is the failed Pod.
    """
    spec = spec_of(job)
    template = spec.template
    inner = template.metadata.finalizers if template.metadata is not None else None
    finalizers = () if TRACKING in (inner or ()) else (TRACKING,)
    if index == NO_INDEX:
        return pod_from(template, owner=job, finalizers=finalizers)
    number = str(index)
    annotations = {COMPLETION_INDEX: number}
    if spec.backoff_limit_per_index is not None:
        annotations |= _failures(spec, replaced)
    return pod_from(
        template,
        owner=job,
        generate_name=index_prefix(job.name, index),
        labels={COMPLETION_INDEX: number},
        annotations=annotations,
        finalizers=finalizers,
        spec=_with_index(template.spec, f"{job.name}-{number}"),
    )


def index_prefix(name: str, index: int) -> str:
    """Return the ``generateName`` of a Pod: the Job's name ``name`` and the index ``index``.

    If this prefix would be too long, ``name`` is cut, but never the index.
    """
    end = f"-{index}-"
    return name[: _MAX_PREFIX_LENGTH - len(end)] + end


def _failures(spec: batch_v1.JobSpec, replaced: Pod | None) -> dict[str, str]:
    """Return the annotations that record how often this index has failed."""
    if replaced is None:
        return {INDEX_FAILURES: "0"}
    counts = failure_effect(spec.pod_failure_policy, replaced).counts
    ignored = ignored_index_failures(replaced) + (not counts)
    annotations = {INDEX_FAILURES: str(index_failures(replaced) + counts)}
    if ignored:
        annotations[INDEX_IGNORED_FAILURES] = str(ignored)
    return annotations


def _with_index(spec: core_v1.PodSpec | None, hostname: str) -> core_v1.PodSpec | None:
    if spec is None:
        return None
    return replace(
        spec,
        hostname=hostname,
        containers=tuple(map(_with_index_variable, spec.containers)),
        init_containers=None
        if spec.init_containers is None
        else tuple(map(_with_index_variable, spec.init_containers)),
    )


def _with_index_variable(container: core_v1.Container) -> core_v1.Container:
    env = container.env or ()
    if any(each.name == _VARIABLE.name for each in env):
        return container
    return replace(container, env=(*env, _VARIABLE))
