"""The current version of a DaemonSet's template, and which Pods are of it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from steersman.kinds import apps_v1, core_v1

HASH_LABEL: Final = "controller-revision-hash"
GENERATION_LABEL: Final = "pod-template-generation"
_GENERATION: Final = "deprecated.daemonset.template.generation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """The hash of the current template, and its generation, if it has one."""

    hash: str
    generation: str | None

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of its Pods in addition to the template's."""
        numbered = {} if self.generation is None else {GENERATION_LABEL: self.generation}
        return {**numbered, HASH_LABEL: self.hash}

    def is_of(self, pod: core_v1.Pod) -> bool:
        """Whether the Pod is of this version."""
        labels = pod.labels
        return (bool(self.hash) and labels.get(HASH_LABEL) == self.hash) or (
            self.generation is not None and labels.get(GENERATION_LABEL) == self.generation
        )


def version_of(daemon_set: apps_v1.DaemonSet, hash: str) -> Version:
    """The version with this hash; its generation is the deprecated annotation, if it is valid."""
    said = daemon_set.annotations.get(_GENERATION, "")
    try:
        generation = str(int(said))
    except ValueError:
        return Version(hash=hash, generation=None)
    return Version(hash=hash, generation=generation)
