"""``steersman run``: an operator against a cluster, from wherever somebody sits."""

from collections.abc import Mapping
from random import Random

from steersman.cli.connecting import cluster_at_hand
from steersman.cli.installing import check_served, definitions, install
from steersman.clock import Clock
from steersman.manager import Manager, ManagerSettings, trust_of


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

    Gives one line for each definition that was installed, and for each controller that has to
    wait for a kind that the cluster does not know.
    """
    wanted = definitions(manager.controllers) if install_crds else ()
    async with cluster_at_hand(
        kubeconfig=settings.kubeconfig,
        context=settings.context,
        clock=clock,
        rng=rng,
        environ=environ,
        trust=trust_of(manager.trust, settings),
    ) as client:
        await install(client, wanted)
        held_up = await check_served(client, manager.controllers)
    return (
        *(f"installed {each.name}" for each in wanted),
        *(
            f"the controller {name} starts once the cluster knows {', '.join(map(str, kinds))}"
            for name, kinds in held_up.items()
        ),
    )
