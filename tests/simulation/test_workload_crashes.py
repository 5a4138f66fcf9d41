"""The controllers of the cluster reach the same state wherever they crash."""

from steersman_cluster.simulation import Cluster, Scenario, survives_crashes, survives_cut_watches
from steersman_cluster.workloads import WorkloadSettings
from steersman_cluster.workloads.daemonsets import controllers as daemon_set_controllers
from steersman_cluster.workloads.disruptions import controllers as budget_controllers
from steersman_cluster.workloads.quotas import runnables as quota_runnables
from tests.cluster.workloads.daemon_scenarios import Pod, bare_pod, deployment
from tests.cluster.workloads.test_daemonsets import daemon_set, rolling
from tests.cluster.workloads.test_disruptions import budget
from tests.cluster.workloads.test_quotas import AT_ONCE, quota

SETTINGS = WorkloadSettings()


async def update(cluster: Cluster) -> None:
    """A DaemonSet is created, and updated with a surge."""
    await cluster.settle()
    await cluster.apply(daemon_set(strategy=rolling(0, 1)))
    await cluster.settle()
    await cluster.apply(daemon_set("two", strategy=rolling(0, 1)))
    await cluster.settle()


DAEMONS = Scenario(
    operator=lambda: daemon_set_controllers(SETTINGS),
    steps=update,
    workloads=WorkloadSettings(parts=("garbagecollector", "nodes", "scheduler"), nodes=1),
)


async def count(cluster: Cluster) -> None:
    """A disruption budget for a Deployment."""
    await cluster.apply(deployment(replicas=1))
    await cluster.apply(budget(max_unavailable=1))
    await cluster.settle()


BUDGETS = Scenario(
    operator=lambda: budget_controllers(SETTINGS),
    steps=count,
    workloads=WorkloadSettings(
        parts=("garbagecollector", "nodes", "scheduler", "replicasets", "deployments")
    ),
)


async def use(cluster: Cluster) -> None:
    """A quota is used, and partly released."""
    await cluster.apply(quota({"pods": "3", "configmaps": "9"}))
    await cluster.settle()
    for name in ("a", "b"):
        await cluster.create(bare_pod(name, **AT_ONCE))
    await cluster.settle()
    await cluster.delete(Pod, "a")
    await cluster.settle()


QUOTAS = Scenario(
    operator=lambda: quota_runnables(SETTINGS),
    steps=use,
    workloads=WorkloadSettings(parts=("garbagecollector", "nodes", "scheduler")),
)


async def test_daemon_sets_survive_crashes() -> None:
    await survives_crashes(DAEMONS)


async def test_budgets_survive_crashes_and_cut_watches() -> None:
    await survives_crashes(BUDGETS)
    await survives_cut_watches(BUDGETS)


async def test_quotas_survive_crashes_and_cut_watches() -> None:
    await survives_crashes(QUOTAS)
    await survives_cut_watches(QUOTAS)
