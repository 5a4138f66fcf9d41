"""The graph builder: changes of the graph by events of a kind."""

from steersman.cache import Added, Deleted
from steersman.errors import InvalidObject
from steersman.kinds import MetadataOnly, core_v1, metadata_only
from steersman.kinds.meta_v1 import ObjectMeta, OwnerReference
from steersman.names import ObjectKey
from steersman_cluster.workloads.garbagecollector.graph import DependencyGraph
from steersman_cluster.workloads.garbagecollector.graph_builder import GraphBuilder
from tests.unit.cache.sample_objects import by_key
from tests.unit.workloads.garbagecollector.owners import (
    ENDING,
    empty_graph,
    identity,
    owner,
    work_in,
)

ConfigMaps = metadata_only(core_v1.ConfigMap)


class CountingBuilder:
    """A graph builder, and how often it called each callback."""

    def __init__(self, graph: DependencyGraph, kind: type[MetadataOnly] = ConfigMaps) -> None:
        self.on_change = self.on_synced = self.on_delete = 0
        self.builder = GraphBuilder(
            kind.resource_type,
            graph,
            definitions=None,
            on_change=self._mark_changed,
            on_synced=self._mark_synced,
            on_delete=self._mark_terminating,
        )

    def _mark_changed(self) -> None:
        self.on_change += 1

    def _mark_synced(self) -> None:
        self.on_synced += 1

    def _mark_terminating(self) -> None:
        self.on_delete += 1


def config_map(uid: str, *owners: OwnerReference) -> MetadataOnly:
    return ConfigMaps(
        metadata=ObjectMeta(name=uid, namespace="here", uid=uid, owner_references=owners or None)
    )


def replaced(
    counting: CountingBuilder, *objects: MetadataOnly, invalid: tuple[InvalidObject, ...] = ()
) -> None:
    counting.builder.replace(by_key(objects), invalid, "1", rewound=False)


def test_a_list_is_applied_with_one_notification() -> None:
    graph = empty_graph()
    counting = CountingBuilder(graph)

    replaced(counting, config_map("b", owner("a")), config_map("a"))

    found = graph.node("a")
    assert (counting.on_change, counting.on_synced) == (1, 1)
    assert found is not None
    assert not found.is_virtual
    assert [*found.dependents] == ["b"]


def test_an_object_missing_from_a_later_list_is_verified() -> None:
    graph = empty_graph()
    counting = CountingBuilder(graph)
    replaced(counting, config_map("a"), config_map("b", owner("a")))

    replaced(counting, config_map("b", owner("a")))

    assert work_in(graph) == [("verify", "a")]
    assert identity("a") not in graph.absent


def test_an_undecodable_object_counts_as_present() -> None:
    graph = empty_graph()
    counting = CountingBuilder(graph)
    replaced(counting, config_map("a"), config_map("b", owner("a")))
    undecodable = InvalidObject(ref="a", into="x", problem="y", body={"metadata": {"uid": "a"}})

    replaced(counting, config_map("b", owner("a")), invalid=(undecodable,))

    assert work_in(graph) == []


def test_a_delete_event_removes_the_object() -> None:
    graph = empty_graph()
    counting = CountingBuilder(graph)
    replaced(counting, config_map("a"), config_map("b", owner("a")))

    counting.builder.delete(config_map("a"))

    assert work_in(graph) == [("collect", "b")]
    assert identity("a") in graph.absent


def test_the_deltas_of_an_informer_have_the_same_effect() -> None:
    graph = empty_graph()
    counting = CountingBuilder(graph)
    for obj in (config_map("a"), config_map("b", owner("a"))):
        counting.builder.handle(Added(obj, ObjectKey("here", obj.name)))

    counting.builder.handle(Deleted(config_map("a"), ObjectKey("here", "a")))

    assert work_in(graph) == [("collect", "b")]
    assert identity("a") in graph.absent


def test_an_object_whose_deletion_the_informer_missed_is_verified() -> None:
    graph = empty_graph()
    counting = CountingBuilder(graph)
    for obj in (config_map("a"), config_map("b", owner("a"))):
        counting.builder.handle(Added(obj, ObjectKey("here", obj.name)))

    counting.builder.handle(Deleted(config_map("a"), ObjectKey("here", "a"), is_missed=True))

    assert work_in(graph) == [("verify", "a")]


def test_the_deletion_of_a_cluster_scoped_object_is_reported() -> None:
    nodes = metadata_only(core_v1.Node)
    counting = CountingBuilder(empty_graph(), nodes)
    counting.builder.upsert(nodes(metadata=ObjectMeta(name="n", uid="n")))
    assert counting.on_delete == 0

    counting.builder.upsert(
        nodes(metadata=ObjectMeta(name="n", uid="n", deletion_timestamp=ENDING))
    )

    assert counting.on_delete == 1
