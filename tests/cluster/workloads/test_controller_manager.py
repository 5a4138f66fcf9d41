"""All or some parts of a cluster in one manager."""

from typing import Any

import pytest

from steersman.errors import BadSettings
from steersman.kinds import apps_v1, core_v1, is_ready, meta_v1, recipes
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.simulation.simulated_cluster import WORKLOADS
from steersman_cluster.workloads import PARTS, WorkloadSettings, workloads

Deployment = apps_v1.Deployment
Pod = core_v1.Pod


def web(*, replicas: int = 2) -> Deployment:
    container = core_v1.Container(name="main", image="nginx")
    return recipes.deployment("web", container, replicas=replicas)


def test_all_parts_together_make_a_cluster_of_a_bare_api_server() -> None:
    async def main(cluster: SimulatedCluster) -> tuple[bool, list[str | None]]:
        await cluster.apply(web())
        await cluster.settle()
        statuses = [pod.status or core_v1.PodStatus() for pod in await cluster.list(Pod)]
        return is_ready(await cluster.get(Deployment, "web")), [each.phase for each in statuses]

    ready, phases = simulate(main)

    assert ready
    assert phases == ["Running", "Running"]


def test_a_part_that_is_not_selected_does_not_run() -> None:
    async def main(cluster: SimulatedCluster) -> list[str]:
        await cluster.apply(web())
        await cluster.settle()
        return [each.name for each in await cluster.list(Pod)]

    without = tuple(each for each in PARTS if each != "replicasets")

    assert simulate(main, settings=WorkloadSettings(parts=without)) == []


def test_a_cluster_whose_controllers_were_killed_continues() -> None:
    async def main(cluster: SimulatedCluster) -> int:
        await cluster.apply(web(replicas=2))
        await cluster.clock.sleep(0.005)
        (controllers,) = [each for each in cluster.operators if each.name == WORKLOADS]
        await controllers.kill()
        await cluster.apply(web(replicas=5))
        controllers.again()
        await cluster.settle()
        return len(await cluster.list(Pod))

    assert simulate(main) == 5


def test_no_two_controllers_have_the_same_name() -> None:
    names = [each.name for each in workloads(WorkloadSettings()).controllers]

    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"nodes": -1}, "-1 nodes"),
        ({"node_pods": 0}, "1 nodes for 0 Pods each"),
        ({"node_cpu": "many"}, "many"),
    ],
)
def test_invalid_settings_are_rejected(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        WorkloadSettings(**wrong)


def test_the_error_for_an_unknown_part_lists_all_parts() -> None:
    with pytest.raises(BadSettings, match=r"no part 'unicorns' .* Choose among namespaces, "):
        WorkloadSettings(parts=("unicorns",))


def test_the_error_for_an_unknown_part_suggests_the_nearest_name() -> None:
    with pytest.raises(BadSettings, match=r"no part 'schedular' of a cluster. Did you mean 'sche"):
        WorkloadSettings().without("schedular")


def test_an_excluded_part_does_not_run() -> None:
    async def main(cluster: SimulatedCluster) -> tuple[list[str], list[str | None]]:
        await cluster.apply(web(replicas=2))
        await cluster.settle()
        nodes = [each.name for each in await cluster.list(core_v1.Node)]
        pods = await cluster.list(Pod)
        return nodes, [each.spec.node_name for each in pods if each.spec is not None]

    left_out = WorkloadSettings(nodes=1).without("scheduler", "garbagecollector")

    assert {"scheduler", "garbagecollector"}.isdisjoint(left_out.parts)
    assert simulate(main, settings=left_out) == (["node-1"], [None, None])


def test_the_default_objects_of_a_namespace_exist_at_the_start() -> None:
    async def main(cluster: SimulatedCluster) -> list[str]:
        await cluster.create(core_v1.Namespace(metadata=meta_v1.ObjectMeta(name="new")))
        await cluster.settle()
        accounts = await cluster.list(core_v1.ServiceAccount, namespace="new")
        maps = await cluster.list(core_v1.ConfigMap, namespace="new")
        return [each.name for each in (*accounts, *maps)]

    assert simulate(main) == ["default", "kube-root-ca.crt"]
