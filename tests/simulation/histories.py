"""``python -m tests.simulation.histories --seed N``: print a digest of one complete run.

An AppService is created, becomes ready, is scaled and deleted; its operator is killed and restarted
in between. The digest covers every request, in order.
"""

import sys
from argparse import ArgumentParser

from opdemo import appservice
from opdemo.appservice import AppService, Spec

from steersman.kinds import core_v1, meta_v1
from steersman_cluster.simulation import SimulatedCluster, simulate


def app(*, size: int) -> AppService:
    """The AppService that a user applies."""
    return AppService(
        metadata=meta_v1.ObjectMeta(name="web"),
        spec=Spec(image="nginx", size=size, ports=(core_v1.ServicePort(port=80),)),
    )


async def life_of_an_app(cluster: SimulatedCluster) -> str:
    """The digest of all requests."""
    await cluster.install(AppService)
    operator = await cluster.run_operator(appservice.controller)
    await cluster.apply(app(size=2))
    await cluster.settle()
    await operator.kill()
    await cluster.apply(app(size=3))
    await cluster.run_operator(appservice.controller)
    await cluster.settle()
    await cluster.delete(AppService, "web")
    await cluster.settle()
    return f"{len(cluster.history)} requests {cluster.history.digest()}"


def history_of(seed: int) -> str:
    """The digest of a run with this seed."""
    return simulate(life_of_an_app, seed=seed)


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m tests.simulation.histories", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    sys.stdout.write(f"{history_of(parser.parse_args().seed)}\n")
