"""Sample operators to be installed."""

from typing import Any

import steersman as sm
from steersman.controller import Watch
from steersman.kinds import apps_v1, core_v1, meta_v1, networking_v1
from steersman.manifests import DeploySettings, ExtraRule, Installation
from steersman.units import Quantity


class Spec(sm.Part):
    size: int = 1


class Status(sm.Part):
    ready: int = 0


class Shop(sm.CustomResource[Spec, Status], group="shop.example.com", version="v1"):
    """A shop."""


class Region(
    sm.CustomResource[Spec, Status], group="shop.example.com", version="v1", namespaced=False
):
    """Where shops are; it has no namespace."""


async def reconcile(obj: Any, ctx: sm.Context) -> sm.Outcome:
    raise NotImplementedError


SHOPS = sm.Controller(
    Shop,
    reconcile=reconcile,
    finalize=reconcile,
    owns=(apps_v1.Deployment,),
    watches=(Watch(core_v1.Secret),),
    reads=(core_v1.Node,),
    writes=(core_v1.ConfigMap,),
)

REGIONS = sm.Controller(Region, reconcile=reconcile)


# One of each setting that an author may add to an installation.
ADDED = DeploySettings(
    env=(
        core_v1.EnvVar(name="DATABASE_HOST", value="db.example.com"),
        core_v1.EnvVar(
            name="PASSWORD",
            value_from=core_v1.EnvVarSource(
                secret_key_ref=core_v1.SecretKeySelector(name="db", key="password", optional=True)
            ),
        ),
        core_v1.EnvVar(
            name="NODE",
            value_from=core_v1.EnvVarSource(
                field_ref=core_v1.ObjectFieldSelector(field_path="spec.nodeName")
            ),
        ),
    ),
    requests={"cpu": Quantity("50m")},
    limits={"memory": Quantity("1Gi")},
    egress=(
        networking_v1.NetworkPolicyEgressRule(
            to=(
                networking_v1.NetworkPolicyPeer(
                    ip_block=networking_v1.IPBlock(cidr="10.0.0.0/8", except_=("10.1.0.0/16",))
                ),
            ),
            ports=(networking_v1.NetworkPolicyPort(port=8000, end_port=8010, protocol="TCP"),),
        ),
        networking_v1.NetworkPolicyEgressRule(
            to=(
                networking_v1.NetworkPolicyPeer(
                    namespace_selector=meta_v1.LabelSelector(),
                    pod_selector=meta_v1.LabelSelector(match_labels={"app": "db"}),
                ),
            ),
        ),
        networking_v1.NetworkPolicyEgressRule(
            ports=(networking_v1.NetworkPolicyPort(port=5432, protocol="TCP"),)
        ),
    ),
    rules=(ExtraRule(groups=("",), resources=("pods/log",), verbs=("get",)),),
    labels={"team": "shop"},
    annotations={"example.com/contact": "{{ shop }}"},
    pod_labels={"mesh": "on"},
    pod_annotations={"example.com/scrape": "true"},
)


def installation(*controllers: sm.Controller[Any], **others: Any) -> Installation:
    words: dict[str, Any] = {"name": "shops", "image": "shops:1.2.3", "version": "1.2.3", **others}
    return Installation(controllers=controllers or (SHOPS,), **words)
