"""Installs the CRDs of an operator, and reports kinds that the cluster does not serve."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from random import Random
from typing import Any, Final

from steersman.cli.cluster_client import cluster_client
from steersman.client import Client, wait_for
from steersman.clock import Clock
from steersman.controller import Controller
from steersman.errors import ManagerFailed
from steersman.kinds import apiextensions_v1, is_ready
from steersman.manager import Manager, ManagerSettings, trust_of
from steersman.manifests import crds_of, own_kinds
from steersman.names import GroupVersionKind, ResourceType

FIELD_MANAGER: Final = "steersman"

# Much longer than a server needs, and short enough to wait for.
SERVED_SECONDS: Final = 30.0

# The interval between two discovery requests.
POLL_SECONDS: Final = 0.25


async def prepare_cluster(
    manager: Manager,
    settings: ManagerSettings,
    *,
    install: bool,
    clock: Clock,
    rng: Random,
    environ: Mapping[str, str],
) -> tuple[str, ...]:
    """Check that the cluster responds and serves the operator's kinds.

    With ``install``, also install the CRDs of the kinds that the operator defines. Return a line
    for each installed CRD, and for each controller that has to wait for a kind that the cluster
    does not serve.
    """
    wanted = crds_of(own_kinds(manager.controllers)) if install else ()
    async with cluster_client(
        kubeconfig=settings.kubeconfig,
        context=settings.context,
        clock=clock,
        rng=rng,
        environ=environ,
        trust=trust_of(manager.trust, settings),
    ) as client:
        await install_crds(client, wanted)
        waiting = await _waiting_controllers(client, manager.controllers)
    return (
        *(f"installed {each.name}" for each in wanted),
        *(
            f"the controller {name} starts once the API server serves {_listed(kinds)}"
            for name, kinds in waiting.items()
        ),
    )


async def install_crds(
    client: Client, wanted: Sequence[apiextensions_v1.CustomResourceDefinition]
) -> None:
    """Apply the CRDs ``wanted``, and wait until the server serves their kinds."""
    if not wanted:
        return
    for each in wanted:
        # Forced, because a definition that was applied with kubectl has the same fields.
        await client.apply(each, field_manager=FIELD_MANAGER, force=True)
    for each in wanted:
        await wait_for(
            client,
            apiextensions_v1.CustomResourceDefinition,
            each.name,
            is_ready,
            within_seconds=SERVED_SECONDS,
            waited_for="its being served",
        )
    # Under load, a kind appears in discovery shortly after the server serves it.
    defined = {
        GroupVersionKind(each.spec.group, version.name, each.spec.names.kind)
        for each in wanted
        for version in each.spec.versions
        if version.served
    }
    with suppress(TimeoutError):  # many callers do not need discovery
        async with client.clock.timeout(SERVED_SECONDS):
            while not defined <= await _discovered(client):
                await client.clock.sleep(POLL_SECONDS)


async def _discovered(client: Client) -> set[GroupVersionKind]:
    return {each.resource_type.gvk for each in (await client.discover()).resources}


def watched_kinds(controllers: Iterable[Controller[Any]]) -> tuple[ResourceType, ...]:
    """Return every kind that the controllers watch: those they reconcile, own or only watch."""
    found: dict[ResourceType, None] = {}
    for each in controllers:
        owned = (other.kind for other in each.owned)
        watched = (other.kind for other in each.watches)
        for kind in (each.kind, *owned, *watched):
            found.setdefault(kind.resource_type)
    return tuple(found)


async def _waiting_controllers(
    client: Client, controllers: Sequence[Controller[Any]]
) -> Mapping[str, Sequence[GroupVersionKind]]:
    """Return the kinds that the server does not serve, by the name of the controller that watches
    them.

    Raise ``ManagerFailed`` if every controller watches such a kind, because no controller could
    start.
    """
    found = await client.discover()
    served = {each.resource_type.gvk for each in found.resources}

    def missing_of(some: Sequence[Controller[Any]]) -> list[GroupVersionKind]:
        return [
            each.gvk
            for each in watched_kinds(some)
            # If discovery is stale, the kind may exist.
            if each.gvk not in served and each.gvk.api_version not in found.stale
        ]

    waiting = {each.name: kinds for each in controllers if (kinds := missing_of([each]))}
    if len(waiting) < len(controllers) or not controllers:
        return waiting
    missing = missing_of(controllers)
    own = {each.resource_type.gvk for each in own_kinds(controllers)}
    of_others = [each for each in missing if each not in own]
    raise ManagerFailed(
        problem=f"the API server does not serve {_listed(missing)}",
        what_now=f"First install the CRDs of {_listed(of_others)}, or correct group and version"
        f"{'' if len(of_others) == len(missing) else '; --install-crds installs the others'}."
        if of_others
        else "Run it with --install-crds, or apply the output of `steersman generate crd`.",
    )


def _listed(kinds: Iterable[GroupVersionKind]) -> str:
    return ", ".join(map(str, kinds))
