"""Which Pods of a DaemonSet are of its present template. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from steersman.kinds import apps_v1, core_v1

HASH_LABEL: Final = "controller-revision-hash"
GENERATION_LABEL: Final = "pod-template-generation"
_GENERATION: Final = "deprecated.daemonset.template.generation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """The present template of a DaemonSet, by its hash and by its number, if it has one."""

    hash: str
    generation: str | None

    @property
    def labels(self) -> Mapping[str, str]:
        """What the Pods of this version have beside the template's labels."""
        numbered = {} if self.generation is None else {GENERATION_LABEL: self.generation}
        return {**numbered, HASH_LABEL: self.hash}

    def is_of(self, pod: core_v1.Pod) -> bool:
        """Whether the Pod is of this version."""
        labels = pod.labels
        return (bool(self.hash) and labels.get(HASH_LABEL) == self.hash) or (
            self.generation is not None and labels.get(GENERATION_LABEL) == self.generation
        )


def version_of(daemon_set: apps_v1.DaemonSet, hash: str) -> Version:
    """The version with this hash; its number is what the server has counted, if it is one."""
    said = daemon_set.annotations.get(_GENERATION, "")
    try:
        generation = str(int(said))
    except ValueError:
        return Version(hash=hash, generation=None)
    return Version(hash=hash, generation=generation)
