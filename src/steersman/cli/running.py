"""``steersman run``: an operator against a cluster, from wherever somebody sits."""

from collections.abc import Mapping
from random import Random

from steersman.cli.connecting import cluster_at_hand
from steersman.cli.installing import check_served, definitions, install
from steersman.clock import Clock
from steersman.manager import Manager, ManagerSettings


async def prepare(
    manager: Manager,
    settings: ManagerSettings,
    *,
    install_crds: bool,
    clock: Clock,
    rng: Random,
    environ: Mapping[str, str],
) -> tuple[str, ...]:
    """See that the cluster is there and knows the operator's kinds; install them, if asked to.

    Gives the names of the definitions that were installed.
    """
    wanted = definitions(manager.controllers) if install_crds else ()
    async with cluster_at_hand(
        kubeconfig=settings.kubeconfig,
        context=settings.context,
        clock=clock,
        rng=rng,
        environ=environ,
    ) as client:
        await install(client, wanted)
        await check_served(client, manager.controllers)
    return tuple(each.name for each in wanted)
