"""Operators to be installed."""

from typing import Any

import steersman as sm
from steersman.controller import Watch
from steersman.kinds import apps_v1, core_v1
from steersman.manifests import Installation


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


def installation(*controllers: sm.Controller[Any], **others: Any) -> Installation:
    words: dict[str, Any] = {"name": "shops", "image": "shops:1.2.3", "version": "1.2.3", **others}
    return Installation(controllers=controllers or (SHOPS,), **words)
