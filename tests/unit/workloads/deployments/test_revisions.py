"""The revision of a template, and the annotations of its ReplicaSet."""

from steersman.controller import controller_of
from steersman.kinds import apps_v1, replace
from steersman_cluster.workloads.deployments.revisions import (
    changed_annotations,
    cleanable,
    new_replica_set,
    next_revision,
    set_name,
)
from steersman_cluster.workloads.deployments.rollout import ReplicaLimits
from tests.unit.workloads.deployments.samples import deployment, replica_set

REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"


def test_the_newest_template_has_the_highest_number() -> None:
    olds = [replica_set("a", revision="4"), replica_set("b", revision="2"), replica_set("c")]

    assert next_revision(olds) == 5
    assert next_revision([replica_set("spoilt", revision="x")]) == 1
    assert next_revision([]) == 1


def test_annotations_are_copied_except_those_about_the_deployment_itself() -> None:
    wanted = deployment(
        annotations={
            "kubernetes.io/change-cause": "new",
            "same": "same",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
            REVISION: "9",
            "deployment.kubernetes.io/desired-replicas": "9",
        }
    )

    changes = changed_annotations(wanted, {"same": "same", "own": "1", REVISION: "1"}, 1)

    assert changes == {"kubernetes.io/change-cause": "new"}


def test_a_rollback_adds_the_old_revision_to_the_history() -> None:
    first = changed_annotations(deployment(), {REVISION: "1"}, 3)
    second = changed_annotations(deployment(), {REVISION: "3", HISTORY: "1"}, 5)

    assert first == {REVISION: "3", HISTORY: "1"}
    assert second == {REVISION: "5", HISTORY: "1,3"}


def test_a_revision_never_decreases() -> None:
    assert changed_annotations(deployment(), {REVISION: "7"}, 3) == {}
    assert changed_annotations(deployment(), {REVISION: "spoilt"}, 3) == {}


def test_a_long_revision_history_is_cut_at_the_start() -> None:
    history = ",".join(str(1000 + number) for number in range(400))

    longer = changed_annotations(deployment(), {REVISION: "5000", HISTORY: history}, 6000)[HISTORY]

    assert len(longer) <= 2000
    assert longer.startswith("1001,")
    assert longer.endswith("1399,5000")


def test_a_new_replica_set_has_the_template_and_its_hash() -> None:
    wanted = deployment(annotations={"why": "because"}, min_ready_seconds=5)

    made = new_replica_set(wanted, revision=2, size=1, limits=ReplicaLimits(replicas=3, surge=1))

    hashed = made.labels["pod-template-hash"]
    assert made.name == f"web-{hashed}"
    assert made.annotations == {
        "why": "because",
        REVISION: "2",
        "deployment.kubernetes.io/desired-replicas": "3",
        "deployment.kubernetes.io/max-replicas": "4",
    }
    spec = made.spec
    assert spec is not None
    assert spec.selector.match_labels == {"app": "web", "pod-template-hash": hashed}
    assert spec.template is not None
    assert spec.template.metadata is not None
    assert spec.template.metadata.labels == made.labels
    assert (spec.replicas, spec.min_ready_seconds) == (1, 5)
    owner = controller_of(made)
    assert owner is not None
    assert owner.uid == "uid-of-web"


def test_a_collision_count_changes_the_name() -> None:
    before = deployment()
    after = replace(before, status=apps_v1.DeploymentStatus(collision_count=1))
    limits = ReplicaLimits(replicas=3)

    names = {
        new_replica_set(each, revision=1, size=3, limits=limits).name for each in (before, after)
    }

    assert len(names) == 2


def test_a_long_name_is_cut_before_the_hash() -> None:
    assert set_name("x" * 253, "5d8c9") == "x" * 247 + "-5d8c9"


def test_the_oldest_revisions_beyond_the_limit_are_deleted() -> None:
    olds = [replica_set(f"r{number}", revision=str(number)) for number in (3, 1, 2)]

    assert [rs.name for rs in cleanable(olds, 1)] == ["r1", "r2"]
    assert cleanable(olds, 3) == []
    assert cleanable(olds, None) == []


def test_a_replica_set_with_pods_or_without_an_observed_status_is_kept() -> None:
    olds = [
        replica_set("wants", revision="1", size=1),
        replica_set("has", revision="2", pods=1),
        replica_set("unseen", revision="3", generation=2),
        replica_set("idle", revision="4"),
    ]

    assert [rs.name for rs in cleanable(olds, 0)] == ["idle"]
