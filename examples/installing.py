"""How the API server hears of a kind: a CustomResourceDefinition that takes whatever it is given.

    python -m examples.installing --kubeconfig FILE

installs AppService, for ``python -m examples.appservice`` to work on.
"""

import asyncio
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from random import Random

import steersman as sm
from examples.appservice import AppService
from steersman.client import Client, connect, find_config, wait_for
from steersman.clock import SystemClock
from steersman.kinds import apiextensions_v1, meta_v1
from steersman.observe import log_to


def definition_of(kind: type[sm.Resource]) -> apiextensions_v1.CustomResourceDefinition:
    """The kind, as the API server wants to hear of it."""
    where = kind.resource_type
    anything = apiextensions_v1.JSONSchemaProps(
        type="object", x_kubernetes_preserve_unknown_fields=True
    )
    return apiextensions_v1.CustomResourceDefinition(
        metadata=meta_v1.ObjectMeta(name=f"{where.plural}.{where.gvk.group}"),
        spec=apiextensions_v1.CustomResourceDefinitionSpec(
            group=where.gvk.group,
            names=apiextensions_v1.CustomResourceDefinitionNames(
                kind=where.gvk.kind, plural=where.plural
            ),
            scope="Namespaced" if where.namespaced else "Cluster",
            versions=(
                apiextensions_v1.CustomResourceDefinitionVersion(
                    name=where.gvk.version,
                    served=True,
                    storage=True,
                    subresources=apiextensions_v1.CustomResourceSubresources(status={}),
                    schema=apiextensions_v1.CustomResourceValidation(
                        open_api_v3_schema=apiextensions_v1.JSONSchemaProps(
                            type="object", properties={"spec": anything, "status": anything}
                        )
                    ),
                ),
            ),
        ),
    )


async def install(client: Client, kind: type[sm.Resource]) -> None:
    """Tell the API server about the kind, and wait until it serves it."""
    crd = await client.apply(definition_of(kind), field_manager="examples")
    await wait_for(client, type(crd), crd.name, sm.is_ready, within_seconds=10)


async def main(kubeconfig: Path | None) -> None:
    """Install AppService on the cluster that the kubeconfig leads to."""
    clock = SystemClock()
    observe = log_to(sys.stderr, clock=clock)
    config = find_config(
        environ=os.environ, home=Path.home(), observe=observe, kubeconfig=kubeconfig
    )
    async with connect(config, clock=clock, rng=Random(), observe=observe) as client:
        await install(client, AppService)


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m examples.installing", description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, help="default: where kubectl looks")
    asyncio.run(main(parser.parse_args().kubeconfig))
