"""The operator of Sites, on a whole cluster in virtual time."""

from pathlib import Path

from docs.code.coming_from import timers
from docs.code.coming_from.site import ZONE, Site, Spec, controller
from steersman import recipes
from steersman.controller import permissions
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman_cluster.simulation import Cluster, Scenario, survives_crashes

RULES = Path(__file__).with_name("rules.yaml")


def site() -> Site:
    return Site(
        metadata=meta_v1.ObjectMeta(name="web"), spec=Spec(image="nginx", replicas=2, config="look")
    )


def look(color: str) -> core_v1.ConfigMap:
    return recipes.config_map("look", {"COLOR": color})


async def zone(cluster: Cluster) -> None:
    await cluster.create(core_v1.Namespace(metadata=meta_v1.ObjectMeta(name=ZONE)))


async def digest(cluster: Cluster) -> str:
    deployment = await cluster.get(apps_v1.Deployment, "web")
    assert deployment.spec is not None
    template = deployment.spec.template.metadata
    assert template is not None
    return (template.annotations or {})["web.example.com/config"]


async def test_a_change_of_the_config_map_restarts_the_pods(cluster: Cluster) -> None:
    await cluster.install(Site)
    await zone(cluster)
    await cluster.run_operator(controller)
    await cluster.apply(look("blue"))
    await cluster.apply(site())
    await cluster.settle()
    before = await digest(cluster)

    await cluster.apply(look("green"))
    await cluster.settle()

    assert await digest(cluster) != before


async def life_of_a_site(cluster: Cluster) -> None:
    await zone(cluster)
    await cluster.apply(look("blue"))
    await cluster.apply(site())
    await cluster.settle()
    await cluster.delete(Site, "web")
    await cluster.settle()
    records = {each.name for each in await cluster.list(core_v1.ConfigMap, namespace=ZONE)}
    assert records == {"kube-root-ca.crt"}


async def test_no_record_is_left_wherever_the_operator_crashes() -> None:
    await survives_crashes(
        Scenario(operator=lambda: [controller], kinds=[Site], steps=life_of_a_site)
    )


async def test_a_timer_polls_the_external_value_once_a_second(cluster: Cluster) -> None:
    await cluster.install(Site)
    await cluster.apply(recipes.config_map("outside", {"temperature": "12"}))
    await cluster.run_operator(timers.controller)
    await cluster.apply(site())

    await cluster.apply(recipes.config_map("outside", {"temperature": "13"}))
    await cluster.clock.sleep(2)

    assert (await cluster.get(Site, "web")).annotations["web.example.com/seen"] == "13"


def test_the_roles_contain_the_declared_rules() -> None:
    rules = permissions([controller], lease=(ZONE, controller.field_manager), namespaces=())

    assert RULES.read_text() == "".join(f"{rule.yaml}\n" for rule in rules)
