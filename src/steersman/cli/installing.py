"""CustomResourceDefinitions of an operator on a cluster, and what it needs that is not there."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from steersman.client import Client, wait_for
from steersman.controller import Controller
from steersman.errors import ManagerFailed
from steersman.kinds import apiextensions_v1, is_ready
from steersman.manifests import crds_of, own_kinds
from steersman.names import GroupVersionKind, ResourceType

FIELD_MANAGER: Final = "steersman"

# Much longer than a server takes, and short enough that somebody still waits.
SERVED_SECONDS: Final = 30.0

# Between two looks at what the server tells of.
TOLD_SECONDS: Final = 0.25


def definitions(
    controllers: Iterable[Controller[Any]],
) -> tuple[apiextensions_v1.CustomResourceDefinition, ...]:
    """What their own kinds are defined by."""
    return crds_of(own_kinds(controllers))


async def install(
    client: Client, wanted: Sequence[apiextensions_v1.CustomResourceDefinition]
) -> None:
    """Apply the definitions, and wait until the server serves and tells of what they define."""
    if not wanted:
        return
    for each in wanted:
        # By force: what somebody applied with kubectl is the same kind in other words.
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
    # Then it is served, but a server under load tells of it a moment later.
    defined = {
        GroupVersionKind(each.spec.group, version.name, each.spec.names.kind)
        for each in wanted
        for version in each.spec.versions
        if version.served
    }
    with suppress(TimeoutError):  # whoever asks only for what is served can do without
        async with client.clock.timeout(SERVED_SECONDS):
            while not defined <= await _told_of(client):
                await client.clock.sleep(TOLD_SECONDS)


async def _told_of(client: Client) -> set[GroupVersionKind]:
    return {each.resource_type.gvk for each in (await client.discover()).resources}


def touched_kinds(controllers: Iterable[Controller[Any]]) -> tuple[ResourceType, ...]:
    """Every kind that the controllers follow: their own, what they own, and what they watch."""
    found: dict[ResourceType, None] = {}
    for each in controllers:
        owned = (other.kind for other in each.owned)
        watched = (other.kind for other in each.watches)
        for kind in (each.kind, *owned, *watched):
            found.setdefault(kind.resource_type)
    return tuple(found)


async def check_served(
    client: Client, controllers: Sequence[Controller[Any]]
) -> Mapping[str, Sequence[GroupVersionKind]]:
    """The kinds that the server does not know, by the name of the controller that follows them.

    ``ManagerFailed`` where no controller is without one: none of them could start.
    """
    found = await client.discover()
    served = {each.resource_type.gvk for each in found.resources}

    def unknown(some: Sequence[Controller[Any]]) -> list[GroupVersionKind]:
        return [
            each.gvk
            for each in touched_kinds(some)
            # Where the server cannot say, the kind may be there.
            if each.gvk not in served and each.gvk.api_version not in found.stale
        ]

    held_up = {each.name: kinds for each in controllers if (kinds := unknown([each]))}
    if len(held_up) < len(controllers) or not controllers:
        return held_up
    missing = unknown(controllers)
    own = {each.resource_type.gvk for each in own_kinds(controllers)}
    of_others = [each for each in missing if each not in own]
    raise ManagerFailed(
        problem=f"the cluster does not know {_listed(missing)}",
        what_now=f"Install first what defines {_listed(of_others)}, or correct group and version"
        f"{'' if len(of_others) == len(missing) else '; --install-crds installs the others'}."
        if of_others
        else "Run it with --install-crds, or apply what `steersman generate crd` prints.",
    )


def _listed(kinds: Iterable[GroupVersionKind]) -> str:
    return ", ".join(map(str, kinds))
