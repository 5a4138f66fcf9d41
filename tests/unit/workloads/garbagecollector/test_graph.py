"""The graph of owners: who is looked at, and when."""

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
    owner,
    seen,
    work_in,
)


def pair(**rest: object) -> DependencyGraph:
    """``a`` owns ``b``, and both are known."""
    graph = empty_graph()
    seen(graph, "a")
    seen(graph, "b", owner("a"), **rest)
    assert work_in(graph) == []
    return graph


def test_dependents_are_looked_at_when_their_owner_goes() -> None:
    graph = pair()

    graph.remove(identity("a"))

    assert work_in(graph) == [("collect", "b")]
    assert identity("a") in graph.absent


def test_an_owner_of_which_nobody_tells_any_more_is_asked_for_and_not_taken_for_absent() -> None:
    graph = pair()

    graph.remove_unconfirmed(identity("a"))

    found = graph.node("a")
    assert work_in(graph) == [("verify", "a")]
    assert identity("a") not in graph.absent
    assert found is not None
    assert found.is_virtual


def test_an_owner_that_was_in_doubt_and_is_told_of_again_has_its_dependents() -> None:
    graph = pair()
    graph.remove_unconfirmed(identity("a"))
    seen(graph, "a")
    work_in(graph)

    graph.remove(identity("a"))

    assert work_in(graph) == [("collect", "b")]


def test_one_in_doubt_that_nobody_names_is_forgotten() -> None:
    graph = pair()

    graph.remove_unconfirmed(identity("b"))

    assert graph.node("b") is None
    assert work_in(graph) == []


def test_an_owner_that_nobody_has_told_of_is_asked_for() -> None:
    graph = empty_graph()

    seen(graph, "b", owner("a"))

    found = graph.node("a")
    assert work_in(graph) == [("verify", "a")]
    assert found is not None
    assert found.is_virtual


def test_an_owner_that_is_told_of_later_is_virtual_no_more() -> None:
    graph = empty_graph()
    seen(graph, "b", owner("a"))
    work_in(graph)

    seen(graph, "a")

    found = graph.node("a")
    assert found is not None
    assert not found.is_virtual
    assert work_in(graph) == []


def test_a_virtual_owner_that_is_absent_goes_and_its_dependents_are_looked_at() -> None:
    graph = empty_graph()
    seen(graph, "b", owner("a"))
    work_in(graph)

    graph.mark_absent(identity("a"))

    assert graph.node("a") is None
    assert work_in(graph) == [("collect", "b")]
    assert identity("a") in graph.absent


def test_a_virtual_owner_that_nobody_names_any_more_is_forgotten() -> None:
    graph = empty_graph()
    seen(graph, "b", owner("a"))

    seen(graph, "b")

    assert graph.node("a") is None
    assert len(graph) == 1


def test_an_owner_that_begins_to_wait_is_looked_at_with_its_dependents() -> None:
    graph = pair()

    seen(graph, "a", finalizers=(FOREGROUND,), ending=True)

    assert work_in(graph) == [("collect", "b"), ("collect", "a")]


def test_an_owner_that_goes_on_waiting_is_not_looked_at_again() -> None:
    graph = pair()
    seen(graph, "a", finalizers=(FOREGROUND,), ending=True)
    work_in(graph)

    seen(graph, "a", finalizers=(FOREGROUND, "example.com/other"), ending=True)

    assert work_in(graph) == []


def test_an_owner_that_waits_is_looked_at_when_a_dependent_goes() -> None:
    graph = pair()
    seen(graph, "a", finalizers=(FOREGROUND,), ending=True)
    work_in(graph)

    graph.remove(identity("b"))

    assert work_in(graph) == [("collect", "a")]


def test_an_owner_is_looked_at_when_a_dependent_no_longer_blocks_it() -> None:
    graph = empty_graph()
    seen(graph, "a", finalizers=(FOREGROUND,), ending=True)
    seen(graph, "b", owner("a", blocks=True))
    work_in(graph)

    seen(graph, "b", owner("a", blocks=False))

    assert work_in(graph) == [("collect", "a")]


def test_only_dependents_that_say_so_block_their_owner() -> None:
    graph = empty_graph()
    seen(graph, "a")
    seen(graph, "c", owner("a", blocks=False))
    seen(graph, "d", owner("a"))
    found = graph.node("a")
    assert found is not None
    assert not found.has_blocking_dependents

    seen(graph, "b", owner("a", blocks=True))

    assert found.has_blocking_dependents


def test_what_comes_late_to_an_owner_that_waits_is_looked_at() -> None:
    graph = empty_graph()
    seen(graph, "a", finalizers=(FOREGROUND,), ending=True)
    work_in(graph)

    seen(graph, "b", owner("a"))

    assert work_in(graph) == [("collect", "b")]


def test_an_owner_that_leaves_its_dependents_is_looked_at_for_that_alone() -> None:
    graph = pair()

    seen(graph, "a", finalizers=(ORPHAN, FOREGROUND), ending=True)

    assert work_in(graph) == [("orphan", "a")]


def test_one_that_is_ending_when_it_is_first_told_of_is_looked_at_too() -> None:
    graph = empty_graph()

    seen(graph, "a", finalizers=(ORPHAN,), ending=True)

    assert work_in(graph) == [("orphan", "a")]


def test_an_owner_in_another_namespace_is_reported_and_its_dependent_looked_at() -> None:
    graph = empty_graph()
    graph.update(identity("a", namespace="solid"), metadata())

    seen(graph, "b", owner("a"))

    assert graph.take_mismatches() == [NamespaceMismatch(identity("b"), owner("a"))]
    assert work_in(graph) == [("collect", "b")]


def test_an_owner_in_another_namespace_is_reported_when_it_is_told_of_last() -> None:
    graph = empty_graph()
    seen(graph, "b", owner("a"))
    work_in(graph)

    graph.update(identity("a", namespace="solid"), metadata())

    assert graph.take_mismatches() == [NamespaceMismatch(identity("b"), owner("a"))]
    assert work_in(graph) == [("collect", "b")]


def test_an_owner_without_a_namespace_may_be_named_from_any() -> None:
    graph = empty_graph()
    graph.update(identity("n", namespace="", kind="Node"), metadata())

    seen(graph, "b", owner("n", kind="Node"))

    assert work_in(graph) == []
    assert graph.take_mismatches() == []


def test_one_that_is_named_wrongly_is_looked_at() -> None:
    graph = pair()

    seen(graph, "c", owner("a", name="another"))

    assert work_in(graph) == [("collect", "c")]


def test_a_virtual_owner_is_asked_for_by_the_next_name_that_it_is_given() -> None:
    graph = empty_graph()
    seen(graph, "b", owner("a", name="one"))
    seen(graph, "c", owner("a", name="two"))
    work_in(graph)

    graph.mark_absent(identity("a")._replace(name="one"))

    found = graph.node("a")
    assert found is not None
    assert found.identity.name == "two"
    assert work_in(graph) == [("collect", "b")]
    assert [each.what for each in graph.take_retries()] == ["verify"]


def test_that_another_client_is_absent_says_nothing_of_an_owner_that_is_there() -> None:
    graph = pair()
    seen(graph, "c", owner("a", name="another"))
    work_in(graph)

    graph.mark_absent(identity("a")._replace(name="another"))

    assert graph.node("a") is not None
    assert work_in(graph) == [("collect", "c")]


def test_one_that_owns_itself_is_forgotten_when_it_goes() -> None:
    graph = empty_graph()
    seen(graph, "a", owner("a"))

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
        st.sampled_from(("saw", "saw", "remove_unconfirmed", "went", "absent")),
        owners,
        st.booleans(),
        st.sets(st.sampled_from((FOREGROUND, ORPHAN)), max_size=2).map(sorted),
    ),
    max_size=15,
)


@given(steps)
def test_owners_and_dependents_always_know_of_each_other(story: list[Step]) -> None:
    graph = empty_graph()
    told: dict[str, list[str]] = {}
    gone: set[str] = set()

    for uid, what, named, is_terminating, finalizers in story:
        if uid in gone:  # a uid never comes back
            continue
        match what:
            case "saw":
                seen(graph, uid, *named, ending=is_terminating, finalizers=finalizers)
                told[uid] = [each.uid for each in named]
            case "remove_unconfirmed":
                graph.remove_unconfirmed(identity(uid))
                told.pop(uid, None)
            case "went":
                graph.remove(identity(uid))
                told.pop(uid, None)
                gone.add(uid)
            case _:
                graph.mark_absent(identity(uid))
                told.pop(uid, None)
                gone.add(uid)

    for uid, owner_uids in told.items():
        for each in owner_uids:
            found = graph.node(each)
            assert each in gone or (found is not None and uid in found.dependents)
    for uid in UIDS:
        found = graph.node(uid)
        assert (found is not None and not found.is_virtual) == (uid in told)
        if found is not None:
            assert all(uid in told[each] for each in found.dependents)


@given(steps)
def test_nobody_whose_owner_went_is_forgotten(story: list[Step]) -> None:
    graph = empty_graph()
    told: dict[str, set[str]] = {}
    for uid, _, named, _, _ in story:
        seen(graph, uid, *named)
        told[uid] = {each.uid for each in named}
    work_in(graph)

    for gone in UIDS[:2]:
        graph.remove(identity(gone))
        told.pop(gone, None)

    looked_at = {uid for what, uid in work_in(graph) if what == "collect"}
    assert {uid for uid, named in told.items() if named & {"a", "b"}} <= looked_at
