"""Tests of the code in the page about referenced Secrets."""

from docs.code.how_to.referenced_secret import Site, Spec, controller
from steersman import is_ready, recipes
from steersman.kinds import Codec, apps_v1, core_v1, meta_v1
from steersman_cluster.simulation import Cluster


async def test_a_site_waits_for_its_secret_and_reads_its_changes(cluster: Cluster) -> None:
    await cluster.install(Site)
    await cluster.run_operator(controller)
    spec = Spec(image="nginx", credentials="web-password")
    await cluster.apply(Site(metadata=meta_v1.ObjectMeta(name="web"), spec=spec))
    await cluster.settle()
    waiting = await cluster.get(Site, "web")

    await cluster.apply(recipes.secret("web-password", {"password": "first"}))
    await cluster.settle()
    running = await cluster.get(Site, "web")
    before = await cluster.list(core_v1.Pod)
    await cluster.apply(recipes.secret("web-password", {"password": "second"}))
    await cluster.settle()
    after = await cluster.list(core_v1.Pod)

    assert waiting.status is not None
    assert [each.reason for each in waiting.status.conditions] == ["SecretMissing"]
    assert is_ready(running)
    assert {each.uid for each in before}.isdisjoint({each.uid for each in after})
    deployment = await cluster.get(apps_v1.Deployment, "web")
    assert "second" not in Codec().encode(deployment).decode()
