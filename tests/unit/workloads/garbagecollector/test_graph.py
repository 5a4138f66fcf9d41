"""The dependency graph, and the objects that it enqueues."""

from hypothesis import given
from hypothesis import strategies as st

from steersman.kinds.meta_v1 import OwnerReference
from steersman_cluster.workloads.garbagecollector.graph import (
    FOREGROUND,
    ORPHAN,
    DependencyGraph,
    NamespaceMismatch,
)
from tests.unit.workloads.garbagecollector.owners import (
    empty_graph,
    identity,
    metadata,
    observe,
    owner,
    work_in,
)


def pair(**rest: object) -> DependencyGraph:
    """``a`` owns ``b``, and both are observed."""
    graph = empty_graph()
    observe(graph, "a")
    observe(graph, "b", owner("a"), **rest)
    assert work_in(graph) == []
    return graph


def test_the_removal_of_an_owner_enqueues_its_dependents() -> None:
    graph = pair()

    graph.remove(identity("a"))

    assert work_in(graph) == [("collect", "b")]
    assert identity("a") in graph.absent


def test_an_owner_with_unconfirmed_removal_is_verified_and_not_absent() -> None:
    graph = pair()

    graph.remove_unconfirmed(identity("a"))

    found = graph.node("a")
    assert work_in(graph) == [("verify", "a")]
    assert identity("a") not in graph.absent
    assert found is not None
    assert found.is_virtual


def test_an_unconfirmed_owner_that_is_observed_again_keeps_its_dependents() -> None:
    graph = pair()
    graph.remove_unconfirmed(identity("a"))
    observe(graph, "a")
    work_in(graph)

    graph.remove(identity("a"))

    assert work_in(graph) == [("collect", "b")]


def test_an_unconfirmed_object_without_dependents_is_removed_from_the_graph() -> None:
    graph = pair()

    graph.remove_unconfirmed(identity("b"))

    assert graph.node("b") is None
    assert work_in(graph) == []


def test_an_owner_that_is_not_observed_is_virtual_and_verified() -> None:
    graph = empty_graph()

    observe(graph, "b", owner("a"))

    found = graph.node("a")
    assert work_in(graph) == [("verify", "a")]
    assert found is not None
    assert found.is_virtual


def test_a_virtual_owner_becomes_real_when_it_is_observed() -> None:
    graph = empty_graph()
    observe(graph, "b", owner("a"))
    work_in(graph)

    observe(graph, "a")

    found = graph.node("a")
    assert found is not None
    assert not found.is_virtual
    assert work_in(graph) == []


def test_an_absent_virtual_owner_is_removed_and_enqueues_its_dependents() -> None:
    graph = empty_graph()
    observe(graph, "b", owner("a"))
    work_in(graph)

    graph.mark_absent(identity("a"))

    assert graph.node("a") is None
    assert work_in(graph) == [("collect", "b")]
    assert identity("a") in graph.absent


def test_a_virtual_owner_without_dependents_is_removed_from_the_graph() -> None:
    graph = empty_graph()
    observe(graph, "b", owner("a"))

    observe(graph, "b")

    assert graph.node("a") is None
    assert len(graph) == 1


def test_the_start_of_foreground_deletion_enqueues_the_owner_and_its_dependents() -> None:
    graph = pair()

    observe(graph, "a", finalizers=(FOREGROUND,), ending=True)

    assert work_in(graph) == [("collect", "b"), ("collect", "a")]


def test_an_update_during_foreground_deletion_enqueues_nothing() -> None:
    graph = pair()
    observe(graph, "a", finalizers=(FOREGROUND,), ending=True)
    work_in(graph)

    observe(graph, "a", finalizers=(FOREGROUND, "example.com/other"), ending=True)

    assert work_in(graph) == []


def test_a_waiting_owner_is_enqueued_when_a_dependent_is_removed() -> None:
    graph = pair()
    observe(graph, "a", finalizers=(FOREGROUND,), ending=True)
    work_in(graph)

    graph.remove(identity("b"))

    assert work_in(graph) == [("collect", "a")]


def test_a_waiting_owner_is_enqueued_when_a_dependent_no_longer_blocks_it() -> None:
    graph = empty_graph()
    observe(graph, "a", finalizers=(FOREGROUND,), ending=True)
    observe(graph, "b", owner("a", blocks=True))
    work_in(graph)

    observe(graph, "b", owner("a", blocks=False))

    assert work_in(graph) == [("collect", "a")]


def test_only_dependents_with_blockownerdeletion_block_their_owner() -> None:
    graph = empty_graph()
    observe(graph, "a")
    observe(graph, "c", owner("a", blocks=False))
    observe(graph, "d", owner("a"))
    found = graph.node("a")
    assert found is not None
    assert not found.has_blocking_dependents

    observe(graph, "b", owner("a", blocks=True))

    assert found.has_blocking_dependents


def test_a_new_dependent_of_a_waiting_owner_is_enqueued() -> None:
    graph = empty_graph()
    observe(graph, "a", finalizers=(FOREGROUND,), ending=True)
    work_in(graph)

    observe(graph, "b", owner("a"))

    assert work_in(graph) == [("collect", "b")]


def test_an_owner_that_orphans_its_dependents_is_enqueued_only_for_that() -> None:
    graph = pair()

    observe(graph, "a", finalizers=(ORPHAN, FOREGROUND), ending=True)

    assert work_in(graph) == [("orphan", "a")]


def test_an_object_that_is_already_in_deletion_when_first_observed_is_enqueued() -> None:
    graph = empty_graph()

    observe(graph, "a", finalizers=(ORPHAN,), ending=True)

    assert work_in(graph) == [("orphan", "a")]


def test_an_owner_in_another_namespace_is_reported_and_its_dependent_enqueued() -> None:
    graph = empty_graph()
    graph.update(identity("a", namespace="solid"), metadata())

    observe(graph, "b", owner("a"))

    assert graph.take_mismatches() == [NamespaceMismatch(identity("b"), owner("a"))]
    assert work_in(graph) == [("collect", "b")]


def test_an_owner_in_another_namespace_is_reported_when_it_is_observed_last() -> None:
    graph = empty_graph()
    observe(graph, "b", owner("a"))
    work_in(graph)

    graph.update(identity("a", namespace="solid"), metadata())

    assert graph.take_mismatches() == [NamespaceMismatch(identity("b"), owner("a"))]
    assert work_in(graph) == [("collect", "b")]


def test_a_cluster_scoped_owner_can_be_referenced_from_any_namespace() -> None:
    graph = empty_graph()
    graph.update(identity("n", namespace="", kind="Node"), metadata())

    observe(graph, "b", owner("n", kind="Node"))

    assert work_in(graph) == []
    assert graph.take_mismatches() == []


def test_a_dependent_with_a_wrong_owner_name_is_enqueued() -> None:
    graph = pair()

    observe(graph, "c", owner("a", name="another"))

    assert work_in(graph) == [("collect", "c")]


def test_a_virtual_owner_is_verified_under_the_next_name_in_references() -> None:
    graph = empty_graph()
    observe(graph, "b", owner("a", name="one"))
    observe(graph, "c", owner("a", name="two"))
    work_in(graph)

    graph.mark_absent(identity("a")._replace(name="one"))

    found = graph.node("a")
    assert found is not None
    assert found.identity.name == "two"
    assert work_in(graph) == [("collect", "b")]
    assert [each.what for each in graph.take_retries()] == ["verify"]


def test_an_absent_object_of_another_name_does_not_affect_an_observed_owner() -> None:
    graph = pair()
    observe(graph, "c", owner("a", name="another"))
    work_in(graph)

    graph.mark_absent(identity("a")._replace(name="another"))

    assert graph.node("a") is not None
    assert work_in(graph) == [("collect", "c")]


def test_an_object_that_owns_itself_is_removed_from_the_graph() -> None:
    graph = empty_graph()
    observe(graph, "a", owner("a"))

    graph.remove(identity("a"))

    assert len(graph) == 0


UIDS = "abcd"
Step = tuple[str, str, list[OwnerReference], bool, list[str]]

owners = st.lists(
    st.builds(owner, st.sampled_from(UIDS), blocks=st.booleans()),
    max_size=3,
    unique_by=lambda each: each.uid,
)
steps = st.lists(
    st.tuples(
        st.sampled_from(UIDS),
        st.sampled_from(("observe", "observe", "remove_unconfirmed", "remove", "mark_absent")),
        owners,
        st.booleans(),
        st.sets(st.sampled_from((FOREGROUND, ORPHAN)), max_size=2).map(sorted),
    ),
    max_size=15,
)


@given(steps)
def test_owners_and_dependents_always_reference_each_other(events: list[Step]) -> None:
    graph = empty_graph()
    observed: dict[str, list[str]] = {}
    gone: set[str] = set()

    for uid, what, named, is_terminating, finalizers in events:
        if uid in gone:  # a uid is never used again
            continue
        match what:
            case "observe":
                observe(graph, uid, *named, ending=is_terminating, finalizers=finalizers)
                observed[uid] = [each.uid for each in named]
            case "remove_unconfirmed":
                graph.remove_unconfirmed(identity(uid))
                observed.pop(uid, None)
            case "remove":
                graph.remove(identity(uid))
                observed.pop(uid, None)
                gone.add(uid)
            case _:
                graph.mark_absent(identity(uid))
                observed.pop(uid, None)
                gone.add(uid)

    for uid, owner_uids in observed.items():
        for each in owner_uids:
            found = graph.node(each)
            assert each in gone or (found is not None and uid in found.dependents)
    for uid in UIDS:
        found = graph.node(uid)
        assert (found is not None and not found.is_virtual) == (uid in observed)
        if found is not None:
            assert all(uid in observed[each] for each in found.dependents)


@given(steps)
def test_every_dependent_of_a_removed_owner_is_enqueued(events: list[Step]) -> None:
    graph = empty_graph()
    observed: dict[str, set[str]] = {}
    for uid, _, named, _, _ in events:
        observe(graph, uid, *named)
        observed[uid] = {each.uid for each in named}
    work_in(graph)

    for gone in UIDS[:2]:
        graph.remove(identity(gone))
        observed.pop(gone, None)

    collected = {uid for what, uid in work_in(graph) if what == "collect"}
    assert {uid for uid, named in observed.items() if named & {"a", "b"}} <= collected
