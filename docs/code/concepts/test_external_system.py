"""Tests of the external system in the manager page."""

import pytest

from docs.code.concepts import external_system
from docs.code.concepts.external_system import CREATED, Mailbox, Spec
from steersman.kinds import meta_v1
from steersman_cluster.simulation import Cluster


def created() -> float:
    (metric,) = CREATED.collect()
    return next(each.value for each in metric.samples if each.name.endswith("_total"))


@pytest.mark.embedded_only
async def test_reconcilers_get_what_the_lifespan_yields(cluster: Cluster) -> None:
    before = created()
    await cluster.install(Mailbox)
    await cluster.run_operator(lambda: external_system.manager)

    await cluster.apply(
        Mailbox(metadata=meta_v1.ObjectMeta(name="ada"), spec=Spec(address="ada@example.com"))
    )
    await cluster.settle()

    assert created() == before + 1
