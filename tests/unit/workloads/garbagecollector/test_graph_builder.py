"""What is on_change of a kind, and what the graph makes of it."""

from steersman.cache import Added, Deleted
from steersman.errors import InvalidObject
from steersman.kinds import MetadataOnly, core_v1, metadata_only
from steersman.kinds.meta_v1 import ObjectMeta, OwnerReference
from steersman.names import ObjectKey
from steersman_cluster.workloads.garbagecollector.graph import DependencyGraph
from steersman_cluster.workloads.garbagecollector.graph_builder import GraphBuilder
from tests.unit.cache.things import by_key
from tests.unit.workloads.garbagecollector.owners import (
    ENDING,
    empty_graph,
    identity,
    owner,
    work_in,
)

ConfigMaps = metadata_only(core_v1.ConfigMap)


class Heard:
    """A sink, and how often it said what."""

    def __init__(self, graph: DependencyGraph, kind: type[MetadataOnly] = ConfigMaps) -> None:
        self.on_change = self.on_synced = self.on_delete = 0
        self.sink = GraphBuilder(
            kind.resource_type,
            graph,
            definitions=None,
            on_change=self._hear,
            on_synced=self._mark_synced,
            on_delete=self._mark_terminating,
        )

    def _hear(self) -> None:
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
    on_change: Heard, *objects: MetadataOnly, misfits: tuple[InvalidObject, ...] = ()
) -> None:
    on_change.sink.replace(by_key(objects), misfits, "1", rewound=False)


def test_all_there_is_is_told_at_once() -> None:
    graph = empty_graph()
    on_change = Heard(graph)

    replaced(on_change, config_map("b", owner("a")), config_map("a"))

    found = graph.node("a")
    assert (on_change.on_change, on_change.on_synced) == (1, 1)
    assert found is not None
    assert not found.is_virtual
    assert [*found.dependents] == ["b"]


def test_what_a_later_list_lacks_is_in_doubt_and_not_gone() -> None:
    graph = empty_graph()
    on_change = Heard(graph)
    replaced(on_change, config_map("a"), config_map("b", owner("a")))

    replaced(on_change, config_map("b", owner("a")))

    assert work_in(graph) == [("verify", "a")]
    assert identity("a") not in graph.absent


def test_what_does_not_fit_is_there_all_the_same() -> None:
    graph = empty_graph()
    on_change = Heard(graph)
    replaced(on_change, config_map("a"), config_map("b", owner("a")))
    misfit = InvalidObject(ref="a", into="x", problem="y", body={"metadata": {"uid": "a"}})

    replaced(on_change, config_map("b", owner("a")), misfits=(misfit,))

    assert work_in(graph) == []


def test_what_the_server_says_is_gone_is() -> None:
    graph = empty_graph()
    on_change = Heard(graph)
    replaced(on_change, config_map("a"), config_map("b", owner("a")))

    on_change.sink.delete(config_map("a"))

    assert work_in(graph) == [("collect", "b")]
    assert identity("a") in graph.absent


def test_an_informer_tells_the_same() -> None:
    graph = empty_graph()
    on_change = Heard(graph)
    for obj in (config_map("a"), config_map("b", owner("a"))):
        on_change.sink.handle(Added(obj, ObjectKey("here", obj.name)))

    on_change.sink.handle(Deleted(config_map("a"), ObjectKey("here", "a")))

    assert work_in(graph) == [("collect", "b")]
    assert identity("a") in graph.absent


def test_what_an_informer_only_missed_is_in_doubt() -> None:
    graph = empty_graph()
    on_change = Heard(graph)
    for obj in (config_map("a"), config_map("b", owner("a"))):
        on_change.sink.handle(Added(obj, ObjectKey("here", obj.name)))

    on_change.sink.handle(Deleted(config_map("a"), ObjectKey("here", "a"), is_missed=True))

    assert work_in(graph) == [("verify", "a")]


def test_the_end_of_what_lives_in_no_namespace_is_told_apart() -> None:
    nodes = metadata_only(core_v1.Node)
    on_change = Heard(empty_graph(), nodes)
    on_change.sink.upsert(nodes(metadata=ObjectMeta(name="n", uid="n")))
    assert on_change.on_delete == 0

    on_change.sink.upsert(nodes(metadata=ObjectMeta(name="n", uid="n", deletion_timestamp=ENDING)))

    assert on_change.on_delete == 1
