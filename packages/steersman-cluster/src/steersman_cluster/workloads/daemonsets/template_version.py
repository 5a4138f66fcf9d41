"""The version of a DaemonSet's Pod template, and the check which Pods have it. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from steersman.kinds import apps_v1, core_v1

HASH_LABEL: Final = "controller-revision-hash"
GENERATION_LABEL: Final = "pod-template-generation"
_GENERATION: Final = "deprecated.daemonset.template.generation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """The version of a DaemonSet's current Pod template.

    ``hash`` is the hash of the template. ``generation`` is the template generation from the
    deprecated annotation of the DaemonSet, or ``None`` without a valid annotation.
    """

    hash: str
    generation: str | None

    @property
    def labels(self) -> Mapping[str, str]:
        """Return the labels that mark a Pod as one of this version."""
        numbered = {} if self.generation is None else {GENERATION_LABEL: self.generation}
        return {**numbered, HASH_LABEL: self.hash}

    def is_of(self, pod: core_v1.Pod) -> bool:
        """Return whether the labels of ``pod`` contain this version's hash or generation."""
        labels = pod.labels
        return (bool(self.hash) and labels.get(HASH_LABEL) == self.hash) or (
            self.generation is not None and labels.get(GENERATION_LABEL) == self.generation
        )


def version_of(daemon_set: apps_v1.DaemonSet, hash: str) -> Version:
    """Return the version of the Pod template of ``daemon_set``; ``hash`` is the template's hash.

    The template generation is read from the deprecated annotation of the DaemonSet, if its value is
    valid.
    """
    said = daemon_set.annotations.get(_GENERATION, "")
    try:
        generation = str(int(said))
    except ValueError:
        return Version(hash=hash, generation=None)
    return Version(hash=hash, generation=generation)
