"""The Pods that the Job controller creates."""

from steersman.kinds import batch_v1
from steersman.kinds.base import replace
from steersman_cluster.workloads.jobs.accessors import (
    COMPLETION_INDEX,
    INDEX_FAILURES,
    INDEX_IGNORED_FAILURES,
    TRACKING,
)
from steersman_cluster.workloads.jobs.pod_factory import index_prefix, pod_for
from tests.unit.workloads.jobs.samples import indexed, job, pod
from tests.unit.workloads.jobs.test_policies import on_codes, policy


def test_a_pod_of_a_job_has_its_finalizer_and_its_owner() -> None:
    made = pod_for(job())

    assert made.metadata.finalizers == (TRACKING,)
    assert made.metadata.generate_name == "work-"
    assert made.labels == {"job": "work"}
    assert [owner.uid for owner in made.metadata.owner_references or ()] == ["job-uid"]


def test_a_pod_of_an_indexed_job_has_its_index() -> None:
    made = pod_for(indexed(completions=3), 2)

    assert made.metadata.generate_name == "work-2-"
    assert made.labels == {"job": "work", COMPLETION_INDEX: "2"}
    assert made.annotations == {COMPLETION_INDEX: "2"}
    assert made.spec is not None
    assert made.spec.hostname == "work-2"
    assert [
        (each.name, each.value_from.field_ref.field_path)
        for container in made.spec.containers
        for each in container.env or ()
        if each.value_from is not None and each.value_from.field_ref is not None
    ] == [("JOB_COMPLETION_INDEX", f"metadata.labels['{COMPLETION_INDEX}']")]


def test_a_finalizer_in_the_template_is_not_duplicated() -> None:
    given = job()
    assert given.spec is not None
    template = given.spec.template
    assert template.metadata is not None
    metadata = replace(template.metadata, finalizers=(TRACKING,))
    spec = replace(given.spec, template=replace(template, metadata=metadata))

    assert pod_for(replace(given, spec=spec)).metadata.finalizers == (TRACKING,)


def test_a_long_name_is_cut_before_the_index() -> None:
    assert index_prefix("a" * 70, 123) == "a" * 53 + "-123-"


def test_a_replacement_pod_has_the_failure_count_of_its_index() -> None:
    given = indexed(completions=3, backoff_limit_per_index=5)

    first = pod_for(given, 1)
    third = pod_for(given, 1, pod("p", "Failed", index=1, failures=1))

    assert first.annotations == {COMPLETION_INDEX: "1", INDEX_FAILURES: "0"}
    assert third.annotations == {COMPLETION_INDEX: "1", INDEX_FAILURES: "2"}


def test_an_ignored_failure_has_its_own_counter() -> None:
    rules: batch_v1.PodFailurePolicy = policy(on_codes("Ignore", "In", 7))
    given = indexed(completions=3, backoff_limit_per_index=5, pod_failure_policy=rules)

    made = pod_for(given, 1, pod("p", "Failed", index=1, failures=1, exit_code=7))

    assert made.annotations[INDEX_FAILURES] == "1"
    assert made.annotations[INDEX_IGNORED_FAILURES] == "1"
