"""``python -m tests.simulation.histories --seed N``: what one whole run comes to, as one line.

An AppService is made, its Pods become ready, it is scaled and deleted; its operator is killed and
started again in between. The line is a digest of every request, in order.
"""

import sys
from argparse import ArgumentParser

from opdemo import appservice
from opdemo.appservice import AppService, Spec

from steersman.kinds import core_v1, meta_v1
from steersman_cluster.simulation import SimulatedCluster, simulate


def app(*, size: int) -> AppService:
    """What a person would apply."""
    return AppService(
        metadata=meta_v1.ObjectMeta(name="web"),
        spec=Spec(image="nginx", size=size, ports=(core_v1.ServicePort(port=80),)),
    )


async def life_of_an_app(cluster: SimulatedCluster) -> str:
    """The digest of it all."""
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
    """What a run with this seed comes to."""
    return simulate(life_of_an_app, seed=seed)


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m tests.simulation.histories", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    sys.stdout.write(f"{history_of(parser.parse_args().seed)}\n")
