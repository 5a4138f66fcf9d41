"""Versions of groups that somebody has registered, whoever serves them."""

from typing import NamedTuple

from steersman_cluster.apiserver.meta.rules import Object

# Of a custom group, unless somebody says otherwise.
GROUP_PRIORITY, VERSION_PRIORITY = 1000, 100


class GroupVersionInfo(NamedTuple):
    """What an APIService says about the version of a group."""

    group_priority: int
    version_priority: int
    remote: bool  # another server answers, to whom nothing is forwarded

    @classmethod
    def of(cls, spec: Object) -> "GroupVersionInfo":
        """That of an APIService with this spec."""
        remote = spec.get("service") is not None
        return cls(spec["groupPriorityMinimum"], spec["versionPriority"], remote)
