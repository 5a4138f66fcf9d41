"""The access modes and volume modes of PersistentVolumes and PersistentVolumeClaims."""

from typing import Final

from steersman_cluster.apiserver.builtin import rule

_ONLY_POD: Final = "ReadWriteOncePod"
_OTHERS: Final = frozenset(("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"))

ACCESS_MODES: Final = rule.table(
    rule.each(rule.enum(*sorted(_OTHERS), _ONLY_POD), numbered=False),
    rule.forbidden_if(
        lambda modes: _ONLY_POD in modes and not _OTHERS.isdisjoint(modes),
        "may not use ReadWriteOncePod with other access modes",
    ),
)
VOLUME_MODE: Final = rule.given("volumeMode", rule.enum("Block", "Filesystem"))
