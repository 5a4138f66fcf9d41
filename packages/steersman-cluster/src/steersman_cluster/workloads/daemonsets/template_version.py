"""The current version of a DaemonSet's template, and the check whether a Pod has this version. No
I/O.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from steersman.kinds import apps_v1, core_v1

HASH_LABEL: Final = "controller-revision-hash"
GENERATION_LABEL: Final = "pod-template-generation"
_GENERATION: Final = "deprecated.daemonset.template.generation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """The hash of the current template, and the template's generation, if it has a generation."""

    hash: str
    generation: str | None

    @property
    def labels(self) -> Mapping[str, str]:
        """Return the labels that Pods of this version get in addition to the template's labels."""
        numbered = {} if self.generation is None else {GENERATION_LABEL: self.generation}
        return {**numbered, HASH_LABEL: self.hash}

    def is_of(self, pod: core_v1.Pod) -> bool:
        """Return whether the Pod has this version."""
        labels = pod.labels
        return (bool(self.hash) and labels.get(HASH_LABEL) == self.hash) or (
            self.generation is not None and labels.get(GENERATION_LABEL) == self.generation
        )


def version_of(daemon_set: apps_v1.DaemonSet, hash: str) -> Version:
    """Return the version with this hash.

    The generation is read from the deprecated annotation of the DaemonSet, if its value is valid.
    """
    said = daemon_set.annotations.get(_GENERATION, "")
    try:
        generation = str(int(said))
    except ValueError:
        return Version(hash=hash, generation=None)
    return Version(hash=hash, generation=generation)
