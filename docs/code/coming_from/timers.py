"""A look at the clock: once a second, the temperature outside is copied to a Site's annotation."""

import steersman as sm
from docs.code.coming_from.site import Site
from steersman import changed
from steersman.client import MergePatch
from steersman.kinds import core_v1


async def reconcile(site: Site, ctx: sm.Context) -> sm.Outcome:
    outside = await ctx.live.get(core_v1.ConfigMap, "outside")
    seen = {"web.example.com/seen": (outside.data or {})["temperature"]}
    await ctx.patch(site, MergePatch({"metadata": {"annotations": seen}}))
    return sm.Later(after_seconds=1)


controller = sm.Controller(
    Site,
    name="timers",
    reconcile=reconcile,
    reads=(core_v1.ConfigMap,),
    writes=(sm.Writes(Site, verbs=("patch",)),),
    when=changed.generation,
)

if __name__ == "__main__":
    sm.Manager(controllers=[controller]).run()
