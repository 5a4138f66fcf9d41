"""The group versions that APIServices register."""

from typing import NamedTuple

from steersman_cluster.apiserver.meta.strategy import Object

# The priorities of the groups of CustomResourceDefinitions.
GROUP_PRIORITY, VERSION_PRIORITY = 1000, 100


class GroupVersionInfo(NamedTuple):
    """The priorities of an API group version, and whether an aggregated server serves it."""

    group_priority: int
    version_priority: int
    remote: bool  # an aggregated server serves it; this server forwards no requests

    @classmethod
    def of(cls, spec: Object) -> "GroupVersionInfo":
        """Return the information about the group version that the APIService ``spec`` registers."""
        remote = spec.get("service") is not None
        return cls(spec["groupPriorityMinimum"], spec["versionPriority"], remote)
